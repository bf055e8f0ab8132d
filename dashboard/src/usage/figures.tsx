/** The sums of a period, each with its bounds, and how much of them is known how well. */
import { Alert, Card, Progress, SimpleGrid, Text, Title } from '@mantine/core';
import type { UsageRow } from '../api/types.ts';
import { Figure } from '../parts/figure.tsx';
import { amount, number } from '../words/format.ts';
import { words } from '../words/words.ts';
import { type Summed, sumOf } from './sums.ts';

export interface FiguresProps {
  readonly rows: readonly UsageRow[];
}

export function Figures({ rows }: FiguresProps) {
  const sum = (name: Summed) => sumOf(rows, name);
  const compared = rows.reduce((all, row) => all + row.requests - (row.missing.carbon_saved_g ?? 0), 0);
  const missing = rows.reduce((all, row) => all + (row.missing.carbon_g ?? 0), 0);
  const bases = new Set(rows.flatMap(({ grid_basis: basis }) => basis ?? []));
  if (bases.has('mixed')) bases.add('lifecycle').add('combustion');
  const between = (low: Summed, high: Summed, unit: string) =>
    words.usage.between(amount(sum(low), unit), amount(sum(high), unit));
  return (
    <>
      {rows.some(({ simulated }) => simulated) && <Alert color="yellow">{words.usage.simulatedHint}</Alert>}
      {missing > 0 && <Alert color="orange">{words.usage.missing(missing)}</Alert>}
      {bases.size > 1 && <Alert color="orange">{words.usage.mixed}</Alert>}
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
          title={words.usage.wasted}
          value={amount(sum('requests_aborted') === 0 ? 0 : sum('energy_aborted_wh'), 'Wh')}
          hint={words.usage.calls(number(sum('requests_aborted')))}
        />
        <Figure
          title={words.usage.carbon_saved_g}
          value={`${amount(sum('carbon_saved_g'), 'g')} CO₂e`}
          hint={words.usage.savedHint(number(compared))}
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
        {words.usage.coverage}
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
