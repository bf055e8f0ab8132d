/** The receipts of the account, the newest first. */
import { Alert, Badge, Button, Group, TextInput } from '@mantine/core';
import { type FormEvent, useState } from 'react';
import { useLocation } from 'wouter';
import { api, must } from '../../api/client.ts';
import type { Receipt } from '../../api/types.ts';
import { FirstCall } from '../../parts/first-call.tsx';
import { Go } from '../../parts/go.tsx';
import { More, usePages } from '../../parts/pages.tsx';
import { PageTitle } from '../../parts/shell.tsx';
import { type Column, Empty, Rows } from '../../parts/table.tsx';
import { amount, time } from '../../words/format.ts';
import { words } from '../../words/words.ts';
import { TierBadge } from './receipt/tier-badge.tsx';

interface Filter {
  readonly model?: string;
  readonly region?: string;
  readonly project?: string;
}

const columns: readonly Column<Receipt>[] = [
  {
    title: 'Time of the call',
    cell: ({ created_at, id }) => <Go to={`/receipts/${id}`}>{time(created_at)}</Go>,
  },
  { title: 'Model', cell: ({ model }) => model },
  { title: 'Region', cell: ({ region }) => region ?? words.unknown },
  {
    title: 'Tier',
    cell: (receipt) => (
      <Group gap={4}>
        <TierBadge tier={receipt.tier} />
        {receipt.simulated && (
          <Badge color="yellow" variant="light">
            {words.simulated}
          </Badge>
        )}
      </Group>
    ),
  },
  { title: 'Energy', cell: ({ energy_wh }) => amount(energy_wh, 'Wh'), isNumber: true },
  { title: 'Carbon', cell: ({ carbon_g }) => amount(carbon_g, 'g'), isNumber: true },
];

export function Receipts() {
  const [filter, setFilter] = useState<Filter>({});
  const receipts = usePages(['receipts', filter], (after) =>
    must(
      api.GET('/organisation/v1/receipts', { params: { query: { limit: 50, ...filter, ...(after && { after }) } } }),
    ),
  );
  const altered = receipts.pages?.reduce((all, page) => all + (page.altered?.length ?? 0), 0) ?? 0;
  const isFiltered = Object.keys(filter).length > 0;
  return (
    <>
      <PageTitle>{words.pages.receipts}</PageTitle>
      <Filters onChange={setFilter} />
      {altered > 0 && (
        <Alert color="red" mb="md">
          {`${altered} receipts of this page were altered in storage and are not shown`}
        </Alert>
      )}
      <Rows
        caption={words.pages.receipts}
        columns={columns}
        rows={receipts.rows}
        idOf={({ id }) => id}
        query={receipts}
        empty={
          <Empty title="No receipts">{isFiltered ? 'No call matches, or none was made yet.' : <FirstCall />}</Empty>
        }
      />
      <More {...receipts} />
    </>
  );
}

function Filters({ onChange }: { readonly onChange: (filter: Filter) => void }) {
  const [, go] = useLocation();
  const submit = (event: FormEvent<HTMLFormElement>) => {
    event.preventDefault();
    const form = new FormData(event.currentTarget);
    const text = (name: string): string => String(form.get(name)).trim();
    if (text('id')) return go(`/receipts/${encodeURIComponent(text('id'))}`);
    const asked = ['model', 'region', 'project'].map((name) => [name, text(name)] as const);
    onChange(Object.fromEntries(asked.filter(([, value]) => value !== '')));
  };
  return (
    <form onSubmit={submit}>
      <Group align="end" mb="md">
        <TextInput name="model" label="Model" />
        <TextInput name="region" label="Region" />
        <TextInput name="project" label="Project" />
        <TextInput name="id" label="Receipt id" placeholder="rcpt_…" />
        <Button type="submit" variant="default">
          {words.receipts.find}
        </Button>
      </Group>
    </form>
  );
}
