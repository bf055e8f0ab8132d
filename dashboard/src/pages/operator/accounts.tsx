/** The accounts, by name, state and tier. */
import { Badge, Button, Group, NativeSelect, TextInput } from '@mantine/core';
import { type FormEvent, useState } from 'react';
import { api, must } from '../../api/client.ts';
import type { OperatorAccount } from '../../api/types.ts';
import { At } from '../../parts/at.tsx';
import { Go } from '../../parts/go.tsx';
import { More, usePages } from '../../parts/pages.tsx';
import { PageTitle } from '../../parts/shell.tsx';
import { type Column, Empty, Rows } from '../../parts/table.tsx';
import { number } from '../../words/format.ts';
import { words } from '../../words/operator-words.ts';

type State = OperatorAccount['state'];
type Tier = OperatorAccount['tier'];
interface Filter {
  readonly search?: string;
  readonly state?: State;
  readonly tier?: Tier;
}

export const stateColors = { active: 'green', onboarding: 'blue', suspended: 'red', closed: 'gray' } as const;

const columns: readonly Column<OperatorAccount>[] = [
  { title: words.accounts.name, cell: ({ id, name }) => <Go to={`/accounts/${id}`}>{name}</Go> },
  { title: words.accounts.id, cell: ({ id }) => id },
  { title: words.accounts.tier, cell: ({ tier }) => words.limits.tiers[tier] },
  {
    title: words.keys.state,
    cell: ({ state }) => (
      <Badge color={stateColors[state]} variant="light">
        {words.accounts.states[state]}
      </Badge>
    ),
  },
  { title: words.limits.per_day, cell: ({ limits }) => number(limits.per_day), isNumber: true },
  { title: 'Since', cell: ({ created_at }) => <At time={created_at} /> },
];

export function Accounts() {
  const [filter, setFilter] = useState<Filter>({});
  const accounts = usePages(['accounts', filter], (after) =>
    must(api.GET('/operator/v1/accounts', { params: { query: { limit: 50, ...filter, ...(after && { after }) } } })),
  );
  return (
    <>
      <PageTitle>{words.pages.accounts}</PageTitle>
      <Filters onChange={setFilter} />
      <Rows
        caption={words.pages.accounts}
        columns={columns}
        rows={accounts.rows}
        idOf={({ id }) => id}
        query={accounts}
        empty={
          <Empty title="No account">
            None matches. A new customer begins with an application: ./gw admin onboarding.
          </Empty>
        }
      />
      <More {...accounts} />
    </>
  );
}

const choices = <T extends string>(all: Readonly<Record<T, string>>) => [
  { value: '', label: words.all },
  ...Object.entries<string>(all).map(([value, label]) => ({ value, label })),
];

function Filters({ onChange }: { readonly onChange: (filter: Filter) => void }) {
  const submit = (event: FormEvent<HTMLFormElement>) => {
    event.preventDefault();
    const form = new FormData(event.currentTarget);
    const asked = ['search', 'state', 'tier'].map((name) => [name, String(form.get(name)).trim()] as const);
    onChange(Object.fromEntries(asked.filter(([, value]) => value !== '')));
  };
  return (
    <form onSubmit={submit}>
      <Group align="end" mb="md">
        <TextInput name="search" label="Name or id" />
        <NativeSelect name="state" label={words.keys.state} data={choices<State>(words.accounts.states)} />
        <NativeSelect name="tier" label={words.accounts.tier} data={choices<Tier>(words.limits.tiers)} />
        <Button type="submit" variant="default">
          {words.receipts.find}
        </Button>
      </Group>
    </form>
  );
}
