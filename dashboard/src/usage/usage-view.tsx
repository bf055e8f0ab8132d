/** Usage in a period, of one account or of all: totals, a chart over time with its bounds, and a breakdown. */
import {
  Alert,
  Anchor,
  Card,
  Group,
  NativeSelect,
  Progress,
  SimpleGrid,
  Stack,
  Switch,
  Text,
  Title,
} from '@mantine/core';
import { keepPreviousData, useQuery } from '@tanstack/react-query';
import { lazy, type ReactNode, Suspense, useState } from 'react';
import type { Usage, UsageRow } from '../api/types.ts';
import { Failed } from '../parts/failure.tsx';
import { Figure } from '../parts/figure.tsx';
import { type Column, Empty, Rows } from '../parts/table.tsx';
import { amount, number } from '../words/format.ts';
import { words } from '../words/words.ts';
import { type Group as By, type Metric, metrics, type Share, type Summed, sharesOf, sumOf } from './series.ts';

const UsageCharts = lazy(() => import('./usage-charts.tsx'));

export interface UsageQuestion {
  readonly from: string;
  readonly group_by: string;
  readonly simulated: 'include' | 'exclude';
}

export interface UsageViewProps {
  /** Distinguishes this usage from others in the cache. */
  readonly name: string;
  readonly groups: readonly By[];
  readonly read: (question: UsageQuestion) => Promise<Usage>;
  /** Where the same comes as CSV: up to the first parameter. */
  readonly csvPath: string;
  readonly empty: ReactNode;
}

const periods = [1, 7, 30, 90, 365] as const;

/** Midnight UTC so many days ago, today counted. */
const daysAgo = (days: number): string => new Date(Date.now() - (days - 1) * 86_400_000).toISOString().slice(0, 10);

export function UsageView({ name, groups, read, csvPath, empty }: UsageViewProps) {
  const [days, setDays] = useState(30);
  const [metric, setMetric] = useState<Metric>('carbon_g');
  const [by, setBy] = useState<By>(groups[0] ?? 'model');
  const [countsSimulated, setCountsSimulated] = useState<boolean | null>(null);
  const from = daysAgo(days);
  const usage = useQuery({
    queryKey: ['usage', name, from, by],
    queryFn: () => read({ from, group_by: by, simulated: 'include' }),
    placeholderData: keepPreviousData,
  });
  const rows = usage.data?.data;
  const hasReal = rows?.some(({ simulated }) => !simulated) ?? false;
  // Where nothing but a simulator answered, an empty page would say less.
  const withSimulated = countsSimulated ?? !hasReal;
  const shown = rows?.filter(({ simulated }) => withSimulated || !simulated) ?? [];
  return (
    <Stack>
      <Group align="end">
        <NativeSelect
          label="Period"
          value={String(days)}
          onChange={({ currentTarget }) => setDays(Number(currentTarget.value))}
          data={periods.map((count) => ({ value: String(count), label: words.usage.days(count) }))}
        />
        <NativeSelect
          label="Show"
          value={metric}
          onChange={({ currentTarget }) => setMetric(currentTarget.value as Metric)}
          data={metrics.map((value) => ({ value, label: words.usage[value] }))}
        />
        <NativeSelect
          label="Told apart by"
          value={by}
          onChange={({ currentTarget }) => setBy(currentTarget.value as By)}
          data={groups.map((value) => ({ value, label: words.usage[value] }))}
        />
        <Switch
          label="Count simulated calls"
          checked={withSimulated}
          onChange={({ currentTarget }) => setCountsSimulated(currentTarget.checked)}
          mb={8}
        />
        <Anchor href={`${csvPath}format=csv&interval=day&from=${from}&group_by=${by}`} download mb={6}>
          CSV
        </Anchor>
      </Group>
      <Failed of={usage} />
      {usage.isPending && <Rows caption="" columns={[]} rows={undefined} idOf={() => ''} empty={null} />}
      {usage.data && shown.length === 0 && !usage.isPlaceholderData && (
        <Empty title="No calls in this period">{empty}</Empty>
      )}
      {usage.data && shown.length > 0 && !usage.isPlaceholderData && (
        <>
          <Figures rows={shown} />
          <Suspense fallback={null}>
            <UsageCharts rows={shown} metric={metric} by={by} from={usage.data.from} to={usage.data.to} />
          </Suspense>
          <SharesTable rows={shown} metric={metric} by={by} />
        </>
      )}
    </Stack>
  );
}

interface SharesTableProps {
  readonly rows: readonly UsageRow[];
  readonly metric: Metric;
  readonly by: By;
}

/** Read and written; null if either is not known. */
function tokensOf({ rows }: Share): number | null {
  const [read, written] = [sumOf(rows, 'prompt_tokens'), sumOf(rows, 'completion_tokens')];
  return read === null || written === null ? null : read + written;
}

