/**
 * The decision of limits as arithmetic: token buckets and day budgets, drawn on together or not at all.
 * A request takes one token of each, but of the bucket of bytes as many as its body has KiB. `take.lua.ts` is the same
 * decision inside Redis; a property test holds the two together.
 *
 * Tokens are counted in thousandths: what a whole rate per second brings in a millisecond. So nothing is rounded, and the
 * wait that a refusal names is the wait that suffices.
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
}

/** What one request takes of a bucket, tokens: 1 of calls, and as many as its body has KiB of bytes. */
export type Cost = number;

export interface LimitState {
  milliTokens: number;
  /** When `milliTokens` was so, ms. */
  atMs: number;
  /** Days since 1970, UTC, that `used` counts for. */
  day: number;
  used: number;
}

/** What is left of a limit after a decision, as the headers say it. */
export interface QuotaState {
  /** Whole requests that the bucket holds. */
  readonly remaining: number;
  /** How long until the bucket holds what the request takes, ms; 0 if it does already. */
  readonly nextTokenMs: number;
  /** Null: no day budget. */
  readonly remainingDay: number | null;
}

/** One bit for each limit that had no room; those of the n-th limit are shifted by 2n. */
export const lack = { rate: 1, day: 2 } as const;
/** The bits of `rate`, or of `day`, of every limit. */
export const everyLimit = { rate: 0b010101, day: 0b101010 } as const;

/** A share of a rate is a fraction, whose sums may fall short of a token by this much. */
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
  // A clock that steps back over midnight must not open a new day twice.
  if (day > state.day || day < state.day - 1) {
    state.day = day;
    state.used = 0;
  }
  // One that steps back takes no tokens away, and does not hold up those to come.
  const elapsedMs = Math.max(0, nowMs - state.atMs);
  if (rate !== null) state.milliTokens = Math.min(rate.burst * 1000, state.milliTokens + elapsedMs * rate.perS);
  state.atMs = nowMs;
}

const lackOf = ({ perDay, rate }: Limit, { milliTokens, used }: LimitState, cost: Cost): number =>
  (rate !== null && milliTokens < cost * 1000 - rounding ? lack.rate : 0) |
  (perDay !== null && used >= perDay ? lack.day : 0);

/**
 * Takes one request from each state, in place, unless a limit that is not among the bits `shadow` has no room: then from
 * none. A limit in shadow that has no room is left as it is: it never owes anything. Returns the limits without room.
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
    if ((lacks & lack.day) === 0) state.used += 1;
  }
  return lacking;
}

export const quotaStateOf = (
  { perDay, rate }: Limit,
  { milliTokens, used }: Pick<LimitState, 'milliTokens' | 'used'>,
  cost: Cost = 1,
): QuotaState => ({
  remaining: rate === null ? 0 : Math.floor((milliTokens + rounding) / 1000),
  nextTokenMs:
    rate === null || milliTokens >= cost * 1000 - rounding
      ? 0
      : Math.ceil((cost * 1000 - rounding - milliTokens) / rate.perS),
  remainingDay: perDay === null ? null : Math.max(0, perDay - used),
});
