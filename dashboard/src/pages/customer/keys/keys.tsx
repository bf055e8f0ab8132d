/** The keys of the account: issue, rotate, revoke, restore. */
import { Badge, Button, Group, Stack, Text } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import { useState } from 'react';
import { api, must } from '../../../api/client.ts';
import type { Key } from '../../../api/types.ts';
import { whileUsed } from '../../../api/while-used.ts';
import { Id } from '../../../parts/copy.tsx';
import { KeyName } from '../../../parts/key-name.tsx';
import { More, usePages } from '../../../parts/pages.tsx';
import { PageTitle } from '../../../parts/shell.tsx';
import { type Column, Empty, Rows } from '../../../parts/table.tsx';
import { date, number } from '../../../words/format.ts';
import { words } from '../../../words/words.ts';
import { type Deed, KeyDeed } from './key-deed.tsx';

const colors = { active: 'green', revoked: 'red', expired: 'gray' } as const;

export function Keys() {
  const [deed, setDeed] = useState<Deed | null>(null);
  const keys = usePages(['keys'], (after) =>
    must(api.GET('/organisation/v1/keys', { params: { query: { limit: 100, ...(after && { after }) } } })),
  );
  const calls = useCallsByKey();
  const callsOf = (id: string): string => (calls === undefined ? '' : number(calls && (calls.get(id) ?? 0)));
  const columns: Column<Key>[] = [
    {
      title: words.keys.name,
      cell: (key) => (
        <Stack gap={2}>
          <KeyName of={key} />
          <Id id={key.id} />
          {key.predecessor && (
            <Text size="xs" c="dimmed">
              {`succeeds ${key.predecessor}`}
            </Text>
          )}
        </Stack>
      ),
    },
    {
      title: words.keys.state,
      cell: ({ state }) => (
        <Badge color={colors[state]} variant="light">
          {words.keys[state]}
        </Badge>
      ),
    },
    { title: words.keys.scopes, cell: ({ scopes }) => <Text size="xs">{scopes.join(', ')}</Text> },
    { title: words.keys.project, cell: ({ project }) => project ?? words.none },
    { title: 'Calls, last 24 hours', cell: ({ id }) => callsOf(id), isNumber: true },
    { title: words.keys.lastUsed, cell: ({ last_used_on }) => last_used_on ?? words.keys.never },
    { title: 'Issued', cell: ({ created_at }) => date(created_at) },
    { title: words.keys.actions, cell: (key) => <Deeds of={key} onChoose={setDeed} /> },
  ];
  const issue = (
    <Button onClick={() => setDeed({ kind: 'issue' })} data-autofocus={keys.rows?.length === 0}>
      {words.keys.issue}
    </Button>
  );
  return (
    <>
      <PageTitle actions={issue}>{words.pages.keys}</PageTitle>
      <Rows
        caption={words.pages.keys}
        columns={columns}
        rows={keys.rows}
        idOf={({ id }) => id}
        query={keys}
        empty={<Empty title={words.keys.empty}>A client needs one for each call. Issue the first one.</Empty>}
      />
      <More {...keys} />
      {deed && <KeyDeed deed={deed} onClose={() => setDeed(null)} />}
    </>
  );
}

function Deeds({ of: key, onChoose }: { readonly of: Key; readonly onChoose: (deed: Deed) => void }) {
  const button = (kind: 'rotate' | 'revoke' | 'restore', color?: string) => (
    <Button
      key={kind}
      size="compact-xs"
      variant="default"
      {...(color && { c: color })}
      aria-label={`${words.keys[kind]} ${key.name}`}
      onClick={() => onChoose({ kind, key })}
    >
      {words.keys[kind]}
    </Button>
  );
  if (key.state === 'active') return <Group gap={4}>{[button('rotate'), button('revoke')]}</Group>;
  return key.state === 'revoked' && key.restorable_until ? button('restore') : null;
}

const dayMs = 86_400_000;

/** Calls of the last 24 hours by the id of their key, simulated ones too; null if nobody can say, undefined while they are not known. */
function useCallsByKey(): ReadonlyMap<string, number> | null | undefined {
  const { data, isError } = useQuery({
    queryKey: ['calls by key'],
    refetchInterval: () => whileUsed(15_000),
    queryFn: () => {
      const query = {
        from: new Date(Date.now() - dayMs).toISOString(),
        group_by: 'key_id',
        interval: 'total',
        simulated: 'include',
      } as const;
      return must(api.GET('/organisation/v1/usage', { params: { query } }));
    },
  });
  if (isError) return null;
  if (data === undefined) return undefined;
  const calls = new Map<string, number>();
  for (const { key_id, requests } of data.data) if (key_id) calls.set(key_id, (calls.get(key_id) ?? 0) + requests);
  return calls;
}