/** Who or what used how much, the largest first. */
function SharesTable({ rows, metric, by }: SharesTableProps) {
  const columns: Column<Share>[] = [
    { title: words.usage[by], cell: ({ name }) => name },
    { title: words.usage.requests, cell: (share) => number(sumOf(share.rows, 'requests')), isNumber: true },
    {
      title: 'Tokens',
      cell: (share) => number(tokensOf(share)),
      isNumber: true,
    },
    { title: words.usage.energy_wh, cell: (share) => amount(sumOf(share.rows, 'energy_wh'), 'Wh'), isNumber: true },
    { title: words.usage.carbon_g, cell: (share) => amount(sumOf(share.rows, 'carbon_g'), 'g'), isNumber: true },
    { title: words.usage.water_ml, cell: (share) => amount(sumOf(share.rows, 'water_ml'), 'mL'), isNumber: true },
  ];
  const shares = sharesOf(rows, metric, by);
  return <Rows caption={words.usage[by]} columns={columns} rows={shares} idOf={({ id }) => id} empty={null} />;
}

interface FiguresProps {
  readonly rows: readonly UsageRow[];
}

/** The sums of a period, each with its bounds, and how much of them is known how well. */
function Figures({ rows }: FiguresProps) {
  const sum = (name: Summed) => sumOf(rows, name);
  const compared = rows.reduce((all, row) => all + row.requests - (row.missing.carbon_saved_g ?? 0), 0);
  const missing = rows.reduce((all, row) => all + (row.missing.carbon_g ?? 0), 0);
  const bases = new Set(rows.flatMap(({ grid_basis: basis }) => basis ?? []));
  if (bases.has('mixed')) bases.add('lifecycle').add('combustion');
  const between = (low: Summed, high: Summed, unit: string) =>
    words.usage.between(amount(sum(low), unit), amount(sum(high), unit));
  return (
    <>
      {rows.some(({ simulated }) => simulated) && (
        <Alert color="yellow">Simulated calls are among these numbers: they are of no real machine.</Alert>
      )}
      {missing > 0 && <Alert color="orange">{`${missing} calls without carbon are in no sum`}</Alert>}
      {bases.size > 1 && (
        <Alert color="orange">
          The sums hold intensities of different kinds (life cycle, combustion): they count different things.
        </Alert>
      )}
      <SimpleGrid cols={{ base: 1, xs: 2, lg: 3 }}>
        <Figure
          title={words.usage.carbon_g}
          value={`${amount(sum('carbon_g'), 'g')} CO₂e`}
          hint={between('carbon_low_g', 'carbon_high_g', 'g')}
        />
        <Figure
          title={words.usage.energy_wh}
          value={amount(sum('energy_wh'), 'Wh')}
          hint={between('energy_low_wh', 'energy_high_wh', 'Wh')}
        />
        <Figure
          title={words.usage.water_ml}
          value={amount(sum('water_ml'), 'mL')}
          hint={between('water_low_ml', 'water_high_ml', 'mL')}
        />
        <Figure
          title="Energy of calls that broke off"
          value={amount(sum('requests_aborted') === 0 ? 0 : sum('energy_aborted_wh'), 'Wh')}
          hint={`${number(sum('requests_aborted'))} calls`}
        />
        <Figure
          title="Saved by the choice of regions"
          value={`${amount(sum('carbon_saved_g'), 'g')} CO₂e`}
          hint={`Estimated against the region that the order of preference alone would have taken; ${number(compared)} of the calls can be compared.`}
        />
        <Coverage
          all={sum('requests') ?? 0}
          parts={[
            [words.usage.measured, sum('requests_measured') ?? 0, 'green.8'],
            [words.usage.modelled, sum('requests_modelled') ?? 0, 'blue.8'],
            [words.usage.estimated, sum('requests_estimated') ?? 0, 'orange.9'],
            [words.usage.degraded, sum('requests_degraded') ?? 0, 'gray.7'],
          ]}
        />
      </SimpleGrid>
    </>
  );
}

interface CoverageProps {
  readonly all: number;
  readonly parts: readonly (readonly [name: string, count: number, color: string])[];
}

function Coverage({ all, parts }: CoverageProps) {
  const there = parts.filter(([, count]) => count > 0);
  const text = there.map(([name, count]) => `${number(count)} ${name}`).join(', ');
  return (
    <Card withBorder padding="sm">
      <Title order={2} size="h6">
        How the energy is known
      </Title>
      <Progress.Root size="xl" my={6} role="img" aria-label={text}>
        {there.map(([name, count, color]) => (
          <Progress.Section key={name} value={(100 * count) / Math.max(all, 1)} color={color} withAria={false} />
        ))}
      </Progress.Root>
      <Text size="xs" c="dimmed">
        {text}
      </Text>
    </Card>
  );
}
