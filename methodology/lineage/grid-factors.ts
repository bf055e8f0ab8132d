/**
 * The grid's two factors of one call, with their provenance.
 *
 * Invariant: a licence is named only where the source is known to this package; another source's terms are null.
 */
import type { Methodology } from '../documents/methodologies.ts';
import type { TabledFactor } from '../documents/named-factors.ts';
import type { GridReading } from '../facts/facts.ts';
import { annualReading, waterPackage, waterTable } from '../facts/grid-annual.ts';
import { noTerms, termsOf } from './grid-sources.ts';

export interface GridFactors {
  readonly zone: string;
  readonly source: string;
  /** The interval that the intensity is for: start and end, RFC 3339. */
  readonly period: string;
  readonly water_source: string;
}

/**
 * The reading says whose its water factor is, so that no later table changes what a stored receipt says. EcoLogits' methodology
 * recognises the bundled table's factor by its value.
 */
export function waterSourceOf(grid: GridReading, { isOwn }: Pick<Methodology, 'isOwn'>): string {
  if (isOwn && grid.waterSource !== undefined) return grid.waterSource;
  return annualReading(grid.zone)?.waterLPerKwh === grid.waterLPerKwh ? waterTable : grid.source;
}

/** Null for a name that is not a factor of the grid. */
export function gridFactorOf(
  name: string,
  grid: GridFactors,
  value: number | null,
  { isOwn }: Pick<Methodology, 'isOwn'>,
): TabledFactor | null {
  if (name === 'grid_intensity') {
    const { source } = grid;
    const known = isOwn || source.startsWith('ember-') ? termsOf(source) : noTerms;
    // EcoLogits' lineages state no date. `sources` says when a value was asked for.
    const date = isOwn ? known.date : null;
    return { value, unit: 'gCO2e/kWh', source, version: grid.period, ...known, date };
  }
  if (name !== 'WUE_grid') return null;
  const bundled = grid.water_source.startsWith(`${waterPackage} (`);
  const source = grid.water_source;
  const published = bundled
    ? { version: '0.11.3', licence: 'MPL-2.0', date: '2025', locator: 'https://doi.org/10.21105/joss.07471' }
    : { version: null, licence: null, date: null, locator: null };
  return { value, unit: 'L/kWh', source, ...published };
}
