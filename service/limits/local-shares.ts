/**
 * Decides what an instance admits by itself while Redis is away: its share of each limit.
 *
 * Invariant: a share grows by time alone. It is kept through every outage, and while Redis answers it follows what Redis
 * has left, so that neither an outage nor a Redis that comes and goes opens a bucket or a day a second time. What was
 * admitted here is owed to Redis until it has been counted there. Both are true of as many limits as are remembered: one that
 * was forgotten begins anew.
 */
import { dayMs } from '@gw/contract/internal/durations';
import {
  advance,
  type Cost,
  fullState,
  type Limit,
  type LimitState,
  lack,
  type QuotaState,
  quotaStateOf,
  takeTogether,
} from './bucket.ts';
import type { KeyedLimit } from './decision.ts';
import type { Debt } from './redis-limits.ts';

/** Limits remembered; those that were used longest ago go first. */
const capacity = 50_000;

type Left = Pick<LimitState, 'milliTokens' | 'used'>;

export interface LocalShares {
  /** What Redis had left after a decision of its own at `decidedMs` of its clock. */
  follow(limits: readonly KeyedLimit[], left: readonly Left[], at: { decidedMs: number; nowMs: number }): void;
  /** Decides here, as `takeTogether` does. */
  take(limits: readonly KeyedLimit[], shadow: number, nowMs: number): ShareDecision;
  /** Returns all that is owed, and forgets it. */
  collectDebts(nowMs: number): ReadonlyMap<string, Debt>;
  /** Takes back a debt that was collected but that Redis could not count. */
  owe(key: string, debt: Debt): void;
  /** Of a request that was admitted here: Redis has counted it after all, at `decidedMs` of its clock. */
  forgive(limits: readonly KeyedLimit[], decidedMs: number): void;
}

export interface ShareDecision {
  readonly lacking: number;
  readonly quotaStates: readonly QuotaState[];
}

interface Share {
  readonly state: LimitState;
  /** Of the limit, as it was last given. */
  part: Limit;
  owed: Debt | null;
}

/** Opens the shares of this instance. `instances` is how many share the limits. */
// biome-ignore lint/complexity/noExcessiveLinesPerFunction: short methods over the same shares and debts.
export function openLocalShares(instances: number): LocalShares {
  const shares = new Map<string, Share>();
  const indebted = new Set<string>();

  // A bucket smaller than what one request takes would never let it in.
  const partOf = ({ perDay, rate }: Limit, cost: Cost): Limit => ({
    rate: rate && { perS: rate.perS / instances, burst: Math.max(cost, Math.floor(rate.burst / instances)) },
    perDay: perDay === null ? null : Math.ceil(perDay / instances),
  });

  const open = ({ cost = 1, key, limit }: KeyedLimit, nowMs: number): Share => {
    const part = partOf(limit, cost);
    const known = shares.get(key);
    if (known) {
      known.part = part;
      shares.delete(key);
      shares.set(key, known);
      return known;
    }
    if (shares.size >= capacity) forgetOldest();
    const share: Share = { state: fullState(part, nowMs), part, owed: null };
    shares.set(key, share);
    return share;
  };
  const forgetOldest = (): void => {
    const [oldest = ''] = shares.keys();
    shares.delete(oldest);
    indebted.delete(oldest);
  };
  const owe = (key: string, debt: Debt): void => {
    const share = shares.get(key);
    if (!share) return;
    share.owed = share.owed ? sum(share.owed, debt) : debt;
    indebted.add(key);
  };

  return {
    owe,

    forgive(limits, decidedMs) {
      for (const { cost = 1, key } of limits) {
        const share = shares.get(key);
        if (!share?.owed) continue;
        const { milliTokens, used, ...owed } = share.owed;
        const isOfDay = owed.day === Math.floor(decidedMs / dayMs);
        share.owed = {
          ...owed,
          milliTokens: Math.max(0, milliTokens - cost * 1000),
          used: isOfDay ? Math.max(0, used - 1) : used,
        };
      }
    },

    follow(limits, left, { decidedMs, nowMs }) {
      for (const [index, keyed] of limits.entries()) {
        const stands = left[index];
        if (stands === undefined) continue;
        const { part, state } = open(keyed, nowMs);
        advance(state, part, nowMs);
        state.milliTokens = Math.min(state.milliTokens, stands.milliTokens / instances);
        if (keyed.limit.perDay === null || part.perDay === null) continue;
        // Decided on another day than the one that has begun here: it says nothing of this one.
        if (Math.floor(decidedMs / dayMs) !== state.day) continue;
        const leftOfDay = Math.ceil(Math.max(0, keyed.limit.perDay - stands.used) / instances);
        state.used = Math.max(state.used, part.perDay - leftOfDay);
      }
    },

    take(limits, shadow, nowMs) {
      const levels = limits.map((keyed) => {
        const { part, state } = open(keyed, nowMs);
        return { ...keyed, whole: keyed.limit, limit: part, state };
      });
      const lacking = takeTogether(levels, shadow, nowMs);
      if ((lacking & ~shadow) === 0) {
        for (const [index, { cost = 1, key, state, whole }] of levels.entries()) {
          // As with Redis: a limit in shadow that had no room owes nothing.
          const lacks = lacking >> (2 * index);
          const milliTokens = lacks & lack.rate ? 0 : cost * 1000;
          owe(key, { limit: whole, milliTokens, used: lacks & lack.day ? 0 : 1, day: state.day });
        }
      }
      return { lacking, quotaStates: levels.map(({ cost, limit, state }) => quotaStateOf(limit, state, cost)) };
    },

    collectDebts(nowMs) {
      const debts = new Map<string, Debt>();
      for (const key of indebted) {
        const share = shares.get(key);
        if (!share?.owed) continue;
        advance(share.state, share.part, nowMs);
        // What has been refilled here meanwhile is owed no more.
        const lacking = Math.max(0, (share.part.rate?.burst ?? 0) * 1000 - share.state.milliTokens);
        debts.set(key, { ...share.owed, milliTokens: Math.min(share.owed.milliTokens, Math.ceil(lacking)) });
        share.owed = null;
      }
      indebted.clear();
      return debts;
    },
  };
}

/** Adds two debts. Of two days only the later one counts, since the other is over. */
function sum(before: Debt, added: Debt): Debt {
  const day = Math.max(before.day, added.day);
  const usedOf = (debt: Debt) => (debt.day === day ? debt.used : 0);
  const milliTokens = before.milliTokens + added.milliTokens;
  return { limit: added.limit, milliTokens, used: usedOf(before) + usedOf(added), day };
}
