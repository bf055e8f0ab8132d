/** One receipt: its numbers, and below them the chain of steps that they come from. */
import { Alert, Badge, Card, Group, SimpleGrid, Stack, Table, Text, Title } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import { useMay } from '../../../api/account.ts';
import { api, must } from '../../../api/client.ts';
import type { Receipt } from '../../../api/types.ts';
import { Id } from '../../../parts/copy.tsx';
import { Failure } from '../../../parts/failure.tsx';
import { Go } from '../../../parts/go.tsx';
import { PageTitle } from '../../../shell.tsx';
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
  const mayRead = useMay('gw:lineage');
  const lineage = useQuery({
    queryKey: ['lineage', id],
    queryFn: () => must(api.GET('/organisation/v1/receipts/{id}/lineage', { params })),
    enabled: mayRead === true,
    // While the call runs there is its receipt alone.
    refetchInterval: ({ state: { data } }) => (data && !('lineage' in data) ? pollMs : false),
  });
  return (
    <Stack>
      <Go to="/receipts">{words.receipt.back}</Go>
      <PageTitle>{words.receipt.title}</PageTitle>
      <Id id={id} />
      <Failure error={receipt.error} again={() => void receipt.refetch()} />
      {receipt.data && (
        <>
          <Numbers receipt={receipt.data} />
          {mayRead === false && <Alert>{words.receipt.notInTier}</Alert>}
          <Failure error={lineage.error} again={() => void lineage.refetch()} />
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
  const { carbon_g, energy_wh, water_ml } = receipt;
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
        <Amount
          title={words.usage.energy_wh}
          value={energy_wh}
          low={receipt.energy_low_wh}
          high={receipt.energy_high_wh}
          unit="Wh"
        />
        <Amount
          title={words.usage.carbon_g}
          value={carbon_g}
          low={receipt.carbon_low_g}
          high={receipt.carbon_high_g}
          unit="g"
        />
        <Amount
          title={words.usage.water_ml}
          value={water_ml}
          low={receipt.water_low_ml ?? null}
          high={receipt.water_high_ml ?? null}
          unit="mL"
        />
      </SimpleGrid>
    </>
  );
}

interface AmountProps {
  readonly title: string;
  readonly value: number | null;
  readonly low: number | null;
  readonly high: number | null;
  readonly unit: string;
}

function Amount({ title, value, low, high, unit }: AmountProps) {
  return (
    <Card withBorder padding="sm">
      <Title order={2} size="h6">
        {title}
      </Title>
      <Text size="xl" fw={700}>
        {amount(value, unit)}
      </Text>
      {low !== null && high !== null && (
        <Text size="xs" c="dimmed">
          {words.usage.between(amount(low, unit), amount(high, unit))}
        </Text>
      )}
    </Card>
  );
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
