import { Card, Text, Title } from '@mantine/core';

export interface FigureProps {
  readonly title: string;
  readonly value: string;
  /** A note about the value, such as its bounds. */
  readonly hint?: string | undefined;
}

/** One number that is worth a look. */
export function Figure({ title, value, hint }: FigureProps) {
  return (
    <Card withBorder padding="sm">
      <Title order={2} size="h6">
        {title}
      </Title>
      <Text size="xl" fw={700}>
        {value}
      </Text>
      {hint && (
        <Text size="xs" c="dimmed">
          {hint}
        </Text>
      )}
    </Card>
  );
}
