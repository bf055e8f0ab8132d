/** The audit log of the account: who did what, when, and what it was before. */
import { Code, Stack, Text } from '@mantine/core';
import { api, must } from '../api/client.ts';
import type { AuditEntry } from '../api/types.ts';
import { At } from '../parts/at.tsx';
import { More, usePages } from '../parts/pages.tsx';
import { PageTitle } from '../parts/shell.tsx';
import { type Column, Empty, Rows } from '../parts/table.tsx';
import { words } from '../words/words.ts';

type Shown = Pick<AuditEntry, 'seq' | 'at' | 'actor' | 'action' | 'target' | 'before' | 'after'>;

export const auditColumns: readonly Column<Shown>[] = [
  { title: '#', cell: ({ seq }) => seq, isNumber: true },
  { title: 'Time', cell: ({ at }) => <At time={at} /> },
  { title: 'Who', cell: ({ actor }) => actor.name ?? actor.id },
  { title: 'What', cell: ({ action }) => <Code>{action}</Code> },
  { title: 'On', cell: ({ target }) => <Code>{target}</Code> },
  { title: 'Change', cell: (entry) => <ChangeOf {...entry} /> },
];

export function Audit() {
  const entries = usePages(['audit'], (after) =>
    must(api.GET('/organisation/v1/audit-log', { params: { query: { limit: 50, ...(after && { after }) } } })),
  );
  return (
    <>
      <PageTitle>{words.pages.audit}</PageTitle>
      <Text size="sm" c="dimmed" mb="md">
        {words.audit.chain}
      </Text>
      <Rows
        caption={words.pages.audit}
        columns={auditColumns}
        rows={entries.rows}
        idOf={({ id }) => id}
        query={entries}
        empty={<Empty title={words.audit.empty} />}
      />
      <More {...entries} />
    </>
  );
}

/** The fields that are not as they were. */
function ChangeOf({ before, after }: Pick<AuditEntry, 'before' | 'after'>) {
  const [old, now] = [fieldsOf(before), fieldsOf(after)];
  const changed = [...new Set([...old.keys(), ...now.keys()])].filter((name) => old.get(name) !== now.get(name));
  return (
    <Stack gap={2}>
      {changed.map((name) => (
        <Text key={name} size="xs">
          {name}: {old.has(name) && <s>{old.get(name)}</s>} {now.get(name)}
        </Text>
      ))}
    </Stack>
  );
}

function fieldsOf(value: unknown): ReadonlyMap<string, string> {
  if (typeof value !== 'object' || value === null) return new Map();
  return new Map(Object.entries(value).map(([name, field]) => [name, JSON.stringify(field)]));
}
