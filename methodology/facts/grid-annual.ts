/**
 * The bundled yearly carbon intensities: the fallback that needs no network and no key.
 *
 * Invariant: every reading carries its year and source, which says where the year was inferred. The world's average (WOR)
 * never stands in for a country's carbon intensity, only for a place that nobody has named.
 */
import annual from '../data/annual-grid.json' with { type: 'json' };
import mixes from '../data/ecologits-mixes.json' with { type: 'json' };
import regional from '../data/regional-grid.json' with { type: 'json' };
import type { GridBasis, GridReading } from './facts.ts';

export const waterPackage = 'EcoLogits 0.11.3';
export const waterTable = `${waterPackage} (World Resources Institute)`;

const water = new Map(mixes.rows.map((row) => [row.zone, row]));
/** The countries that have regions in the table; there is water by country alone. */
const countries: Readonly<Record<string, string>> = { CA: 'CAN', US: 'USA' };

interface AnnualRow {
  readonly zone: string;
  readonly g_per_kwh: number;
  readonly year: number;
  readonly source: string;
}

interface Package {
  readonly wheel: string;
  readonly wheel_sha256: string;
}

function readingOf({ g_per_kwh, source, year, zone }: AnnualRow, basis: GridBasis, from: Package): GridReading {
  const periodEnd = `${year + 1}-01-01T00:00:00.000Z`;
  return {
    zone,
    gPerKwh: g_per_kwh,
    source,
    signal: 'annual',
    periodStart: `${year}-01-01T00:00:00.000Z`,
    periodEnd,
    observedAt: periodEnd,
    temporalMatch: 'annual_fallback',
    basis,
    edition: `${from.wheel} sha256:${from.wheel_sha256}`,
    ...waterOf(zone),
  };
}

/** EcoLogits gives the world's average where a country has no water factor, and for a region there is that of its country. */
function waterOf(zone: string): Pick<GridReading, 'waterLPerKwh' | 'waterSource'> {
  const [country = zone, region] = zone.split('-');
  const of = region === undefined ? zone : (countries[country] ?? zone);
  const row = water.get(of);
  if (row === undefined) return { waterLPerKwh: null };
  const average =
    zone === 'WOR' ? `${waterPackage} (world average)` : `${waterPackage} (world average, none for ${zone})`;
  const source = of === zone ? waterTable : `${waterTable}, of ${of}`;
  return { waterLPerKwh: row.water_l_per_kwh, waterSource: row.world_average ? average : source };
}

const readings: ReadonlyMap<string, GridReading> = new Map(
  [
    ...annual.rows.map((row) => readingOf(row, 'lifecycle', annual)),
    ...regional.rows.map((row) => readingOf(row, row.basis === 'lifecycle' ? 'lifecycle' : 'direct', regional)),
  ].map((reading) => [reading.zone, reading]),
);

/** ISO 3166-1 alpha-3, with WOR for the world, then regions (ISO 3166-2); each in ascending order. */
export const annualZones: readonly string[] = [...readings.keys()];

/** The yearly average of a country, of the world (WOR) or of a region, or null if the tables have none. */
export function annualReading(zone: string): GridReading | null {
  return readings.get(zone) ?? null;
}
