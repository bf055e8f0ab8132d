/**
 * Slices of limits: what an instance takes from Redis in advance for the calls of the next moments, so that not each of them asks.
 *
 * Invariants: a call is let in only by what was taken for it, at most 100 ms before, on the same day. So a day is never overdrawn, and
 * in any time t a bucket lets in at most its burst and what its rate brings in t and 100 ms, and never more than a hundredth of the burst
 * beyond what asking for each call would have let in. The slices of an account are together a hundredth of its bucket at most, on one
 * instance, each a hundredth of that of its key and a ten thousandth of what is left of the day, and are taken only while half of the bucket
 * is left; what of them is not used is given back after 100 ms.
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

const dayOf = (ms: number): number => Math.floor(ms / dayMs);

/** Of one key: what its calls draw on is one object for as long as nothing of it changes. */
interface Held {
  readonly account: string;
  limits: readonly KeyedLimit[];
  taken: TakenInRedis;
  /** When Redis was asked for it. */
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
  /** Calls that the slices of an account are good for together, or are asked for. */
  readonly #ofAccount = new Map<string, number>();
  readonly #tidying = setInterval(() => this.#tidy(), tidyMs).unref();

  constructor(options: SlicesOptions) {
    this.#options = options;
  }

  /** Lets a call in by a slice; null: there is none for it. */
  use(drawn: DrawnLimits): Standing | null {
    if (mostCalls(drawn) < leastCalls) return null;
    const own = this.#count(drawn);
    const sinceMs = Math.floor(this.#options.now() - own.takenAt);
    const { atMs } = own.taken;
    if (own.calls === 0 || sinceMs >= sliceMs || dayOf(atMs + sinceMs) !== dayOf(atMs)) return null;
    own.calls -= 1;
    this.#add(own.account, -1);
    return standingOf(own.limits, own.taken, own.calls, sinceMs);
  }

  /** Asks Redis for a call, and for more if more are expected, which are kept. */
  take(
    drawn: DrawnLimits,
    limits: readonly KeyedLimit[],
    ask: (calls: number) => Promise<TakenInRedis>,
  ): Promise<TakenInRedis> {
    const own = this.#held.get(drawn);
    const calls = own === undefined || own.isTaking ? 1 : this.#expected(drawn, own);
    if (own === undefined || calls < leastCalls) return ask(1);
    const askedAt = this.#options.now();
    const taking = ask(calls);
    own.isTaking = true;
    this.#add(own.account, calls);
    const keep = (taken: TakenInRedis) => {
      own.isTaking = false;
      this.#add(own.account, -calls);
      this.#keep(own, limits, taken, askedAt);
    };
    taking.then(keep, () => {
      own.isTaking = false;
      this.#add(own.account, -calls);
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
    const own = this.#held.get(drawn) ?? { ...unused, account: drawn.levels[0]?.id ?? '', countedSince: at };
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

  /** As many calls as are expected while a slice is held, if the account has room for them. */
  #expected(drawn: DrawnLimits, { account, asked, before }: Held): number {
    const ofAccount = drawn.levels[0]?.limit.rate?.burst ?? 0;
    const room = Math.floor(ofAccount * partOfBucket) - (this.#ofAccount.get(account) ?? 0);
    return Math.min(mostCalls(drawn), room, Math.max(asked, before));
  }

  #add(account: string, calls: number): void {
    const sum = (this.#ofAccount.get(account) ?? 0) + calls;
    if (sum > 0) this.#ofAccount.set(account, sum);
    else this.#ofAccount.delete(account);
  }

  #keep(own: Held, limits: readonly KeyedLimit[], taken: TakenInRedis, takenAt: number): void {
    if (taken.calls === 1) return;
    // One that is over, and that its timer has not come to.
    void this.#end(own);
    Object.assign(own, { limits, taken, takenAt, calls: taken.calls - 1 });
    this.#add(own.account, own.calls);
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
    const { account, calls, limits, taken } = own;
    own.calls = 0;
    this.#add(account, -calls);
    // Fails closed: what cannot be given back is gone.
    if (calls > 0) await this.#options.giveBack(limits, calls, dayOf(taken.atMs)).catch(() => undefined);
  }

  #tidy(): void {
    const before = this.#options.now() - tidyMs;
    for (const [drawn, own] of this.#held)
      if (own.calls === 0 && !own.isTaking && own.countedSince < before) this.#held.delete(drawn);
  }
}

const unused: Omit<Held, 'account' | 'countedSince'> = {
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
  const day = dayOf(atMs);
  const states = limits.map(({ limit }, index) => {
    const { milliTokens = 0, used = 0 } = left[index] ?? {};
    const state: LimitState = { milliTokens: milliTokens + calls * 1000, used: used - calls, atMs, day };
    advance(state, limit, atMs + sinceMs);
    return state;
  });
  return { limits, atMs: atMs + sinceMs, left: states };
}
