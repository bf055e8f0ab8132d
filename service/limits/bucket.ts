/**
 * The arithmetic of limits: a request takes from all its token buckets and day budgets or from none, of each limit its cost there.
 * `take.lua.ts` makes the same decision inside Redis; a property test compares the two.
 *
 * Tokens are counted in thousandths, which is what an integer rate per second adds in a millisecond. So nothing is rounded, and the wait
 * that a refusal names is sufficient.
 */
import { dayMs } from '@gw/contract/internal/durations';

export interface Rate {
  /** Refill, requests per second. */
  readonly perS: number;
  /** Size of the bucket, requests. */
  readonly burst: number;
}

export interface Limit {
  readonly rate: Rate | null;
  /** Requests per UTC day. */
  readonly perDay: number | null;
  /** The bucket falls below zero where a request has used more than it took, so that its rate holds over time. Default: it does not. */
  readonly owes?: boolean;
}

/** How much a request takes from a limit: 1 for calls, the KiB of its body for bytes, the tokens of its prompt and answer. */
export type Cost = number;

export interface LimitState {
  milliTokens: number;
  /** Time of `milliTokens`, ms. */
  atMs: number;
  /** UTC day of `used`, in days since 1970. */
  day: number;
  used: number;
}

/** The rest of a limit after a decision, for the headers. */
export interface QuotaState {
  /** Whole requests left in the bucket. */
  readonly remaining: number;
  /** Time until the bucket has enough for the request, or is full, ms. */
  readonly nextTokenMs: number;
  /** Null: no day budget. */
  readonly remainingDay: number | null;
}

/** Bits for exhausted limits; those of the n-th limit are shifted by 2n. */
export const lack = { rate: 1, day: 2 } as const;
/** The `rate` bits, or the `day` bits, of all limits. */
export const everyLimit = { rate: 0b010101, day: 0b101010 } as const;

/** Tolerance for sums of fractions, which shares of a rate produce. */
const rounding = 1e-6;

export const fullState = ({ rate }: Limit, nowMs: number): LimitState => ({
  milliTokens: (rate?.burst ?? 0) * 1000,
  atMs: nowMs,
  day: Math.floor(nowMs / dayMs),
  used: 0,
});

/** Refills `state` in place up to `nowMs`. */
export function advance(state: LimitState, { rate }: Limit, nowMs: number): void {
  const day = Math.floor(nowMs / dayMs);
  // A clock that steps back over midnight must not start a day twice.
  if (day > state.day || day < state.day - 1) {
    state.day = day;
    state.used = 0;
  }
  // A clock that steps back neither removes tokens nor delays the next ones.
  const elapsedMs = Math.max(0, nowMs - state.atMs);
  if (rate !== null) state.milliTokens = Math.min(rate.burst * 1000, state.milliTokens + elapsedMs * rate.perS);
  state.atMs = nowMs;
}

const lackOf = ({ perDay, rate }: Limit, { milliTokens, used }: LimitState, cost: Cost): number =>
  (rate !== null && milliTokens < cost * 1000 - rounding ? lack.rate : 0) |
  (perDay !== null && used + cost > perDay ? lack.day : 0);

/**
 * Takes one request from each state, in place, unless a limit outside the bits `shadow` is exhausted. An exhausted limit in shadow
 * stays unchanged, so that it never goes into debt. Returns the bits of the exhausted limits.
 */
export function takeTogether(
  levels: readonly { readonly limit: Limit; readonly state: LimitState; readonly cost?: Cost }[],
  shadow: number,
  nowMs: number,
): number {
  let lacking = 0;
  for (const [index, { cost = 1, limit, state }] of levels.entries()) {
    advance(state, limit, nowMs);
    lacking |= lackOf(limit, state, cost) << (2 * index);
  }
  if ((lacking & ~shadow) !== 0) return lacking;
  for (const [index, { cost = 1, limit, state }] of levels.entries()) {
    const lacks = lacking >> (2 * index);
    if (limit.rate !== null && (lacks & lack.rate) === 0)
      state.milliTokens = Math.max(0, state.milliTokens - cost * 1000);
    if ((lacks & lack.day) === 0) state.used += cost;
  }
  return lacking;
}

export const quotaStateOf = (
  { perDay, rate }: Limit,
  { milliTokens, used }: Pick<LimitState, 'milliTokens' | 'used'>,
  cost: Cost = 1,
): QuotaState => ({
  remaining: rate === null ? 0 : Math.max(0, Math.floor((milliTokens + rounding) / 1000)),
  nextTokenMs:
    rate === null
      ? 0
      : Math.max(0, Math.ceil((Math.min(cost, rate.burst) * 1000 - rounding - milliTokens) / rate.perS)),
  remainingDay: perDay === null ? null : Math.max(0, perDay - used),
});
