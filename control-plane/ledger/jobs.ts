/**
 * Background jobs of the ledger. They run in every instance at the same time, and each is safe to run in several.
 *
 * Plain timers: every job here is one idempotent step that takes its own lock in its store and needs neither history
 * nor retries of its own. Only the grid sources, which belong to others and have limits, and long evidence packs, which take
 * minutes, go through a job queue.
 */

import { dayMs } from '@gw/contract/internal/durations';
import type { PackKey } from '@gw/evidence/seal';
import { annualReading } from '@gw/methodology/grid-annual';
import { ensurePartitions } from '@gw/prisma/partitions';
import type { FaultLog } from '@gw/service/fault-log';
import type { Redis } from 'ioredis';
import type { CatalogueView } from '../catalogue/snapshot/keeper.ts';
import type { Context } from '../shared/context.ts';
import { allJobs, type RepeatedJob, repeat } from '../shared/repeat.ts';
import type { Vault } from '../shared/vault.ts';
import { startArchive } from './archive/job.ts';
import { startRebasing } from './budgets/rebase.ts';
import { startDeliveries } from './budgets/webhooks/deliver.ts';
import type { DeliveryMetrics } from './budgets/webhooks/delivery-metrics.ts';
import { startEvidenceJobs } from './evidence/builds/jobs.ts';
import type { PackSettings } from './evidence/config.ts';
import type { GpuSettings } from './gpu/config.ts';
import { openGpuJob } from './gpu/job.ts';
import { prometheusAt } from './gpu/prometheus.ts';
import type { GridSettings } from './grid/config.ts';
import { startGridJobs } from './grid/jobs.ts';
import { publishGrid } from './grid/publish.ts';
import { adaptersOf, createRefresh } from './grid/refresh.ts';
import { openLook } from './ground/ground.ts';
import type { IntegritySettings } from './integrity/config.ts';
import { startIntegrityJobs } from './integrity/jobs.ts';
import { startReceiptLog } from './log/append.ts';
import { startCosigning } from './log/cosign.ts';
import { startHeads } from './log/heads.ts';
import { trustIn } from './log/sign.ts';
import type { LogWitness } from './log/witnesses.ts';
import type { Entries } from './receipts/entries.ts';
import { startIngester } from './receipts/ingest.ts';
import type { Seals } from './receipts/sealed-rows.ts';
import { openSweeper } from './receipts/sweep.ts';
import { startVersionJobs } from './receipts/version-jobs.ts';
import type { VersionMetrics } from './receipts/version-metrics.ts';
import { finishErasures } from './retention/erase.ts';
import { heldAccounts } from './retention/holds.ts';
import { startRetention } from './retention/job.ts';
import { retentionOf } from './retention/policy.ts';
import { startUsageSums } from './usage/job.ts';
import { startWitnessJob } from './witness/job.ts';

interface JobServices {
  readonly deliveryMetrics: DeliveryMetrics;
  readonly entries: Entries;
  /** Signs checkpoints of the log of receipts. */
  readonly evidenceKey: PackKey;
  readonly faults: FaultLog;
  readonly packs: PackSettings;
  readonly logWitnesses: readonly LogWitness[];
  readonly seals: Seals;
  readonly versionMetrics: VersionMetrics;
  /** Opens the secrets of webhooks. */
  readonly vault: Vault | null;
}

export interface JobOptions {
  readonly catalogue: CatalogueView;
  /** The name under which this instance reads the stream; unique among all instances. */
  readonly consumer: string;
  readonly blockingRedis: Redis;
  readonly redisUrl: string;
  readonly grid: GridSettings;
  readonly gpu: GpuSettings;
  readonly integrity: IntegritySettings;
}

