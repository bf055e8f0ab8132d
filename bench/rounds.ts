/**
 * The measurements, in turns: each round measures every scenario at every target, so that a machine that becomes slower
 * or busier meanwhile changes all of them alike and the ratios stay.
 */

import { defined } from '@gw/contract/internal/defined';
import { type ApiModels, type ApiScenario, apiCall, apiScenarios } from './load/apis.ts';
import { replyLoad } from './load/reply-load.ts';
import { streamLoad } from './load/stream-load.ts';
import { jsonCall, type Load, streamCall, type Target } from './load/target.ts';
import { type Used, usedBy } from './processes.ts';

const TOKENS_PER_SECOND = 50;
export const STREAM_TOKENS = 20;
export const STREAMS = 32;
/** Each target is warmed up before anything is measured: a Node service costs twice as much in its first few thousand calls. */
export const leastWarmUpSeconds = 10;
/** The load goes on behind them while a slice is still faster than the one before, but not for ever. */
const warmUpSlices = { least: 4, most: 12 };

/**
 * `idle` asks nothing: what the parts use then is not caused by requests. `stream` is paced; the provider sends the whole of a
 * `stream-at-once` in one piece.
 */
export const scenarios = ['idle', 'json-1', 'json-32', 'stream-at-once', 'stream'] as const;
export type Scenario = (typeof scenarios)[number];

export interface Sample {
  readonly round: number;
  readonly target: Target['name'];
  readonly scenario: Scenario | ApiScenario['name'];
  readonly load: Load;
  /** Over which the processor time was counted: the load and the work that was put off. */
  readonly elapsedS: number;
  /** Processor time of each part of the target in this measurement. */
  readonly cpuUs: Readonly<Record<string, number>>;
}

export interface Bench {
  readonly targets: readonly Target[];
  readonly model: string;
  /** Absent: the other APIs are not measured. */
  readonly apiModels?: ApiModels;
  readonly seconds: number;
  readonly rounds: number;
  /** The least. Default 10. */
  readonly warmUpSeconds?: number;
  readonly progress: (line: string) => void;
  readonly signal?: AbortSignal;
}

async function idleLoad(seconds: number): Promise<Load> {
  await pause(seconds * 1000);
  return { requests: 0, errors: 0, durationS: seconds, p50Ms: null, p99Ms: null, events: 0 };
}

function generate(bench: Bench, target: Target, scenario: Scenario | ApiScenario, seconds: number): Promise<Load> {
  const { apiModels, model } = bench;
  if (typeof scenario === 'object')
    return replyLoad(apiCall(target, scenario, defined(apiModels, 'The models')), STREAMS, seconds);
  switch (scenario) {
    case 'idle':
      return idleLoad(seconds);
    case 'json-1':
      return replyLoad(jsonCall(target, model), 1, seconds);
    case 'json-32':
      return replyLoad(jsonCall(target, model), 32, seconds);
    case 'stream-at-once':
      return replyLoad(streamCall(target, model, STREAM_TOKENS, 0), STREAMS, seconds);
    case 'stream':
      return streamLoad(streamCall(target, model, STREAM_TOKENS, TOKENS_PER_SECOND), STREAMS, seconds);
  }
}

const totalUs = (used: Readonly<Record<string, Used>>): number =>
  Object.values(used).reduce((sum, { cpuUs }) => sum + cpuUs, 0);

const pause = (ms: number): Promise<void> => new Promise((resolve) => setTimeout(resolve, ms));

/**
 * Waits, for at most three seconds, until the target has done what it puts off, such as writing receipts: that work
 * belongs to its own requests and may not slow the next target down.
 */
async function settle(target: Target): Promise<void> {
  const intervalMs = 250;
  for (let left = 12, before = totalUs(usedBy(target.pids())); left > 0; left--) {
    await pause(intervalMs);
    const now = totalUs(usedBy(target.pids()));
    if (now - before < intervalMs * 1000 * 0.1) return;
    before = now;
  }
}

