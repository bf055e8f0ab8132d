/**
 * How much processor time the steps of a request take by themselves, without any hop.
 *
 * Invariant: what is measured is processor time of this process, as the median of many short runs, which take turns. A machine that
 * is slow, or has something else to do, makes each step dearer; so the limits grow and shrink with the time of a yardstick, which
 * has its turn as well.
 */
import { defined, elementAt } from '@gw/contract/internal/defined';
import { makeReceipt } from '@gw/receipt-sidecar/internals/receipt/receipt';
import { median } from './load/statistics.ts';
import { finishedCalls } from './receipt-calls.ts';
import { warmKeyCheck } from './warm-key.ts';
import { yardstick, yardstickReferenceUs } from './yardstick.ts';

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
