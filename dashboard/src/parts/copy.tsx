import { Button, Code, CopyButton, Group } from '@mantine/core';
import { words } from '../words/words.ts';

/** A text that one wants to take along, with a button that does. */
export function Copyable({ text, label }: { readonly text: string; readonly label: string }) {
  return (
    <Group gap="xs" align="flex-start">
      <Code block flex={1} tabIndex={0} aria-label={label}>
        {text}
      </Code>
      <CopyButton value={text}>
        {({ copied, copy }) => (
          <Button variant="default" size="xs" onClick={copy} aria-label={`${words.copy}: ${label}`}>
            {copied ? words.copied : words.copy}
          </Button>
        )}
      </CopyButton>
    </Group>
  );
}

/** An id in a table. */
export function Id({ id }: { readonly id: string }) {
  return (
    <CopyButton value={id}>
      {({ copied, copy }) => (
        <Group gap={4} wrap="nowrap">
          <Code>{id}</Code>
          <Button variant="subtle" size="compact-xs" onClick={copy} aria-label={`${words.copy} ${id}`}>
            {copied ? words.copied : words.copy}
          </Button>
        </Group>
      )}
    </CopyButton>
  );
}
