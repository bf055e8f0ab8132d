/**
 * The grid's two factors of one call, with their provenance.
 *
 * Invariant: a licence is named only where the source is known to this package; another source's terms are null.
 */
import type { TabledFactor } from './factor-table.ts';
import type { GridReading } from './facts.ts';
import { annualReading, waterPackage, waterTable } from './grid-annual.ts';
import { noTerms, termsOf } from './grid-sources.ts';
import type { Methodology } from './methodologies.ts';

export interface GridFactors {
  readonly zone: string;
  readonly source: string;
  /** The interval that the intensity is for: start and end, RFC 3339. */
  readonly period: string;
  readonly water_source: string;
}

/**
 * Before gw-1.4 the bundled table's water factor was recognised by its value, and another one came with the reading; since
 * then the reading says whose it is, so that no later table changes what a stored receipt says.
 */
export function waterSourceOf(grid: GridReading, { statesGridBasis }: Pick<Methodology, 'statesGridBasis'>): string {
  if (statesGridBasis && grid.waterSource !== undefined) return grid.waterSource;
  return annualReading(grid.zone)?.waterLPerKwh === grid.waterLPerKwh ? waterTable : grid.source;
}

/** Null for a name that is not a factor of the grid. */
export function gridFactorOf(
  name: string,
  grid: GridFactors,
  value: number | null,
  { statesGridBasis }: Pick<Methodology, 'statesGridBasis'>,
): TabledFactor | null {
  if (name === 'grid_intensity') {
    const { source } = grid;
    const known = statesGridBasis || source.startsWith('ember-') ? termsOf(source) : noTerms;
    // Before gw-1.4 no date was stated. `sources` says when a value was asked for.
    const date = statesGridBasis ? known.date : null;
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
