/** A period day by day: the sum within its bounds, and what it is made of. The table below the charts says the same. */
import '@mantine/charts/styles.css';
import { BarChart, CompositeChart } from '@mantine/charts';
import { Card, SimpleGrid, Text, Title } from '@mantine/core';
import type { UsageRow } from '../api/types.ts';
import { scaleFor, short } from '../words/format.ts';
import { words } from '../words/words.ts';
import { daysOf, type Group, type Metric, sharesOf, unitOf } from './series.ts';

export interface UsageChartsProps {
  readonly rows: readonly UsageRow[];
  readonly metric: Metric;
  readonly by: Group;
  readonly from: string;
  readonly to: string;
}

/** Told apart by lightness too, for those who see colours otherwise. */
const colors = ['green.8', 'blue.5', 'orange.6', 'grape.8', 'cyan.4', 'red.7', 'lime.5', 'gray.6'];

export default function UsageCharts({ rows, metric, by, from, to }: UsageChartsProps) {
  const days = daysOf(rows, metric, from, to);
  const largest = Math.max(...days.map(({ band, value }) => band?.[1] ?? value ?? 0));
  const { size, unit } = scaleFor(largest, unitOf[metric]);
  const title = `${words.usage[metric]}${unit && `, ${unit}`}`;
  return (
    <SimpleGrid cols={{ base: 1, lg: 2 }}>
      <Card withBorder>
        <Title order={2} size="h5" mb="sm">
          {title}
        </Title>
        <CompositeChart
          h={260}
          role="img"
          aria-label={`${title}. ${metric === 'requests' ? '' : words.usage.bandHint}`}
          data={days.map(({ band, date, value }) => ({
            date,
            [words.usage[metric]]: value === null ? null : value / size,
            ...(band && { [words.usage.band]: band.map((bound) => bound / size) }),
          }))}
          dataKey="date"
          curveType="monotone"
          withDots={days.length < 32}
          series={[
            ...(metric === 'requests' ? [] : [{ name: words.usage.band, color: 'green.4', type: 'area' as const }]),
            { name: words.usage[metric], color: 'green.8', type: 'line' as const },
          ]}
          valueFormatter={shown}
        />
        {metric !== 'requests' && (
          <Text size="xs" c="dimmed" mt="xs">
            {words.usage.bandHint}
          </Text>
        )}
      </Card>
      <SharesChart rows={rows} metric={metric} by={by} from={from} to={to} />
    </SimpleGrid>
  );
}

/** A band is two numbers. */
const shown = (value: number | readonly number[]): string =>
  typeof value === 'number' ? short(value) : value.map(short).join(' – ');

/** The chart would read the dots in the name of a model as a path. */
const keyOf = (at: number): string => `share${at}`;

function SharesChart({ rows, metric, by, from, to }: UsageChartsProps) {
  const shares = sharesOf(rows, metric, by);
  const largestNames = shares.slice(0, colors.length - 1);
  const others = shares.slice(colors.length - 1).flatMap((share) => share.rows);
  const series = [...largestNames, ...(others.length === 0 ? [] : [{ name: 'others', rows: others }])];
  const days = series.map((share) => daysOf(share.rows, metric, from, to));
  const dates = daysOf(rows, metric, from, to);
  const { size, unit } = scaleFor(Math.max(...dates.map(({ value }) => value ?? 0)), unitOf[metric]);
  const title = `${words.usage[metric]} · ${words.usage[by]}${unit && `, ${unit}`}`;
  return (
    <Card withBorder>
      <Title order={2} size="h5" mb="sm">
        {title}
      </Title>
      <BarChart
        h={260}
        type="stacked"
        role="img"
        aria-label={title}
        withLegend
        data={dates.map(({ date }, at) => ({
          date,
          ...Object.fromEntries(days.map((ofShare, of) => [keyOf(of), (ofShare[at]?.value ?? 0) / size])),
        }))}
        dataKey="date"
        series={series.map(({ name }, of) => ({ name: keyOf(of), label: name, color: colors[of] ?? 'gray.6' }))}
        valueFormatter={short}
      />
    </Card>
  );
}