export function startJobs(
  context: Context,
  services: JobServices,
  { blockingRedis, catalogue, consumer, redisUrl, grid, gpu, integrity }: JobOptions,
): RepeatedJob {
  const { addresses, db, guard, redis, log, now } = context;
  const {
    deliveryMetrics,
    entries,
    evidenceKey: key,
    faults,
    logWitnesses: witnesses,
    packs,
    seals,
    vault,
    versionMetrics,
  } = services;
  const jobs: RepeatedJob[] = [
    repeat({ name: 'unattended receipts', everyMs: 5000, log, run: openSweeper({ redis, log, entries }) }),
    dailyPartitions(context),
    startRetention(context),
    repeat({ name: 'erasures', everyMs: 60_000, log, run: () => finishErasures(context) }),
    startIngester({ db, redis: blockingRedis, log, consumer, seals, entries }),
    startVersionJobs(context, { catalogue, faults, seals, versionMetrics, grid }),
    startIntegrityJobs({ db, log, objects: context.objects, redis, seals, trust: trustIn(key) }, integrity),
    startWitnessJob({ db, redis, log, keys: integrity.witnessKeys }),
    startUsageSums({ db, log }),
    startRebasing(context),
    startDeliveries({ ...context, vault, metrics: deliveryMetrics }),
    startReceiptLog({ addresses, db, key, log, now, seals }),
    ...(witnesses.length > 0 ? [startCosigning({ db, guard, log, now, witnesses })] : []),
    startArchive({
      ...context,
      key,
      seals,
      held: heldAccounts,
      kept: (of) => retentionOf(of, 'receipts'),
      everyS: integrity.everyS,
      fullS: integrity.fullS,
    }),
    startHeads({ db, key, log, now, redis, seals }),
    ...(packs.builds > 0
      ? [startEvidenceJobs({ ...context, key, limits: packs, seals, redisUrl, concurrency: packs.builds })]
      : []),
    // Even without any source: it takes out what an earlier configuration has published.
    repeat({
      name: 'grid choice',
      everyMs: 5000,
      log,
      run: () => publishGrid({ db, sources: grid.sources, annualReading, now }),
    }),
    gpuCounters(context, services, gpu),
    ...(grid.sources.length > 0 ? [gridSources(context, grid, redisUrl)] : []),
  ];
  return allJobs(jobs);
}

/**
 * Looks for a Postgres that went back, in each instance, whatever keys it was given: it seals nothing, and the copy of the key generation, which
 * every instance writes, must not pass over what was lost before there is an alarm.
 */
export const startGroundLook = ({ db, log, redis }: Context): RepeatedJob =>
  repeat({ name: 'heartbeat of Postgres', everyMs: 1000, log, run: openLook({ db, redis, log }) });

/** Runs even if no counters are configured, since a call that was promised a measurement has to get its verdict. */
function gpuCounters(
  { db, guard, log, now }: Context,
  { seals, versionMetrics }: Pick<JobServices, 'seals' | 'versionMetrics'>,
  settings: GpuSettings,
): RepeatedJob {
  const http = { guard, now, timeoutMs: 10_000, maxBytes: 20 * 1024 * 1024 };
  const prometheus = prometheusAt(http, settings.prometheus);
  const onMeasured = (count: number): void => versionMetrics.made('measured', count);
  const run = openGpuJob({ db, settings, prometheus, log, seals, now, onMeasured });
  return repeat({ name: 'GPU counters', everyMs: settings.refreshS * 1000, log, run });
}

function gridSources({ db, guard, redis, log, now }: Context, grid: GridSettings, redisUrl: string): RepeatedJob {
  const adapters = adaptersOf(grid, { guard, now, timeoutMs: 8000, maxBytes: 5 * 1024 * 1024 });
  const refresh = createRefresh({ db, redis, adapters, log });
  const started = startGridJobs({ redisUrl, sources: grid.sources, refreshMs: grid.refreshMs, refresh, log });
  return { stop: async () => (await started).stop() };
}

/** Makes the partitions once a day, and tries every minute until it succeeds. */
function dailyPartitions({ db, log, now }: Context): RepeatedJob {
  let madeOn = -1;
  return repeat({
    name: 'partitions',
    everyMs: 60_000,
    log,
    run: async () => {
      const today = Math.floor(now().getTime() / dayMs);
      if (today === madeOn) return;
      const made = await ensurePartitions(db, now());
      if (made > 0) log.info({ made }, 'made partitions for receipts');
      madeOn = today;
    },
  });
}
