/** Wires the sidecar together. */

import { randomBytes, randomUUID } from 'node:crypto';
import { hostname } from 'node:os';
import { join } from 'node:path';
import { EntrySealer } from '@gw/contract/internal/sealed-entry';
import { serveEnvoy } from '@gw/grpc/server';
import { redisBudgetUse } from '@gw/service/budgets';
import { openCertificates } from '@gw/service/certificates';
import { giveBackDayUnit } from '@gw/service/day-unit';
import { createFaultLog } from '@gw/service/fault-log';
import { serveHealth } from '@gw/service/health';
import { Idempotency, redisClaims } from '@gw/service/idempotency';
import { createLimitMetrics } from '@gw/service/limits/limit-metrics';
import { limitTimes, openLimiter } from '@gw/service/limits/limiter';
import { openLog } from '@gw/service/log';
import { openClassifier } from './admission/classifier.ts';
import { openPolicyEvents } from './admission/policy-events.ts';
import { createPromptMetrics } from './admission/prompt-metrics.ts';
import { RequestReader } from './admission/reader.ts';
import { createScreenMetrics } from './admission/screen-metrics.ts';
import { openAttempts } from './attempts/open-attempts.ts';
import { readAccessLog } from './call/access-log.ts';
import { Call } from './call/call.ts';
import type { CallContext } from './call/call-context.ts';
import { endCalls } from './call/end-calls.ts';
import { warmUp } from './call/warm-up.ts';
import { holdCatalogue } from './catalogue/snapshot.ts';
import type { Config } from './config.ts';
import { createBudgetMetrics } from './guards/budgets/budget-metrics.ts';
import { openBudgets } from './guards/budgets/budgets.ts';
import { Claims } from './guards/idempotency/claims.ts';
import { createIdempotencyMetrics } from './guards/idempotency/metrics.ts';
import { openLeasedLimits } from './guards/leased-limits.ts';
import { redisLeases } from './guards/slots/leases.ts';
import { createSlotMetrics } from './guards/slots/slot-metrics.ts';
import { StreamSlots } from './guards/slots/slots.ts';
import { openTokenLimits } from './guards/token-limits.ts';
import { openSpool } from './ledger/spool.ts';
import { watchDamage } from './ledger/spool-damage.ts';
import { createSpoolMetrics } from './ledger/spool-metrics.ts';
import { openStoreClock } from './ledger/store-clock.ts';
import { openLedgerWriter } from './ledger/writer.ts';
import { openEnds, redisEnds } from './receipt/ends.ts';
import { LiveWindow, tellLive } from './receipt/live.ts';
import { createReceiptMetrics } from './receipt/receipt-metrics.ts';
import { createUsageMetrics } from './receipt/usage-metrics.ts';
import { replyReader } from './reply/reply-reader.ts';
import { shareCalls } from './routing/share-calls.ts';
import { openStores } from './stores.ts';
import { createOverheadMetrics } from './wire/overhead.ts';
import { Room } from './wire/room.ts';
import { openBodyThreads, startFirstThread } from './wire/threads/body-threads.ts';

/** How long the access log can take to say how a call ended. */
const endsWaitMs = 2000;
/** Four of the largest events at once, each of which takes some three times as much memory while it is read. */
const largeEventBytes = 256 * 1024 * 1024;

/** Some 4,000 receipts find room on a full disk. */
const spoolReserveBytes = 16 * 1024 * 1024;

