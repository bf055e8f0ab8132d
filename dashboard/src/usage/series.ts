/** Makes the series of the charts out of rows of usage. */
import type { UsageRow } from '../api/types.ts';
import { words } from '../words/words.ts';

export const metrics = ['carbon_g', 'energy_wh', 'water_ml', 'requests'] as const;
export type Metric = (typeof metrics)[number];
export const unitOf = { carbon_g: 'g', energy_wh: 'Wh', water_ml: 'mL', requests: '' } as const;
const bounds = {
  carbon_g: ['carbon_low_g', 'carbon_high_g'],
  energy_wh: ['energy_low_wh', 'energy_high_wh'],
  water_ml: ['water_low_ml', 'water_high_ml'],
} as const;

export const groups = ['model', 'region', 'project', 'key_id'] as const;
export type Group = (typeof groups)[number] | 'account_id';

export interface Day {
  readonly date: string;
  /** Null: there were calls, and nobody knows. */
  readonly value: number | null;
  /** Lower and upper bound; null where there are none. */
  readonly band: readonly [number, number] | null;
}

/** Days in a row from the first to the last; what nobody called on is 0. `from` inclusive, `to` exclusive. */
export function daysOf(rows: readonly UsageRow[], metric: Metric, from: string, to: string): Day[] {
  const byDate = Map.groupBy(rows, ({ date = '' }) => date);
  return datesOf(from, to).map((date) => {
    const ofDay = byDate.get(date) ?? [];
    // Without a call nothing was used.
    const sum = (name: Summed): number | null => (ofDay.length === 0 ? 0 : sumOf(ofDay, name));
    const [low, high] = metric === 'requests' ? [null, null] : bounds[metric].map(sum);
    const isBound = low !== null && low !== undefined && high !== null && high !== undefined;
    return { date, value: sum(metric), band: isBound ? [low, high] : null };
  });
}

function datesOf(from: string, to: string): string[] {
  const dates: string[] = [];
  for (let at = Date.parse(from.slice(0, 10)); at < Date.parse(to); at += 86_400_000)
    dates.push(new Date(at).toISOString().slice(0, 10));
  return dates;
}

export interface Share {
  readonly id: string;
  readonly name: string;
  readonly rows: readonly UsageRow[];
  /** For the order; 0 where it is not known. */
  readonly value: number;
}

/** The rows by what they are told apart by, the largest first. */
export function sharesOf(rows: readonly UsageRow[], metric: Metric, group: Group): Share[] {
  return [...Map.groupBy(rows, (row) => row[group] ?? null)]
    .map(([value, ofName]) => ({
      // Somebody may call a project "none".
      id: JSON.stringify(value),
      name: value ?? words.none,
      rows: ofName,
      value: sumOf(ofName, metric) ?? 0,
    }))
    .sort((a, b) => b.value - a.value);
}

/** The fields of a row that can be added up. */
export type Summed = {
  [Name in keyof UsageRow]-?: NonNullable<UsageRow[Name]> extends number ? Name : never;
}[keyof UsageRow];

/** The sum of what is known; null if nothing is, or there is no row. */
export function sumOf(rows: readonly UsageRow[], name: Summed): number | null {
  const known = rows.map((row) => row[name]).filter((value) => value !== null && value !== undefined);
  return known.length === 0 ? null : known.reduce((all, value) => all + value, 0);
}
