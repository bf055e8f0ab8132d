/** The entries of one kind: found by their id, shown a hundred at a time, with the commands that change them. */
import { Stack, Text, TextInput, Title } from '@mantine/core';
import { type ReactNode, useState } from 'react';
import { At } from '../../../parts/at.tsx';
import { Copyable } from '../../../parts/copy.tsx';
import type { Reading } from '../../../parts/failure.tsx';
import { More } from '../../../parts/pages.tsx';
import { type Column, Empty, Rows } from '../../../parts/table.tsx';
import { words } from '../../../words/operator-words.ts';

export interface KindProps {
  readonly mayChange: boolean;
}

export interface EntriesProps<Entry> {
  readonly kind: keyof typeof words.catalogue.kinds;
  readonly columns: readonly Column<Entry>[];
  /** `undefined` while they are not there. */
  readonly entries: readonly Entry[] | undefined;
  readonly idOf: (entry: Entry) => string;
  readonly query: Reading;
  /** Shown if there are no entries. */
  readonly empty: ReactNode;
  /** A note about all entries. */
  readonly children?: ReactNode;
}

const step = 100;

export function Entries<Entry>({ kind, columns, entries, idOf, query, empty, children }: EntriesProps<Entry>) {
  const [sought, setSought] = useState('');
  const [most, setMost] = useState(step);
  const found = entries?.filter((entry) => idOf(entry).includes(sought.trim()));
  const noMatch = <Empty title="No entry matches">Write less of the id, or empty the field.</Empty>;
  return (
    <Stack>
      <TextInput
        maw={320}
        label="Find by id"
        value={sought}
        onChange={({ currentTarget }) => setSought(currentTarget.value)}
      />
      {children}
      <Rows
        caption={words.catalogue.kinds[kind]}
        columns={columns}
        rows={found?.slice(0, most)}
        idOf={idOf}
        query={query}
        empty={entries?.length === 0 ? empty : noMatch}
      />
      <More
        hasNextPage={found !== undefined && found.length > most}
        isFetchingNextPage={false}
        fetchNextPage={() => setMost(most + step)}
      />
      <Title order={2} size="h4">
        How entries are added and changed
      </Title>
      <Text size="sm">
        Every field of an entry is changed from the shell or in git. The first command lists the fields; the others
        write the whole catalogue into a file, say what the file would change, and make it so.
      </Text>
      <Copyable label="Commands that change entries" text={commandsFor(kind)} />
    </Stack>
  );
}

const commandsFor = (kind: string): string =>
  [
    `./gw admin ${kind} --help`,
    './gw admin catalogue export > gw.yaml',
    './gw admin catalogue diff gw.yaml',
    './gw admin catalogue import gw.yaml',
  ].join('\n');

export interface Change {
  readonly changed_at: string;
  readonly changed_by: string;
}

/** Who changed an entry last, and when. */
export function LastChange({ change }: { readonly change: Change | null | undefined }) {
  if (!change) return <Text size="sm">not known</Text>;
  return (
    <>
      <At time={change.changed_at} />
      <Text size="xs" c="dimmed" style={{ overflowWrap: 'anywhere' }}>
        {change.changed_by}
      </Text>
    </>
  );
}

export const lastChangeColumn: Column<{ readonly last_change: Change | null }> = {
  title: words.catalogue.lastChange,
  cell: ({ last_change }) => <LastChange change={last_change} />,
};

/** The sentences of the gateway about what will not work as one may expect. */
export const warningsColumn: Column<{ readonly warnings: readonly string[] }> = {
  title: 'Needs a look',
  cell: ({ warnings }) =>
    warnings.length === 0
      ? words.none
      : warnings.map((warning) => (
          <Text key={warning} size="xs" miw={220}>
            {warning}
          </Text>
        )),
};
