/** The name of a key, and what it is held to. */
import { Text } from '@mantine/core';
import type { Key } from '../api/types.ts';
import { keyLimits } from '../words/limits.ts';

export function KeyName({ of: key }: { readonly of: Pick<Key, 'limits' | 'name'> }) {
  const limits = keyLimits(key);
  return (
    <>
      <Text size="sm">{key.name}</Text>
      {limits !== null && (
        <Text size="xs" c="dimmed">
          {`at most ${limits}`}
        </Text>
      )}
    </>
  );
}
