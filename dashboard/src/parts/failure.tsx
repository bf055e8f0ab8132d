/** Says what went wrong in the words of the gateway, and what can be done. */
import { Alert, Button, Code, Group, Stack, Text } from '@mantine/core';
import { RefusedError } from '../api/refused.ts';
import { words } from '../words/words.ts';

export interface FailureProps {
  readonly error: Error | null;
  /** Tries again what failed. */
  readonly again?: () => void;
}

export function Failure({ error, again }: FailureProps) {
  if (error === null) return null;
  const refused = error instanceof RefusedError ? error : null;
  return (
    <Alert color="red" title={refused ? words.refused : words.unreachable} role="alert">
      <Stack gap="xs">
        <Text size="sm">{refused ? refused.message : words.unreachableHint}</Text>
        {refused && (
          <Text size="xs" c="dimmed">
            <Code>{refused.code}</Code>
            {refused.requestId && (
              <>
                {' '}
                {words.request} <Code>{refused.requestId}</Code>
              </>
            )}
          </Text>
        )}
        {again && (
          <Group>
            <Button size="xs" variant="default" onClick={again}>
              {words.tryAgain}
            </Button>
          </Group>
        )}
      </Stack>
    </Alert>
  );
}
