/** The prices of tokens, and which of them hold now. */
import { Badge, Text } from '@mantine/core';
import { usePrices } from '../../../api/operator-queries.ts';
import type { Price } from '../../../api/types.ts';
import { At } from '../../../parts/at.tsx';
import { type Column, Empty } from '../../../parts/table.tsx';
import { words } from '../../../words/operator-words.ts';
import { Entries, lastChangeColumn, warningsColumn } from './entries.tsx';
import { priceStates } from './states.ts';

const colors = { now: 'green', later: 'blue', over: 'gray' } as const;

export function Prices() {
  const prices = usePrices();
  const states = priceStates(prices.data?.data ?? [], Date.now());
  const columns: readonly Column<Price>[] = [
    { title: 'Model', cell: ({ model }) => model },
    {
      title: 'Provider and region',
      cell: ({ provider, region }) => `${provider}, ${region ?? 'all regions'}`,
    },
    { title: 'Valid from', cell: ({ valid_from }) => <At time={valid_from} /> },
    { title: words.catalogue.status, cell: ({ id }) => <State state={states.get(id) ?? 'over'} /> },
    { title: '1 million tokens read', cell: ({ input_per_mtok }) => input_per_mtok, isNumber: true },
    { title: '1 million tokens written', cell: ({ output_per_mtok }) => output_per_mtok, isNumber: true },
    {
      title: 'Source',
      cell: ({ source }) => (
        <Text size="xs" miw={120} style={{ overflowWrap: 'anywhere' }}>
          {source}
        </Text>
      ),
    },
    lastChangeColumn,
    warningsColumn,
  ];
  return (
    <Entries
      kind="prices"
      columns={columns}
      entries={prices.data?.data}
      idOf={({ id }) => id}
      query={prices}
      empty={
        <Empty title="No price">Without one, usage has no cost. Enter the first one: ./gw admin prices add.</Empty>
      }
    >
      <Text size="sm">Prices are in the currency of the gateway, and usage is charged by the price of its hour.</Text>
    </Entries>
  );
}

const State = ({ state }: { readonly state: keyof typeof colors }) => (
  <Badge color={colors[state]} variant="light">
    {words.catalogue.priceStates[state]}
  </Badge>
);
