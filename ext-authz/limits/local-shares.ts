/**
 * What an instance may admit by itself while Redis is away: its share of each limit.
 *
 * Invariant: a share grows by time alone. It is kept through every outage, and while Redis answers it follows what Redis
 * has left, so that neither an outage nor a Redis that comes and goes opens a bucket or a day a second time. What was
 * admitted here is owed to Redis until it has been counted there.
 */
import { advance, fullState, type Limit, type LimitState, type Standing, standingOf, takeTogether } from './bucket.ts';

/** Limits remembered; those that are new longest ago go first. */
const capacity = 50_000;

interface Share {
  readonly state: LimitState;
  owed: Debt | null;
}

/** Requests that were admitted here and that Redis has not counted. */
export interface Debt {
  readonly limit: Limit;
  readonly requests: number;
  /** Of those, the ones of `day`, the latest. */
  readonly requestsOfDay: number;
  readonly day: number;
}

export interface KeyedLimit {
  /** In Redis. */
  readonly key: string;
  readonly limit: Limit;
}

export interface LocalShares {
  /** What Redis had left after a decision of its own. */
  follow(limits: readonly KeyedLimit[], left: readonly Pick<LimitState, 'milliTokens' | 'used'>[], nowMs: number): void;
  /** Decides here. */
  take(
    limits: readonly KeyedLimit[],
    shadow: number,
    nowMs: number,
  ): { readonly lacking: number; readonly standings: readonly Standing[] };
  /** All that is owed. What comes back by `owe` was not counted. */
  collectDebts(): ReadonlyMap<string, Debt>;
  owe(key: string, debt: Debt): void;
}

/** `instances`: how many share the limits. */
export function openLocalShares(instances: number): LocalShares {
  const shares = new Map<string, Share>();
  const indebted = new Set<string>();

  const shareOf = ({ perDay, rate }: Limit): Limit => ({
    rate: rate && { perS: rate.perS / instances, burst: Math.max(1, Math.floor(rate.burst / instances)) },
    perDay: perDay === null ? null : Math.ceil(perDay / instances),
  });

  const open = (key: string, limit: Limit, nowMs: number): Share => {
    const known = shares.get(key);
    if (known) return known;
    const share: Share = { state: fullState(limit, nowMs), owed: null };
    if (shares.size >= capacity) {
      const [oldest = ''] = shares.keys();
      shares.delete(oldest);
      indebted.delete(oldest);
    }
    shares.set(key, share);
    return share;
  };

  const owe = (key: string, debt: Debt): void => {
    const share = shares.get(key);
    if (!share) return;
    share.owed = share.owed ? sum(share.owed, debt) : debt;
    indebted.add(key);
  };

  return {
    follow(limits, left, nowMs) {
      for (const [index, { key, limit }] of limits.entries()) {
        const stands = left[index];
        if (stands === undefined) continue;
        const share = shareOf(limit);
        const { state } = open(key, share, nowMs);
        advance(state, share, nowMs);
        state.milliTokens = Math.min(state.milliTokens, stands.milliTokens / instances);
        if (limit.perDay === null || share.perDay === null) continue;
        const leftOfDay = Math.ceil(Math.max(0, limit.perDay - stands.used) / instances);
        state.used = Math.max(state.used, share.perDay - leftOfDay);
      }
    },

    take(limits, shadow, nowMs) {
      const levels = limits.map(({ key, limit }) => {
        const share = shareOf(limit);
        return { key, whole: limit, limit: share, state: open(key, share, nowMs).state };
      });
      const lacking = takeTogether(levels, shadow, nowMs);
      if ((lacking & ~shadow) === 0) {
        for (const { key, state, whole } of levels)
          owe(key, { limit: whole, requests: 1, requestsOfDay: 1, day: state.day });
      }
      return { lacking, standings: levels.map(({ limit, state }) => standingOf(limit, state)) };
    },

    collectDebts() {
      const debts = new Map<string, Debt>();
      for (const key of indebted) {
        const share = shares.get(key);
        if (!share?.owed) continue;
        debts.set(key, share.owed);
        share.owed = null;
      }
      indebted.clear();
      return debts;
    },

    owe,
  };
}

/** Of two days the later one is told apart: the other is over. */
function sum(before: Debt, added: Debt): Debt {
  const day = Math.max(before.day, added.day);
  const ofDay = (debt: Debt) => (debt.day === day ? debt.requestsOfDay : 0);
  return {
    limit: added.limit,
    requests: before.requests + added.requests,
    requestsOfDay: ofDay(before) + ofDay(added),
    day,
  };
}
