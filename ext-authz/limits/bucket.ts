/**
 * The decision of a limit as arithmetic: a token bucket and a day budget, taken together or not at all.
 * `take.lua` is the same decision inside Redis; a property test holds the two together.
 */

export interface Bucket {
  readonly ratePerS: number;
  readonly burst: number;
  /** null: no day budget. */
  readonly perDay: number | null;
}

export interface BucketState {
  /** Tokens left at `atMs`. */
  tokens: number;
  atMs: number;
  /** Days since 1970, UTC, that `used` counts for. */
  day: number;
  used: number;
}

export interface Decision {
  readonly outcome: 'admitted' | 'rate' | 'day';
  readonly remaining: number;
  /** Until the next token is there, ms; 0 while one is there. */
  readonly nextTokenMs: number;
  readonly remainingDay: number | null;
  readonly untilMidnightMs: number;
}

export const dayMs = 86_400_000;

export const fullBucket = ({ burst }: Bucket, nowMs: number): BucketState => ({
  tokens: burst,
  atMs: nowMs,
  day: Math.floor(nowMs / dayMs),
  used: 0,
});

/** Takes one request from `state`, in place, if both limits allow it. A refused request takes nothing. */
export function take(state: BucketState, bucket: Bucket, nowMs: number): Decision {
  const day = Math.floor(nowMs / dayMs);
  if (state.day !== day) {
    state.day = day;
    state.used = 0;
  }
  // A clock that steps back must not take tokens away.
  const elapsedMs = Math.max(0, nowMs - state.atMs);
  state.tokens = Math.min(bucket.burst, state.tokens + (elapsedMs * bucket.ratePerS) / 1000);
  state.atMs = Math.max(state.atMs, nowMs);

  const daySpent = bucket.perDay !== null && state.used >= bucket.perDay;
  const outcome = daySpent ? 'day' : state.tokens < 1 ? 'rate' : 'admitted';
  if (outcome === 'admitted') {
    state.tokens -= 1;
    state.used += 1;
  }
  return {
    outcome,
    remaining: Math.floor(state.tokens),
    nextTokenMs: state.tokens >= 1 ? 0 : ((1 - state.tokens) * 1000) / bucket.ratePerS,
    remainingDay: bucket.perDay === null ? null : Math.max(0, bucket.perDay - state.used),
    untilMidnightMs: (day + 1) * dayMs - nowMs,
  };
}
