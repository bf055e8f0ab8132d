/** The checks that run by themselves: of what is new in every round, and of everything once in a longer period. */
import type { KeyRing } from '@gw/contract/internal/key-ring';
import type { Trust } from '@gw/evidence/verify';
import type { Context } from '../../shared/context.ts';
import { type RepeatedJob, repeat } from '../../shared/repeat.ts';
import type { Seals } from '../receipts/sealed-rows.ts';
import { openAuditCheck } from './check-audit.ts';
import { checkBatches, checkNewestBatches } from './check-batches.ts';
import { checkLogs, type LogCheckOptions } from './check-log.ts';
import { checkAll, checkNewest } from './check-receipts.ts';
import type { IntegritySettings } from './config.ts';
import { forgetFaults, noteFaults } from './faults.ts';

export function startIntegrityJobs(
  {
    db,
    log,
    objects,
    redis,
    seals,
    trust,
  }: Pick<Context, 'db' | 'log' | 'objects' | 'redis'> & { readonly seals: Seals; readonly trust: Trust },
  { everyS, fullS, keys }: Pick<IntegritySettings, 'everyS' | 'fullS' | 'keys'>,
): RepeatedJob {
  const stopping = new AbortController();
  const everyMs = everyS * 1000;
  const { signal } = stopping;
  const batches = { db, log, objects, redis, seals, trust };
  const jobs = [
    repeat({ name: 'check of the audit log', everyMs, log, run: openAuditRound({ db, log, keys }, fullS) }),
    repeat({ name: 'check of the newest receipts', everyMs, log, run: () => checkNewest({ db, log, seals }) }),
    repeat({ name: 'check of all receipts', everyMs, log, run: () => checkAll({ db, log, seals, fullS, signal }) }),
    repeat({
      name: 'check of the logs of receipts',
      everyMs,
      log,
      run: openLogRounds({ db, log, seals, trust, fullS, signal }),
    }),
    repeat({ name: 'check of the newest batches', everyMs, log, run: () => checkNewestBatches(batches) }),
    // A round takes its time from the size of the ledger, so the next one need not wait.
    repeat({
      name: 'check of all batches',
      everyMs,
      log,
      run: () => checkBatches({ ...batches, fullS: Math.ceil(everyS), signal }),
    }),
  ];
  return {
    stop: async () => {
      stopping.abort();
      await Promise.all(jobs.map((job) => job.stop()));
    },
  };
}

/** How long a full check rests: this many times what it took, and `fullS` at most. A round through logs rests between its pages, too. */
const restFactor = { audit: 3, log: 9 };

/** Returns what makes rounds through the logs: with each run while they are small, and less often when a round takes longer. */
export function openLogRounds(options: LogCheckOptions): () => Promise<void> {
  let fullS = 0;
  return async () => {
    const from = performance.now();
    if (!(await checkLogs({ ...options, fullS }))) return;
    fullS = Math.min(options.fullS, Math.ceil((restFactor.log * (performance.now() - from)) / 1000));
  };
}

export interface AuditRoundOptions extends Pick<Context, 'db' | 'log'> {
  readonly keys: KeyRing;
}

/**
 * Returns a round of this instance, which checks the audit log by itself. The first round is a full one, and so is each that comes after three times
 * what the last full one took, so that it takes a quarter of one core at most, and after `fullS` in any case.
 */
export function openAuditRound({ db, keys, log }: AuditRoundOptions, fullS: number): () => Promise<void> {
  const check = openAuditCheck(db, keys);
  let nextFullAt = Number.NEGATIVE_INFINITY;
  return async () => {
    // Before both: what either has found again is not mended.
    const [begun] = await db.$queryRaw<{ at: Date }[]>`SELECT clock_timestamp() AS at`;
    await noteFaults({ db, log }, 'audit', await check.newest());
    const from = performance.now();
    if (from < nextFullAt) return;
    await noteFaults({ db, log }, 'audit', await check.full());
    if (begun !== undefined) await forgetFaults(db, 'audit', begun.at);
    await db.$executeRaw`UPDATE integrity_checks SET finished_at = CURRENT_TIMESTAMP WHERE kind = 'audit'`;
    const to = performance.now();
    nextFullAt = to + Math.min(fullS * 1000, restFactor.audit * (to - from));
  };
}
