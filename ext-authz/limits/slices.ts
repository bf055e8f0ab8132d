/**
 * Slices of limits: what an instance takes from Redis in advance for the calls of the next moments, so that not each of them asks.
 *
 * Invariants: a call is let in only by what was taken for it, so no limit is ever overdrawn, whoever else takes from it and whatever
 * dies. A slice is small (a hundredth of the bucket, a ten thousandth of what is left of the day) and is taken only while half of the
 * bucket is left; what of it is not used within 100 ms is given back. So a call of another instance can be refused for it only where
 * half of a bucket is emptied in that time, and an instance that is killed takes at most one slice of the day with it.
 */
import { dayMs } from '@gw/contract/internal/durations';
import { advance, type LimitState } from './bucket.ts';
import type { DrawnLimits } from './drawn-limits.ts';
import type { KeyedLimit } from './local-shares.ts';
import type { TakenInRedis } from './redis-limits.ts';

/** How long a slice is held, ms. */
export const sliceMs = 100;
const partOfBucket = 1 / 100;
/** A smaller one would save less than it costs to keep. */
const leastCalls = 4;

/** What is left of each limit, as if every call had asked by itself, and when that is, by the clock of Redis. */
export interface Standing extends Pick<TakenInRedis, 'atMs' | 'left'> {
  readonly limits: readonly KeyedLimit[];
}

export interface SlicesOptions {
  /** Monotonic, ms. */
  readonly now: () => number;
  /** Puts calls that were not made back into each limit, of the day on which they were taken. */
  readonly giveBack: (limits: readonly KeyedLimit[], calls: number, day: number) => Promise<unknown>;
}

/** Of one key: what its calls draw on is one object for as long as nothing of it changes. */
interface Held {
  limits: readonly KeyedLimit[];
  taken: TakenInRedis;
  takenAt: number;
  /** Calls that it is good for yet. */
  calls: number;
  /** Whether Redis is asked for more. What comes meanwhile asks for itself alone. */
  isTaking: boolean;
  timer: NodeJS.Timeout | null;
  /** Calls since `countedSince`, and in the time of a slice before that: as many are expected. */
  asked: number;
  before: number;
  countedSince: number;
}

const nothing: TakenInRedis = { lacking: 0, atMs: 0, left: [], calls: 0 };
/** Keys that nobody has called with for a while are forgotten this often, ms. */
const tidyMs = 1000;

export class Slices {
  readonly #options: SlicesOptions;
  readonly #held = new Map<DrawnLimits, Held>();
  readonly #tidying = setInterval(() => this.#tidy(), tidyMs).unref();

  constructor(options: SlicesOptions) {
    this.#options = options;
  }

  /** Lets a call in by a slice; null: there is none for it. */
  use(drawn: DrawnLimits): Standing | null {
    if (mostCalls(drawn) < leastCalls) return null;
    const own = this.#count(drawn);
    const at = this.#options.now();
    if (own.calls === 0 || at - own.takenAt >= sliceMs) return null;
    own.calls -= 1;
    return standingOf(own.limits, own.taken, own.calls, Math.floor(at - own.takenAt));
  }

  /** Asks Redis for a call, and for more if more are expected, which are kept. */
  take(
    drawn: DrawnLimits,
    limits: readonly KeyedLimit[],
    ask: (calls: number) => Promise<TakenInRedis>,
  ): Promise<TakenInRedis> {
    const own = this.#held.get(drawn);
    const calls = own && !own.isTaking ? Math.min(mostCalls(drawn), Math.max(own.asked, own.before)) : 1;
    if (own === undefined || calls < leastCalls) return ask(1);
    const taking = ask(calls);
    own.isTaking = true;
    const keep = (taken: TakenInRedis) => this.#keep(own, limits, taken);
    taking.then(keep, () => {
      own.isTaking = false;
    });
    return taking;
  }

  /** Gives back all slices. */
  async stop(): Promise<void> {
    clearInterval(this.#tidying);
    const all = [...this.#held.values()];
    this.#held.clear();
    for (const { timer } of all) clearTimeout(timer ?? undefined);
    await Promise.all(all.map((own) => this.#end(own)));
  }

  #count(drawn: DrawnLimits): Held {
    const at = this.#options.now();
    const own = this.#held.get(drawn) ?? { ...unused, countedSince: at };
    this.#held.set(drawn, own);
    const passed = at - own.countedSince;
    if (passed >= sliceMs) {
      own.before = passed < 2 * sliceMs ? own.asked : 0;
      own.asked = 0;
      own.countedSince = at;
    }
    own.asked += 1;
    return own;
  }

  #keep(own: Held, limits: readonly KeyedLimit[], taken: TakenInRedis): void {
    own.isTaking = false;
    if (taken.calls === 1) return;
    Object.assign(own, { limits, taken, takenAt: this.#options.now(), calls: taken.calls - 1 });
    if (own.timer === null) this.#endIn(own, sliceMs);
  }

  #endIn(own: Held, ms: number): void {
    own.timer = setTimeout(() => {
      own.timer = null;
      const leftMs = own.takenAt + sliceMs - this.#options.now();
      if (own.calls === 0) return;
      if (leftMs > 0) this.#endIn(own, Math.ceil(leftMs));
      else void this.#end(own);
    }, ms).unref();
  }

  async #end(own: Held): Promise<void> {
    const { calls, limits, taken } = own;
    own.calls = 0;
    // Fails closed: what cannot be given back is gone.
    if (calls > 0) await this.#options.giveBack(limits, calls, Math.floor(taken.atMs / dayMs)).catch(() => undefined);
  }

  #tidy(): void {
    const before = this.#options.now() - tidyMs;
    for (const [drawn, own] of this.#held)
      if (own.calls === 0 && !own.isTaking && own.countedSince < before) this.#held.delete(drawn);
  }
}

const unused: Omit<Held, 'countedSince'> = {
  ...{ limits: [], taken: nothing, takenAt: 0, calls: 0, isTaking: false, timer: null },
  ...{ asked: 0, before: 0 },
};

/** How large a slice can be; a body that counts, and a shadow, are decided by Redis alone. */
function mostCalls({ body, levels, shadow }: DrawnLimits): number {
  if (body !== null || shadow.length > 0) return 0;
  let most = Number.POSITIVE_INFINITY;
  for (const { limit } of levels) if (limit.rate) most = Math.min(most, Math.floor(limit.rate.burst * partOfBucket));
  return Number.isFinite(most) ? most : 0;
}

/** What Redis would say if each call had asked by itself: `calls` of those that it gave are unused, `sinceMs` later. */
export function standingOf(
  limits: readonly KeyedLimit[],
  { atMs, left }: Pick<TakenInRedis, 'atMs' | 'left'>,
  calls: number,
  sinceMs = 0,
): Standing {
  if (calls === 0 && sinceMs === 0) return { limits, atMs, left };
  const day = Math.floor(atMs / dayMs);
  const states = limits.map(({ limit }, index) => {
    const { milliTokens = 0, used = 0 } = left[index] ?? {};
    const state: LimitState = { milliTokens: milliTokens + calls * 1000, used: used - calls, atMs, day };
    advance(state, limit, atMs + sinceMs);
    return state;
  });
  return { limits, atMs: atMs + sinceMs, left: states };
}
