/**
 * Chooses among what live sources have said: for each zone the reading that receipts use, and the signals for routing.
 *
 * Invariant: a marginal value, or a forecast of one, never becomes the carbon of a receipt. In this order, and among
 * equals in the order of the configuration, a receipt gets
 *
 * 1. the newest measured or estimated average that is at most 120 minutes old,
 * 2. a forecast of the average for the interval under way (`forecast`),
 * 3. the settled average of the same time a week ago (`prior_week`),
 * 4. the yearly average, which needs no choice here (`annual_fallback`),
 * 5. where there is no yearly average, the newest average of the last 24 hours (`none`).
 */
import { fits } from '@gw/contract/internal/grid-reading';
import type { OperationalReading, SnapshotGridReading } from '@gw/contract/internal/snapshot';
import type { AnnualReading } from '../../catalogue/snapshot/read.ts';
import type { ZoneSource } from './config.ts';
import type { StoredReading } from './store.ts';

export interface GridChoice {
  /** The readings that receipts use, at most one for each zone. */
  readonly receipt: readonly SnapshotGridReading[];
  /** Marginal values and forecasts for routing: at most one for each zone, source, kind and signal. */
  readonly routing: readonly OperationalReading[];
}

/** Whether a reading came from this source. Its name can be longer, as it can end in the version of the factors. */
export const isFrom = ({ zone, source, place }: ZoneSource, reading: StoredReading): boolean =>
  reading.zone === zone &&
  reading.place === place &&
  (reading.source === source || reading.source.startsWith(`${source} `));

/** Chooses by the order that the head of this file gives; without `sources` the choice is empty. */
export function chooseGrid(
  readings: readonly StoredReading[],
  sources: readonly ZoneSource[],
  annualReading: AnnualReading,
  now: Date,
): GridChoice {
  const at = now.getTime();
  const newestFirst = readings.toSorted((a, b) => b.periodStart.getTime() - a.periodStart.getTime());
  const receipt: SnapshotGridReading[] = [];
  const routing = new Map<string, OperationalReading>();
  for (const zone of new Set(sources.map((source) => source.zone))) {
    const annual = annualReading(zone);
    const water = waterOf(annual);
    const ranked = sources
      .filter((source) => source.zone === zone)
      .flatMap((source) => newestFirst.filter((reading) => isFrom(source, reading)));
    const best = bestAverage(ranked, at, water, annual !== null);
    if (best !== null) receipt.push(best);
    for (const reading of ranked) {
      const { kind, signal, source } = reading;
      const published = { ...snapshotReading(reading, water), kind };
      const key = `${zone} ${source} ${kind} ${signal}`;
      if (signal !== 'average' && fits(published, at) && !routing.has(key)) routing.set(key, published);
    }
  }
  return { receipt, routing: [...routing.values()] };
}

/** `ranked` is in the order of the configured sources, and newest first within each. */
function bestAverage(
  ranked: readonly StoredReading[],
  at: number,
  water: Water,
  hasFloor: boolean,
): SnapshotGridReading | null {
  const averages = ranked.filter(({ kind }) => kind === 'average');
  const measured = averages.filter(({ signal }) => signal === 'average').map((each) => snapshotReading(each, water));
  const forecasts = averages.filter(({ signal }) => signal === 'forecast').map((each) => snapshotReading(each, water));
  const lastWeek = averages
    .filter(({ signal, isEstimated }) => signal === 'average' && !isEstimated)
    .map((each) => ({ ...snapshotReading(each, water), temporalMatch: 'prior_week' as const }));
  const fitting = [...measured, ...forecasts, ...lastWeek].find((reading) => fits(reading, at));
  if (fitting !== undefined || hasFloor) return fitting ?? null;
  const [stale] = measured.toSorted((a, b) => (a.periodStart < b.periodStart ? 1 : -1));
  return stale ? { ...stale, temporalMatch: 'none' } : null;
}

type Water = Pick<SnapshotGridReading, 'waterLPerKwh' | 'waterSource'>;

/** Water depends on the zone alone, so live sources, which have none, get that of the yearly table. */
const waterOf = (annual: SnapshotGridReading | null): Water => ({
  waterLPerKwh: annual?.waterLPerKwh ?? null,
  ...(annual?.waterSource !== undefined && { waterSource: annual.waterSource }),
});

/** Turns a stored reading into one of the catalogue. `fresh` marks an estimate; what comes of it, the methodology says. */
function snapshotReading(reading: StoredReading, water: Water): SnapshotGridReading {
  const { zone, gPerKwh, source, signal, basis, isEstimated } = reading;
  return {
    zone,
    gPerKwh,
    source,
    signal,
    periodStart: reading.periodStart.toISOString(),
    periodEnd: reading.periodEnd.toISOString(),
    observedAt: reading.observedAt.toISOString(),
    temporalMatch: signal === 'forecast' ? 'forecast' : isEstimated ? 'fresh' : null,
    ...water,
    basis,
    isEstimated,
    replySha256: reading.rawSha256,
    fetchedAt: reading.fetchedAt.toISOString(),
  };
}
