/**
 * The bundled yearly carbon intensities: the fallback that needs no network and no key.
 *
 * Invariant: every reading carries its year and source, which says where the year was inferred. The world's average (WOR)
 * never stands in for a country's carbon intensity, only for a place that nobody has named.
 */
import annual from './data/annual-grid.json' with { type: 'json' };
import mixes from './data/ecologits-mixes.json' with { type: 'json' };
import type { GridReading } from './facts.ts';

const water = new Map(mixes.rows.map((row) => [row.zone, row.water_l_per_kwh]));

const readings: ReadonlyMap<string, GridReading> = new Map(
  annual.rows.map((row) => {
    const periodEnd = `${row.year + 1}-01-01T00:00:00.000Z`;
    return [
      row.zone,
      {
        zone: row.zone,
        gPerKwh: row.g_per_kwh,
        source: row.source,
        signal: 'annual',
        periodStart: `${row.year}-01-01T00:00:00.000Z`,
        periodEnd,
        observedAt: periodEnd,
        temporalMatch: 'annual_fallback',
        // EcoLogits gives the world's average where a country has no water factor; the row in the data says so.
        waterLPerKwh: water.get(row.zone) ?? null,
      },
    ];
  }),
);

/** ISO 3166-1 alpha-3, in ascending order, and WOR, the world. */
export const annualZones: readonly string[] = [...readings.keys()];

/** The yearly average of a country (ISO 3166-1 alpha-3) or of the world (WOR), or null if the table has none. */
export function annualReading(zone: string): GridReading | null {
  return readings.get(zone) ?? null;
}
