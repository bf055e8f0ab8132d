/** The screening findings in the calls of an account. */
import { Button, Code, Group, NativeSelect, Stack, Text, TextInput } from '@mantine/core';
import { useQueryClient } from '@tanstack/react-query';
import { type FormEvent, useState } from 'react';
import { type ChainQuery, useChain } from '../../../api/audit.ts';
import { useOperatorAccount } from '../../../api/operator-queries.ts';
import type { ChainEntry } from '../../../api/types.ts';
import { AccountField } from '../../../parts/account-field.tsx';
import { At } from '../../../parts/at.tsx';
import { Failed } from '../../../parts/failure.tsx';
import { More } from '../../../parts/pages.tsx';
import { type Column, Empty, Rows } from '../../../parts/table.tsx';
import { number } from '../../../words/format.ts';
import { words } from '../../../words/operator-words.ts';
import { findingOf } from './parse.ts';

/** An entry can stand for a hundred calls. */
const mostRequests = 3;

const columns: readonly Column<ChainEntry>[] = [
  { title: 'First call', cell: (entry) => <At time={findingOf(entry).calls[0]?.at ?? entry.at} /> },
  { title: words.policy.byRules, cell: (entry) => findingOf(entry).ruleIds.join(', ') },
  { title: words.policy.code, cell: (entry) => <Code>{findingOf(entry).code ?? words.unknown}</Code> },
  { title: 'Key', cell: ({ actor }) => actor.name ?? actor.id },
  { title: words.policy.version, cell: ({ target }) => <Code>{target}</Code> },
  { title: 'Calls', cell: (entry) => number(findingOf(entry).calls.length), isNumber: true },
  { title: 'Requests', cell: (entry) => <Requests of={entry} /> },
];

export function Findings() {
  const [query, setQuery] = useState<ChainQuery>({ chain: '' });
  const findings = useChain(query);
  // The chain of an account that there is not is empty as well.
  const account = useOperatorAccount(query.chain);
  const queries = useQueryClient();
  const find = (asked: ChainQuery) => {
    setQuery(asked);
    // Also if it is asked for again: more may have been found.
    void queries.invalidateQueries({ queryKey: ['chain', asked] });
  };
  return (
    <Stack>
      <Text size="sm">
        What screening finds stands in the audit log of the account whose call it was. It names rules and the salted
        hash of the text, never the text.
      </Text>
      <Filters onChange={find} />
      {query.chain === '' ? (
        <Empty title="Choose an account">Write a part of its name or id, choose it, and press Find.</Empty>
      ) : account.error ? (
        <Failed of={account} />
      ) : (
        <Rows
          caption={words.policy.views.findings}
          columns={columns}
          rows={findings.rows}
          idOf={({ seq }) => String(seq)}
          query={findings}
          empty={
            <Empty title="Nothing was found">
              No call of this account and time is of this kind. An entry comes within two seconds of its call.
            </Empty>
          }
        />
      )}
      <More {...findings} />
    </Stack>
  );
}

function Requests({ of }: { readonly of: ChainEntry }) {
  const { calls } = findingOf(of);
  const more = calls.length - mostRequests;
  return (
    <Stack gap={2}>
      {calls.slice(0, mostRequests).map(({ requestId }) => (
        <Code key={requestId}>{requestId}</Code>
      ))}
      {more > 0 && <Text size="xs">{`and ${number(more)} more, in the audit log`}</Text>}
    </Stack>
  );
}

const kinds = Object.entries<string>(words.policy.kinds).map(([value, label]) => ({ value, label }));

function Filters({ onChange }: { readonly onChange: (query: ChainQuery) => void }) {
  const [account, setAccount] = useState('');
  const submit = (event: FormEvent<HTMLFormElement>) => {
    event.preventDefault();
    const form = new FormData(event.currentTarget);
    const [action, from, to] = ['action', 'from', 'to'].map((name) => String(form.get(name)));
    onChange({
      chain: account.trim(),
      ...(action && { action }),
      ...(from && { from: `${from}T00:00:00Z` }),
      ...(to && { to: `${to}T00:00:00Z` }),
    });
  };
  return (
    <form onSubmit={submit}>
      <Group align="end">
        <AccountField label={words.policy.exemptionOf} value={account} onChange={setAccount} required />
        <NativeSelect name="action" label="Kind" data={kinds} />
        <TextInput name="from" type="date" label="From (UTC day, inclusive)" />
        <TextInput name="to" type="date" label="To (UTC day, exclusive)" />
        <Button type="submit" variant="default">
          {words.policy.find}
        </Button>
      </Group>
    </form>
  );
}