async function measure(bench: Bench, round: number, target: Target, scenario: Scenario | ApiScenario): Promise<Sample> {
  const pids = target.pids();
  const started = performance.now();
  const before = usedBy(pids);
  const load = await generate(bench, target, scenario, bench.seconds);
  await settle(target);
  const pidsAfter = target.pids();
  const after = usedBy(pidsAfter);
  const elapsedS = (performance.now() - started) / 1000;
  const cpuUs: Record<string, number> = {};
  for (const [part, pid] of Object.entries(pidsAfter)) {
    // A restarted part makes the figures of this round worthless.
    if (pids[part] !== pid) throw new Error(`${part} of ${target.name} ended while it was measured.`);
    cpuUs[part] = defined(after[part], part).cpuUs - defined(before[part], part).cpuUs;
  }
  const name = typeof scenario === 'object' ? scenario.name : scenario;
  return { round, target: target.name, scenario: name, load, elapsedS, cpuUs };
}

/** One call to each target, which has to be answered: a benchmark of error replies would be worth nothing. */
async function probe(bench: Bench, target: Target): Promise<void> {
  const { url, headers, body } = jsonCall(target, bench.model);
  const reply = await fetch(url, { method: 'POST', headers, body, signal: AbortSignal.timeout(10_000) });
  const text = await reply.text();
  if (reply.status !== 200) throw new Error(`${target.name} answers ${reply.status}: ${text.slice(0, 500)}`);
}

/**
 * Node compiles what is called often while it runs, and a service is several times as fast after thousands of calls as
 * at its first: so the load goes on for a time, and then until it is hardly answered faster any more. On a busy machine
 * a slice may be slower than the one before although the service is not warm yet, hence the time.
 */
async function warmUp(bench: Bench, target: Target): Promise<void> {
  const sliceSeconds = (bench.warmUpSeconds ?? leastWarmUpSeconds) / warmUpSlices.least;
  let before = 0;
  for (let slice = 1; slice <= warmUpSlices.most; slice++) {
    bench.signal?.throwIfAborted();
    const { requests, durationS } = await generate(bench, target, 'json-32', sliceSeconds);
    const perSecond = requests / durationS;
    bench.progress(`warming up: ${target.name}, ${Math.round(perSecond)} requests/s`);
    if (slice >= warmUpSlices.least && perSecond < before * 1.05) break;
    before = perSecond;
  }
  for (const scenario of ['stream-at-once', 'stream', ...apisAt(bench, target)] as const)
    await generate(bench, target, scenario, sliceSeconds);
  await settle(target);
}

const apisAt = ({ apiModels }: Bench, { name }: Target): readonly ApiScenario[] =>
  name === 'gateway' && apiModels !== undefined ? apiScenarios : [];

/** The order changes by round, so that no target always comes after the same one. */
export function rotate<T>(list: readonly T[], by: number): T[] {
  const start = list.length === 0 ? 0 : by % list.length;
  return [...list.slice(start), ...list.slice(0, start)];
}

export async function runRounds(bench: Bench): Promise<Sample[]> {
  for (const target of bench.targets) await probe(bench, target);
  for (const target of bench.targets) await warmUp(bench, target);
  const samples: Sample[] = [];
  for (let round = 0; round < bench.rounds; round++) {
    for (const scenario of scenarios) {
      for (const target of rotate(bench.targets, round)) {
        bench.signal?.throwIfAborted();
        bench.progress(`round ${round + 1} of ${bench.rounds}: ${scenario}, ${target.name}`);
        samples.push(await measure(bench, round, target, scenario));
      }
    }
    for (const target of bench.targets)
      for (const scenario of rotate(apisAt(bench, target), round)) {
        bench.signal?.throwIfAborted();
        bench.progress(`round ${round + 1} of ${bench.rounds}: ${scenario.name}, ${target.name}`);
        samples.push(await measure(bench, round, target, scenario));
      }
  }
  return samples;
}
