/** A decision about the limits of a call, and where in Redis they are. */
import { dayMs } from '@gw/contract/internal/durations';
import { limitKey } from '@gw/contract/internal/redis';
import { type Cost, everyLimit, type Limit, type LimitState, type QuotaState, quotaStateOf } from './bucket.ts';
import type { DrawnLimits, Level } from './drawn-limits.ts';

export interface Decision {
  readonly admitted: boolean;
  /** Bits of the limits that had no room (`lack`): those that refused, or would have. */
  readonly lacking: number;
  /** One for each level, and after these one of the body, after the decision. */
  readonly quotaStates: readonly QuotaState[];
  readonly untilMidnightMs: number;
}

export interface KeyedLimit {
  /** In Redis. */
  readonly key: string;
  readonly limit: Limit;
  /** Absent: one. Only the last of the limits of a request may have one. */
  readonly cost?: Cost;
}

export interface TakenInRedis {
  /** Bits of the limits that had no room. */
  readonly lacking: number;
  /** By the clock of Redis. */
  readonly atMs: number;
  readonly left: readonly Pick<LimitState, 'milliTokens' | 'used'>[];
}

/** The keys of one account share a hash tag, so that one script may take them all. */
const keyOf = (accountId: string, kind: string, { id, of }: Level): string =>
  limitKey(accountId, of === 'account' ? kind : `${kind}:${id}`);

export function keyedLimits(accountId: string, kind: string, { body, levels }: DrawnLimits): KeyedLimit[] {
  const limits: KeyedLimit[] = levels.map((level) => ({ key: keyOf(accountId, kind, level), limit: level.limit }));
  // No key has an id of five letters.
  if (body) limits.push({ key: limitKey(accountId, `${kind}:bytes`), limit: body.limit, cost: body.kib });
  return limits;
}

export const shadowBits = ({ shadow }: Pick<DrawnLimits, 'shadow'>): number =>
  (shadow.includes('rate') ? everyLimit.rate : 0) | (shadow.includes('day') ? everyLimit.day : 0);

export const decisionOf = (
  lacking: number,
  shadow: number,
  quotaStates: readonly QuotaState[],
  nowMs: number,
): Decision => ({
  admitted: (lacking & ~shadow) === 0,
  lacking,
  quotaStates,
  untilMidnightMs: dayMs - (nowMs % dayMs),
});

const nothing = { milliTokens: 0, used: 0 };

/** What Redis has decided. */
export const decisionOfRedis = (limits: readonly KeyedLimit[], shadow: number, taken: TakenInRedis): Decision => {
  const { atMs, lacking, left } = taken;
  const quotaStates = limits.map(({ cost, limit }, index) => quotaStateOf(limit, left[index] ?? nothing, cost));
  return decisionOf(lacking, shadow, quotaStates, atMs);
};
