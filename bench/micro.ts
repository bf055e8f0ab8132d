/**
 * How much processor time the steps of a request take by themselves, without any hop.
 *
 * Invariant: what is measured is processor time of this process, as the median of many short runs, which take turns. A machine that
 * is slow, or has something else to do, makes each step dearer; so the limits grow and shrink with the time of a yardstick, which
 * has its turn as well.
 */

import { hash, randomBytes } from 'node:crypto';
import { generateApiKey, hashApiKey } from '@gw/contract/internal/api-key';
import { defined, elementAt } from '@gw/contract/internal/defined';
import { makeCheck } from '@gw/ext-authz/internals/check';
import { KeyCache } from '@gw/ext-authz/internals/keys/key-cache';
import { openKeyNotes } from '@gw/ext-authz/internals/keys/key-notes';
import { makeReceipt } from '@gw/receipt-sidecar/internals/receipt/receipt';
import { storedKey } from '@gw/testing/ext-authz/stored-key';
import { median } from './load/statistics.ts';
import { finishedCalls } from './receipt-calls.ts';

/** The sample resembles the work of a call: JSON of a few kilobytes, and its digest. */
const sample = JSON.stringify(
  Array.from({ length: 24 }, (_, at) => ({
    id: `item-${at}`,
    text: 'The same words, again and again. '.repeat(3),
    share: at / 7,
    parts: { first: at, second: null, third: [true, false] },
  })),
);

/** The processor time of the yardstick in µs, on the machine and at the hour that the limits are meant for. */
export const yardstickReferenceUs = 27;

/**
 * Work that no change of ours makes faster or slower: what a limit of a step means on a machine that is slower than the
 * one that it was set on, or busy, is its share of this. Another release of Node may: then the reference is set anew, by
 * what the two take in turns.
 */
export function yardstick(): string {
  return hash('sha256', JSON.stringify(JSON.parse(sample)), 'base64url');
}

/** A fault of the calculation stops whoever measures or documents it. */
const onFault = (error: unknown): never => {
  throw error;
};

const ROUNDS = 21;
/** In batches. */
const WARM_UP = 100;
/** A reading of the clock costs as much as a small step. */
const STEPS_PER_READING = 16;

/** The time that making one receipt may take, µs. */
export const receiptLimitUs = 30;
/** The time that deciding the limits of a call may take besides gRPC, with its Redis command and the reply, µs. */
export const decideLimitUs = 20;
/** The time that an idempotency key may add to a call, with its Redis commands and their replies, µs. */
export const idempotencyLimitUs = 40;
/** The time that checking a call may take besides gRPC when its key is in memory, µs. */
export const verifyLimitUs = 15;

export interface Micro {
  readonly name: string;
  readonly us: number;
  /** On this machine, now. */
  readonly limitUs: number;
}

export interface MicroReport {
  /** How much longer the yardstick takes than on the machine that the limits were set for. */
  readonly slowness: number;
  readonly steps: readonly Micro[];
}

/** Processor time of this process with all its threads, milliseconds. */
export function cpuMs(): number {
  const { system, user } = process.cpuUsage();
  return (user + system) / 1000;
}

/**
 * Microseconds of one run of each step: the median over rounds, in each of which every step runs for `batchMs`. Before, each
 * runs long enough to be compiled, since the compiler's threads count too. A promise is waited for. `now` is a monotonic
 * clock in milliseconds.
 */
export async function timesOf(steps: readonly (() => unknown)[], now: () => number, batchMs = 10): Promise<number[]> {
  const runFor = async (step: () => unknown, ms: number): Promise<number> => {
    const start = now();
    let runs = 0;
    let spent = 0;
    do {
      for (let i = 0; i < STEPS_PER_READING; i++) {
        const result = step();
        if (result instanceof Promise) await result;
      }
      runs += STEPS_PER_READING;
      spent = now() - start;
    } while (spent < ms);
    return (spent * 1000) / runs;
  };
  for (const step of steps) await runFor(step, batchMs * WARM_UP);
  const times = steps.map((): number[] => []);
  for (let round = 0; round < ROUNDS; round++)
    for (const [index, step] of steps.entries()) elementAt(times, index).push(await runFor(step, batchMs));
  return times.map((each) => defined(median(each), 'A median'));
}

export const isExceeded = ({ limitUs, us }: Micro): boolean => us > limitUs;

export interface Step {
  readonly name: string;
  readonly run: () => unknown;
  /** Where the slowness is 1. */
  readonly limitUs: number;
  /** How many calls one run is; the figure is that of one. Default 1. */
  readonly calls?: number;
}

/** `further`: steps that need more than this process. */
export async function microBenchmarks(
  now: () => number,
  batchMs?: number,
  further: readonly Step[] = [],
): Promise<MicroReport> {
  const check = warmKeyCheck();
  // A step that refuses its input would look very fast.
  const areReceipts = finishedCalls.every(
    ([, { identity, outcome }]) => makeReceipt(identity, outcome, onFault).reason === null,
  );
  if (!areReceipts || !(await check())) throw new Error('A step of the benchmark does not take its own example.');
  const steps: Step[] = [
    { name: 'check a call with a key that is in memory', run: check, limitUs: verifyLimitUs },
    ...further,
    ...finishedCalls.map(([name, { identity, outcome }]) => ({
      name: `make a receipt: ${name}`,
      run: () => makeReceipt(identity, outcome, onFault),
      limitUs: receiptLimitUs,
    })),
  ];
  const [yardstickUs = 0, ...times] = await timesOf([yardstick, ...steps.map(({ run }) => run)], now, batchMs);
  const slowness = yardstickUs / yardstickReferenceUs;
  return {
    slowness,
    steps: steps.map(({ calls = 1, limitUs, name }, index) => ({
      name,
      us: elementAt(times, index) / calls,
      limitUs: limitUs * slowness,
    })),
  };
}

/** Makes the check of a call as the gRPC server makes it. It returns whether the call was let in; its first run reads the key from its store. */
function warmKeyCheck(): () => Promise<boolean> {
  const pepper = { version: 1, secret: randomBytes(32) };
  const { plaintext, publicId } = generateApiKey(randomBytes);
  const found = storedKey({
    publicId,
    hash: hashApiKey(plaintext, pepper.secret),
    scopes: ['inference:read', 'inference:write', 'gw:read'],
  });
  const check = makeCheck({
    cache: new KeyCache(
      { find: async () => found },
      { now: () => performance.now(), capacity: 50_000, graceMs: 60_000, admit: () => 'look_up' },
    ),
    peppers: { current: pepper, other: null },
    fits: () => true,
    renew: () => {},
    // Never flushed, so no store is needed.
    notes: openKeyNotes({ redis: undefined as never, now: Date.now }),
    now: Date.now,
    addresses: { baseUrl: '', statusUrl: '', auditEmail: '', securityEmail: '' },
    errors: { note: () => {} },
    admission: { letIn: async () => null },
  });
  const attributes = {
    contextExtensions: { scope: 'inference:write', limit: 'calls', handler: 'sidecar', open_to: 'active' },
    request: { http: { headers: { authorization: `Bearer ${plaintext}` } } },
  };
  return async () => {
    const { deniedResponse, okResponse } = await check({ attributes });
    return !deniedResponse && okResponse !== undefined;
  };
}
