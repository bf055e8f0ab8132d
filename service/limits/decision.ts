/** Decisions about the limits of a call, and the keys of limits in Redis. */
import { elementAt } from '@gw/contract/internal/defined';
import { dayMs } from '@gw/contract/internal/durations';
import { limitKey } from '@gw/contract/internal/redis';
import { type Cost, everyLimit, type Limit, type LimitState, type QuotaState, quotaStateOf } from './bucket.ts';
import type { DrawnLimits, Level } from './drawn-limits.ts';

export interface Decision {
  readonly admitted: boolean;
  /** Bits of the exhausted limits (`lack`), including those in shadow. */
  readonly lacking: number;
  /** State after the decision of each level, then of the body. */
  readonly quotaStates: readonly QuotaState[];
  readonly untilMidnightMs: number;
}

export interface KeyedLimit {
  /** Redis key. */
  readonly key: string;
  readonly limit: Limit;
  /** Default: 1. */
  readonly cost?: Cost;
}

export interface TakenInRedis {
  /** Bits of the exhausted limits. */
  readonly lacking: number;
  /** Time of Redis. */
  readonly atMs: number;
  readonly left: readonly Pick<LimitState, 'milliTokens' | 'used'>[];
}

const keyOf = (accountId: string, kind: string, { id, of }: Level): string =>
  limitKey(accountId, of === 'account' ? kind : `${kind}:${id}`);

export function keyedLimits(accountId: string, kind: string, { body, cost = 1, levels }: DrawnLimits): KeyedLimit[] {
  const limits = levels.map((level): KeyedLimit => ({ key: keyOf(accountId, kind, level), limit: level.limit, cost }));
  // `bytes` cannot be a key id, which has 12 characters.
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

export const decisionOfRedis = (limits: readonly KeyedLimit[], shadow: number, taken: TakenInRedis): Decision => {
  const { atMs, lacking, left } = taken;
  const quotaStates = limits.map(({ cost, limit }, index) => quotaStateOf(limit, elementAt(left, index), cost));
  return decisionOf(lacking, shadow, quotaStates, atMs);
};
