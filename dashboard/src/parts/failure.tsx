/** Says what went wrong in the words of the gateway, and what can be done. */
import { Alert, Button, Code, Group, Stack, Text } from '@mantine/core';
import { RefusedError } from '../api/refused.ts';

export interface FailureProps {
  readonly error: Error | null;
  /** Tries again what failed. */
  readonly again?: () => void;
}

export function Failure({ error, again }: FailureProps) {
  if (error === null) return null;
  const refused = error instanceof RefusedError ? error : null;
  // `fetch` throws a TypeError if no reply came.
  const isNetwork = error instanceof TypeError;
  return (
    <Alert
      color="red"
      title={
        refused
          ? 'The gateway refused this'
          : isNetwork
            ? 'The gateway could not be reached'
            : 'Something went wrong in this page'
      }
      role="alert"
    >
      <Stack gap="xs">
        <Text size="sm">
          {isNetwork
            ? 'If you were changing something, it may have been done: look before you repeat it.'
            : error.message}
        </Text>
        {refused && (
          <Text size="xs" c="dimmed">
            <Code>{refused.code}</Code>
            {refused.requestId && (
              <>
                {' '}
                request <Code>{refused.requestId}</Code>
              </>
            )}
          </Text>
        )}
        {again && (
          <Group>
            <Button size="xs" variant="default" onClick={again}>
              Try again
            </Button>
          </Group>
        )}
      </Stack>
    </Alert>
  );
}

/** A query that may fail and can be tried again. */
export interface Reading {
  readonly error: Error | null;
  readonly refetch: () => unknown;
}

/** The failure of something that is read, if there is one. */
export const Failed = ({ of }: { readonly of: Reading }) => (
  <Failure error={of.error} again={() => void of.refetch()} />
);
