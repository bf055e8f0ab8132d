/** Usage in a period, of one account or of all: totals, a chart over time with its bounds, and a breakdown. */
import { Anchor, Group, NativeSelect, Stack, Switch } from '@mantine/core';
import { keepPreviousData, useQuery } from '@tanstack/react-query';
import { lazy, type ReactNode, Suspense, useState } from 'react';
import type { Usage } from '../api/types.ts';
import { Failed } from '../parts/failure.tsx';
import { Empty, Rows } from '../parts/table.tsx';
import { words } from '../words/words.ts';
import { Figures } from './figures.tsx';
import { type Group as By, type Metric, metrics } from './series.ts';
import { SharesTable } from './shares-table.tsx';

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
          label={words.usage.period}
          value={String(days)}
          onChange={({ currentTarget }) => setDays(Number(currentTarget.value))}
          data={periods.map((count) => ({ value: String(count), label: words.usage.days(count) }))}
        />
        <NativeSelect
          label={words.usage.show}
          value={metric}
          onChange={({ currentTarget }) => setMetric(currentTarget.value as Metric)}
          data={metrics.map((value) => ({ value, label: words.usage[value] }))}
        />
        <NativeSelect
          label={words.usage.by}
          value={by}
          onChange={({ currentTarget }) => setBy(currentTarget.value as By)}
          data={groups.map((value) => ({ value, label: words.usage[value] }))}
        />
        <Switch
          label={words.usage.countSimulated}
          checked={withSimulated}
          onChange={({ currentTarget }) => setCountsSimulated(currentTarget.checked)}
          mb={8}
        />
        <Anchor href={`${csvPath}format=csv&interval=day&from=${from}&group_by=${by}`} download mb={6}>
          {words.usage.csv}
        </Anchor>
      </Group>
      <Failed of={usage} />
      {usage.isPending && <Rows caption="" columns={[]} rows={undefined} idOf={() => ''} empty={null} />}
      {usage.data && shown.length === 0 && !usage.isPlaceholderData && <Empty title={words.usage.empty}>{empty}</Empty>}
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
