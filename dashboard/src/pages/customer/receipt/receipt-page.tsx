/** One receipt: its numbers, and below them the chain of steps that they come from. */
import { Alert, Badge, Group, SimpleGrid, Stack, Table, Text } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import { api, must } from '../../../api/client.ts';
import { useAccount } from '../../../api/session.ts';
import type { Receipt } from '../../../api/types.ts';
import { Id } from '../../../parts/copy.tsx';
import { Failed } from '../../../parts/failure.tsx';
import { Figure } from '../../../parts/figure.tsx';
import { Go } from '../../../parts/go.tsx';
import { PageTitle } from '../../../parts/shell.tsx';
import { amount } from '../../../words/format.ts';
import { words } from '../../../words/words.ts';
import { LineageChain } from './lineage-chain.tsx';
import { TierBadge } from './tier-badge.tsx';

const pollMs = 1000;

export function ReceiptPage({ id }: { readonly id: string }) {
  const params = { path: { id } };
  const receipt = useQuery({
    queryKey: ['receipt', id],
    queryFn: () => must(api.GET('/organisation/v1/receipts/{id}', { params })),
    refetchInterval: ({ state: { data } }) => (data?.status === 'pending' ? pollMs : false),
  });
  const account = useAccount();
  const mayRead = account.data?.scopes.includes('gw:lineage');
  const version = receipt.data?.version;
  const lineage = useQuery({
    queryKey: ['lineage', id, version],
    // The lineage must be that of the version shown: a newer one may exist by now.
    queryFn: () =>
      must(
        api.GET('/organisation/v1/receipts/{id}/lineage', {
          params: { ...params, query: { ...(version && { version }) } },
        }),
      ),
    enabled: mayRead === true && version !== undefined,
    // While the call runs there is its receipt alone.
    refetchInterval: ({ state: { data } }) => (data && !('lineage' in data) ? pollMs : false),
  });
  return (
    <Stack>
      <Go to="/receipts">All receipts</Go>
      <PageTitle>Receipt</PageTitle>
      <Id id={id} />
      <Failed of={receipt} />
      {receipt.data && (
        <>
          <Numbers receipt={receipt.data} />
          <Failed of={account} />
          {mayRead === false && (
            <Alert>Lineages are not in the tier of this account. They come with Audit Plus and Enterprise.</Alert>
          )}
          <Failed of={lineage} />
          {lineage.data && 'lineage' in lineage.data && (
            <LineageChain
              lineage={lineage.data.lineage}
              explanation={lineage.data.explanation}
              receipt={receipt.data}
            />
          )}
          <Fields receipt={receipt.data} />
        </>
      )}
    </Stack>
  );
}

function Numbers({ receipt }: { readonly receipt: Receipt }) {
  return (
    <>
      <Group gap="xs">
        <TierBadge tier={receipt.tier} />
        {receipt.simulated && (
          <Badge color="yellow" variant="light">
            {words.simulated}
          </Badge>
        )}
        <Text size="sm">{receipt.tier_reason}</Text>
      </Group>
      {receipt.explanation && <Alert color="orange">{receipt.explanation}</Alert>}
      <SimpleGrid cols={{ base: 1, xs: 3 }}>
        {amounts.map(({ name, low, high, unit }) => (
          <Figure
            key={name}
            title={words.usage[name]}
            value={amount(receipt[name], unit)}
            hint={boundsOf(receipt[low], receipt[high], unit)}
          />
        ))}
      </SimpleGrid>
    </>
  );
}

const amounts = [
  { name: 'energy_wh', low: 'energy_low_wh', high: 'energy_high_wh', unit: 'Wh' },
  { name: 'carbon_g', low: 'carbon_low_g', high: 'carbon_high_g', unit: 'g' },
  { name: 'water_ml', low: 'water_low_ml', high: 'water_high_ml', unit: 'mL' },
] as const;

type Bound = number | null | undefined;

function boundsOf(low: Bound, high: Bound, unit: string): string | undefined {
  if (low === null || low === undefined || high === null || high === undefined) return undefined;
  return words.usage.between(amount(low, unit), amount(high, unit));
}

/** Every field, by the name that it has in the reply. */
function Fields({ receipt }: { readonly receipt: Receipt }) {
  return (
    <details>
      <summary>{words.receipt.all}</summary>
      <Table.ScrollContainer minWidth={400}>
        <Table aria-label={words.receipt.all} verticalSpacing={2}>
          <Table.Tbody>
            {Object.entries(receipt).map(([name, value]) => (
              <Table.Tr key={name}>
                <Table.Th scope="row">{name}</Table.Th>
                <Table.Td>{typeof value === 'string' ? value : JSON.stringify(value)}</Table.Td>
              </Table.Tr>
            ))}
          </Table.Tbody>
        </Table>
      </Table.ScrollContainer>
    </details>
  );
}