/** Resolves when the sidecar listens, even if Redis is away; until it has a catalogue it is not serving. */
// biome-ignore lint/complexity/noExcessiveLinesPerFunction: it only puts the parts together, in the order in which they need each other.
export async function startSidecar(config: Config) {
  const log = openLog('receipt-sidecar', config.logLevel);
  for (const text of config.ignored) log.warn(text);
  warmUp();
  await startFirstThread();
  const { claims, ground, reader, redis, subscriber, troubles, valkey, writes } = await openStores(config, log);
  const clock = () => performance.now();
  const certificates = await openCertificates({ internal: config.internalTls, log, troubles });
  const { onDamaged, damagedLines } = watchDamage(log);
  const spool = await openSpool(config.spoolDir, hostname(), { onDamaged, reserveBytes: spoolReserveBytes });
  const spoolMetrics = createSpoolMetrics(config.spoolDir);
  const catalogue = holdCatalogue({
    redis: reader,
    subscriber,
    pollMs: 1000,
    file: join(config.spoolDir, 'catalogue.json'),
    key: config.entryKey,
    log,
  });
  const storeClock = openStoreClock(redis);
  const ledger = openLedgerWriter({
    writes,
    redis,
    spool,
    log,
    now: storeClock.now,
    maxStreamLength: config.maxStreamLength,
    keepMs: config.ledgerKeepS * 1000,
  });
  const usageMetrics = createUsageMetrics(config.mostUsageSeries);
  const live = new LiveWindow();
  const overhead = createOverheadMetrics(clock, (ms) => live.overhead(ms));
  const limitsRedis = { ...writes.patient, renew: writes.renew };
  const { instances, replyCipher, replyRoom } = config;
  const limiter = openLimiter({ redis: limitsRedis, now: Date.now, monotonic: clock, instances, log, ...limitTimes });
  const limitMetrics = createLimitMetrics({ log, now: clock, local: limiter.local });
  const receiptMetrics = createReceiptMetrics(ledger.counts, damagedLines);
  const slotMetrics = createSlotMetrics(() => slots);
  const slots = new StreamSlots({
    leases: redisLeases(redis),
    instances,
    newId: randomUUID,
    now: clock,
    metrics: slotMetrics,
    log,
  });
  const stopTelling = tellLive(redis, live, {
    instance: `${hostname()} ${config.listen}`,
    now: storeClock.now,
    streams: () => slots.open,
  });
  const budgetMetrics = createBudgetMetrics(() => budgets.local());
  const budgets = openBudgets({
    use: redisBudgetUse(redis),
    leases: redisLeases(redis),
    instances,
    now: Date.now,
    steady: clock,
    metrics: budgetMetrics,
    log,
  });
  const idempotency = new Idempotency({ claims: redisClaims(claims, replyRoom), cipher: replyCipher, now: clock });
  const idempotencyMetrics = createIdempotencyMetrics();
  const policySpool = await openSpool(join(config.spoolDir, 'policy-events'), hostname(), { onDamaged });
  const policyEvents = openPolicyEvents({ redis, spool: policySpool, log });
  const isPolicyUnusable = () => (catalogue.current()?.policy.unusable ?? null) !== null;
  const screenMetrics = createScreenMetrics({ unstored: policyEvents.counts, isPolicyUnusable });
  const ends = openEnds(endsWaitMs, redisEnds(redis));
  const promptMetrics = createPromptMetrics();
  const faults = createFaultLog(log, clock);
  const threads = openBodyThreads({
    threads: config.threads,
    onError: (reason) => faults.fault('body_thread', reason),
    log,
  });
  const attempts = openAttempts({ redis, subscriber, isShared: config.instances > 1, log, clock });
  const context: CallContext = {
    addresses: config.addresses,
    room: new Room(largeEventBytes),
    catalogue: catalogue.current,
    reader: new RequestReader({
      threads: threads.pool,
      loop: threads.loop,
      events: policyEvents,
      classifier: openClassifier(config.classifier, { metrics: screenMetrics, log, clock }),
      screenMetrics,
      promptMetrics,
      now: Date.now,
      clock,
      newId: randomUUID,
      randomBytes,
      onFault: (error) => faults.fault('prompt_count', error),
    }),
    readReply: replyReader(threads.pool),
    claims: new Claims({
      idempotency,
      giveBack: ({ accountId, keyId }) => giveBackDayUnit(redis, accountId, keyId),
      metrics: idempotencyMetrics,
    }),
    idempotencyMetrics,
    slots,
    tokenLimits: openTokenLimits({ limiter, metrics: limitMetrics, now: Date.now }),
    budgets,
    ...attempts,
    sharing: shareCalls(attempts.underWay),
    ledger,
    sealer: new EntrySealer(config.entryKey),
    metrics: receiptMetrics,
    usageMetrics,
    live,
    ends,
    faults,
    overhead,
    limitsOf: openLeasedLimits({ limiter, metrics: limitMetrics }),
    now: Date.now,
    upstreamTimeoutS: config.upstreamTimeoutS,
    firstByteTimeoutS: config.firstByteTimeoutS,
  };

  const server = await serveEnvoy(
    { ...config, certificates: certificates.internal },
    {
      openProcessor: (call) => new Call(context, call),
      accessLog: (message) =>
        readAccessLog(message, {
          ends,
          failedAttempts: attempts.failedAttempts,
          firstAttempts: attempts.firstAttempts,
          ledger,
          runs: (lease) => slots.runs(lease),
          refused: (status) => live.refused(status),
        }),
      // Without Redis it can go on: the ledger has its spool. Without a catalogue each call ends in an error.
      isServing: () => catalogue.current() !== null,
    },
    (error) => log.error({ err: error }, 'a call failed'),
  );
  let isEnding = false;
  const report = () => ({
    ok: catalogue.current() !== null && !isEnding,
    details: {
      catalogue: catalogue.current() !== null,
      redis: redis.status === 'ready' && valkey.isWell(),
      streams_exact: !slots.local,
      budgets_exact: !budgets.local(),
      limits_exact: !limiter.local(),
      published_rules: !isPolicyUnusable(),
      stream_room: !ledger.counts().full,
      body_turns: threads.inTime(),
      ...certificates.details(),
    },
    degraded: attempts.degraded(),
  });
  const health = await serveHealth({
    part: 'receipt-sidecar',
    listeners: config.health,
    log,
    report,
    troubles,
    register: (registry) => {
      const ofCalls = [receiptMetrics, usageMetrics, overhead, limitMetrics, faults, ground, certificates];
      const ofAttempts = [attempts.health, attempts.notices, attempts.addedFields];
      const ofReading = [screenMetrics, promptMetrics, threads];
      const ofSteps = [spoolMetrics, slotMetrics, budgetMetrics, idempotencyMetrics];
      for (const each of [...ofCalls, ...ofAttempts, ...ofReading, ...ofSteps]) each.register(registry);
    },
  });
  log.info({ listen: config.listen }, 'ready');

  return {
    log,
    drainS: config.drainS,
    stop: async (hurry?: AbortSignal) => {
      isEnding = true;
      await endCalls({ server, instances, drainS: config.drainS, slots, idempotency, ends }, hurry);
      await health.close();
      await stopTelling();
      for (const part of [ground, valkey, spoolMetrics, slots, budgets, catalogue]) part.stop();
      await ledger.stop();
      for (const part of [storeClock, limiter, writes, claims, certificates]) part.stop();
      await policyEvents.stop();
      await threads.pool.stop();
      for (const connection of [redis, subscriber, reader]) connection.disconnect();
    },
  };
}
