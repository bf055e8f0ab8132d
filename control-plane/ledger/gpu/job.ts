/**
 * Reads the counters of GPUs after the calls that they served, and gives their receipts a version with measured energy.
 *
 * Invariant: a call is judged once its samples are there, or once they were waited for long enough. A Prometheus server
 * that is away gives no verdict: then the calls wait, for as long as it could still have their samples.
 */
import { dayMs } from '@gw/contract/internal/durations';
import type { Database } from '@gw/prisma/client';
import type { Logger } from '@gw/service/log';
import { nothingCounted } from '../receipts/complete-facts.ts';
import type { Seals } from '../receipts/sealed-rows.ts';
import { type NewVersion, supersede } from '../receipts/supersede.ts';
import type { GpuSettings } from './config.ts';
import type { Measured } from './measure.ts';
import { callOf, type Judged, type MeasureOutcome, measureCalls } from './measure-calls.ts';
import { isRefused, type Prometheus, type PrometheusRefusal } from './prometheus.ts';
import { claimDue, noteRecalculations, type Postponed, postpone, removeWaiting, type WaitingCall } from './queue.ts';
import { verdictOn } from './verdict.ts';

export interface GpuJobOptions {
  readonly db: Database;
  readonly settings: GpuSettings;
  readonly prometheus: Prometheus;
  readonly log: Logger;
  readonly seals: Seals;
  readonly now: () => Date;
  /** Called after each batch, with the number of new versions. */
  readonly onMeasured: (count: number) => void;
}

const batch = 200;
const leaseS = 120;
const longestPauseS = 300;
/** How long Prometheus keeps samples by default, s: 15 days. */
const keptS = (15 * dayMs) / 1000;

/** Returns a round, which works until nothing is due. It rejects if Postgres is away; then the leases run out. */
export function openGpuJob(options: GpuJobOptions): () => Promise<void> {
  const { log, now } = options;
  let failing: string | null = null;
  return async () => {
    for (let claimed = batch; claimed === batch; ) {
      const { calls, count } = await claimDue(options, now(), batch, leaseS);
      claimed = count;
      if (calls.length === 0) continue;
      const outcomes = await measureAll(options, calls);
      const failed = outcomes.find(({ outcome }) => 'refusal' in outcome)?.outcome;
      const refused = failed && 'refusal' in failed ? failed.refusal : null;
      // One line for an outage, not one for each attempt.
      if (refused !== null && failing === null) log.warn(refused, 'the counters of the GPUs could not be read');
      if (refused === null && failing !== null) log.info('the counters of the GPUs are read again');
      failing = refused?.refused ?? null;
      await conclude(options, outcomes);
    }
  };
}

async function measureAll(options: GpuJobOptions, calls: readonly WaitingCall[]): Promise<readonly Judged[]> {
  const judged: Judged[] = [];
  const open = new Map<string, WaitingCall[]>();
  for (const call of calls) open.set(call.deployment, [...(open.get(call.deployment) ?? []), call]);
  const refusal = await clockRefusal(options);
  for (const [deployment, waiting] of open) {
    const counters = options.settings.deployments.get(deployment);
    if (counters === undefined) judged.push(...waiting.map((call) => ({ call, outcome: { waits: true } as const })));
    else if (refusal !== null) judged.push(...waiting.map((call) => ({ call, outcome: { refusal } })));
    else judged.push(...(await measureCalls(options, counters, waiting)));
  }
  return judged;
}

/** Refuses if the clock of Prometheus is further from ours than the margin: calls have our times, samples have its. */
async function clockRefusal({ prometheus, settings }: GpuJobOptions): Promise<PrometheusRefusal | null> {
  if (settings.deployments.size === 0) return null;
  const skewS = await prometheus.skewS();
  if (isRefused(skewS)) return skewS;
  if (Math.abs(skewS) <= settings.marginS) return null;
  return { refused: 'clock_skew', detail: `its clock differs from ours by ${skewS.toFixed(3)} s` };
}

/** Gives each call its verdict, makes the new versions, and removes or postpones the calls. */
async function conclude(
  { db, log, now, onMeasured, seals, settings }: GpuJobOptions,
  judged: readonly Judged[],
): Promise<void> {
  const at = now();
  const settled: string[] = [];
  const later: Postponed[] = [];
  const versions: NewVersion[] = [];
  for (const { call, outcome } of judged) {
    const telemetry = 'telemetry' in outcome ? outcome.telemetry : givenUp(call, outcome, settings, at);
    if (telemetry === null) {
      const pauseS = Math.min(settings.refreshS * call.attempts, longestPauseS);
      later.push({ id: call.id, dueAt: new Date(at.getTime() + pauseS * 1000) });
      continue;
    }
    const verdict = verdictOn(call, telemetry, at);
    if (verdict === 'settled') settled.push(call.id);
    else versions.push(verdict);
  }
  const count = await db.$transaction(async (tx) => {
    const made = await supersede(tx, versions, seals);
    // The others have another newest version by now, and keep their lease: the next attempt starts from that one.
    const recalculable = versions.filter(
      ({ current, numbers }) => made.has(current.id) && numbers.recalculable === true,
    );
    await noteRecalculations(
      tx,
      recalculable.map(({ current }) => current),
    );
    await removeWaiting(tx, [...settled, ...made]);
    return made.size;
  });
  if (count > 0) {
    onMeasured(count);
    log.info({ receipts: count }, 'measured receipts by their GPU counters');
  }
  await postpone(db, later);
}

const ageS = (call: WaitingCall, at: Date): number => at.getTime() / 1000 - callOf(call).endS;

/** Returns null while waiting can still help. A refusal is waited out for 15 days, missing samples for `giveUpS`. */
function givenUp(call: WaitingCall, outcome: MeasureOutcome, { giveUpS }: GpuSettings, at: Date): Measured | null {
  const limitS = 'refusal' in outcome ? keptS : giveUpS;
  return ageS(call, at) > limitS ? nothingCounted : null;
}
