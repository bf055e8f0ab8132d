/**
 * The two jobs that make new versions of receipts: recalculation and restatement.
 *
 * Plain timers, as for the other jobs: what there is to do stands in Postgres, and each step is idempotent.
 */
import { minuteMs } from '@gw/contract/internal/durations';
import { annualReading } from '@gw/methodology/grid-annual';
import type { FaultLog } from '@gw/service/fault-log';
import type { CatalogueView, HeldCatalogue } from '../../catalogue/snapshot/keeper.ts';
import type { Context } from '../../shared/context.ts';
import { type RepeatedJob, repeat } from '../../shared/repeat.ts';
import { chooseGrid } from '../grid/choice.ts';
import type { GridSettings, ZoneSource } from '../grid/config.ts';
import { recentReadings, type StoredReading } from '../grid/store.ts';
import type { ReadingAt } from './complete-facts.ts';
import { type RecalculateOptions, recalculateDue } from './recalculate.ts';
import { restateDue } from './restate.ts';
import type { Seals } from './sealed-rows.ts';
import type { VersionMetrics } from './version-metrics.ts';
import { wake } from './wake.ts';

const everyMs = 2000;

export interface VersionJobOptions {
  readonly catalogue: CatalogueView;
  readonly faults: FaultLog;
  readonly seals: Seals;
  readonly versionMetrics: VersionMetrics;
  readonly grid: Pick<GridSettings, 'sources' | 'restatesEarlier'>;
}

export function startVersionJobs(
  context: Context,
  { catalogue, faults, grid, seals, versionMetrics }: VersionJobOptions,
): RepeatedJob {
  const { db, now, log } = context;
  const stopping = new AbortController();
  const { signal } = stopping;
  const history = (): ReadingAt => readingInHistory(context, grid.sources);
  const onRecalculated = (count: number): void => versionMetrics.made('recalculated', count);
  const onRestated = (count: number): void => versionMetrics.made('restated', count);
  const recalculation = { db, faults, history, now, log, seals, signal, onRecalculated };
  const { restatesEarlier, sources } = grid;
  const restatement = { db, sources, restatesEarlier, now, log, seals, signal, onRestated };
  const jobs = [
    repeat({ name: 'recalculation of receipts', everyMs, log, run: openRecalculation(recalculation, catalogue) }),
    repeat({ name: 'restatement of receipts', everyMs, log, run: () => restateDue(restatement) }),
  ];
  return {
    stop: async () => {
      stopping.abort();
      await Promise.all(jobs.map((job) => job.stop()));
    },
  };
}

/**
 * Returns a round. It wakes first and tries afterwards, so that nothing is postponed with a catalogue that is older
 * than the one that woke it. What is due is tried even if the waking fails; that error is thrown afterwards, and the
 * next round wakes the rest.
 */
export function openRecalculation(
  options: RecalculateOptions,
  catalogue: { current(): HeldCatalogue | null },
): () => Promise<void> {
  let seen: HeldCatalogue | null = null;
  return async () => {
    const held = catalogue.current();
    if (held === null) return;
    let failed: { readonly fault: unknown } | null = null;
    try {
      await wake(options.db, seen, held, options.signal);
      if (!options.signal.aborted) seen = held;
    } catch (error) {
      failed = { fault: error };
    }
    await recalculateDue(options, held);
    if (failed !== null) throw failed.fault;
  };
}

/**
 * Returns the reading that a receipt of that moment would have got, had everything been known that is known now. Calls
 * of one minute share what is read, since periods begin and end with a minute.
 */
export function readingInHistory({ db }: Pick<Context, 'db'>, sources: readonly ZoneSource[]): ReadingAt {
  const known = new Map<string, Promise<StoredReading[]>>();
  return async (zone, at) => {
    const configured = sources.filter((source) => source.zone === zone);
    if (configured.length === 0) return annualReading(zone);
    const minute = new Date(Math.floor(at.getTime() / minuteMs) * minuteMs);
    const key = `${zone} ${minute.toISOString()}`;
    const reading = known.get(key) ?? recentReadings(db, [zone], minute);
    known.set(key, reading);
    return chooseGrid(await reading, configured, annualReading, at).receipt[0] ?? annualReading(zone);
  };
}
