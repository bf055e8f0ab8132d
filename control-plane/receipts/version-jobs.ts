/**
 * The two jobs that make new versions of receipts: recalculation and restatement.
 *
 * Plain timers, as for the other jobs: what there is to do stands in Postgres, and each step is idempotent.
 */
import { annualReading } from '@gw/methodology/grid-annual';
import type { HeldCatalogue } from '../catalogue/keeper.ts';
import type { Context } from '../context.ts';
import { chooseGrid } from '../grid/choice.ts';
import type { ZoneSource } from '../grid/config.ts';
import { recentReadings } from '../grid/store.ts';
import { type RepeatedJob, repeat } from '../repeat.ts';
import type { ReadingAt } from './complete-facts.ts';
import { recalculateDue, wake } from './recalculate.ts';
import { restateDue } from './restate.ts';

const everyMs = 2000;

export function startVersionJobs(context: Context, sources: readonly ZoneSource[]): RepeatedJob {
  const { db, now, log, catalogue, versionCounts } = context;
  const stopping = new AbortController();
  const { signal } = stopping;
  const readingAt = readingInHistory(context, sources);
  let seen: HeldCatalogue | null = null;
  const jobs = [
    repeat({
      name: 'recalculation of receipts',
      everyMs,
      log,
      run: async () => {
        const held = catalogue.current();
        if (held === null) return;
        await wake(db, seen, held);
        seen = held;
        const onRecalculated = (count: number): void => versionCounts.made('recalculated', count);
        await recalculateDue({ db, readingAt, now, log, signal, onRecalculated }, held);
      },
    }),
    repeat({
      name: 'restatement of receipts',
      everyMs,
      log,
      run: () => {
        const onRestated = (count: number): void => versionCounts.made('restated', count);
        return restateDue({ db, sources, now, log, signal, onRestated });
      },
    }),
  ];
  return {
    stop: async () => {
      stopping.abort();
      await Promise.all(jobs.map((job) => job.stop()));
    },
  };
}

/** What a receipt of that moment would have got, had everything been known that is known by now. */
export function readingInHistory({ db }: Pick<Context, 'db'>, sources: readonly ZoneSource[]): ReadingAt {
  return async (zone, at) => {
    const configured = sources.filter((source) => source.zone === zone);
    if (configured.length === 0) return annualReading(zone);
    const readings = await recentReadings(db, [zone], at);
    return chooseGrid(readings, configured, annualReading, at).receipt[0] ?? annualReading(zone);
  };
}
