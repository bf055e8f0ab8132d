import { Text } from '@mantine/core';
import { time } from '../words/format.ts';

/** A time, UTC, on one line. */
export function At({ time: instant }: { readonly time: string | null }) {
  return (
    <Text size="sm" style={{ whiteSpace: 'nowrap' }}>
      {time(instant)}
    </Text>
  );
}
