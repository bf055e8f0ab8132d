/**
 * An instance's share of each limit, for decisions while Redis is unavailable.
 *
 * Invariant: only time refills a share, and calls that used less than they took. It survives outages, and follows the state in Redis otherwise, so that neither an outage nor a
 * flapping Redis refills a bucket or a day a second time. Calls admitted here are owed to Redis until it has counted them. This holds for
 * the limits that are remembered; a forgotten one starts over.
 */
import { dayMs } from '@gw/contract/internal/durations';
import { dropOldest } from '../drop-oldest.ts';
import {
  advance,
  type Cost,
  fullState,
  type Limit,
  type LimitState,
  lack,
  quotaStateOf,
  takeTogether,
} from './bucket.ts';
import type { Decision, KeyedLimit } from './decision.ts';
import type { Debt } from './redis-limits.ts';

/** The most limits remembered; the least recently used are dropped. */
const capacity = 50_000;

type Left = Pick<LimitState, 'milliTokens' | 'used'>;

export interface LocalShares {
  /** Follows the state in Redis after its decision at `decidedMs` of its clock. */
  follow(limits: readonly KeyedLimit[], left: readonly Left[], at: { decidedMs: number; nowMs: number }): void;
  /** Decides here, as `takeTogether` does. */
  take(limits: readonly KeyedLimit[], shadow: number, nowMs: number): Pick<Decision, 'lacking' | 'quotaStates'>;
  /** Returns and clears all debts. */
  collectDebts(nowMs: number): ReadonlyMap<string, Debt>;
  /** Restores a debt that Redis could not count. */
  owe(key: string, debt: Debt): void;
  /** Takes from a share what a call used beyond what it took, and owes it to Redis; a negative debt gives back. */
  correct(key: string, debt: Debt, nowMs: number): void;
  /** Cancels the debt of a request that Redis has counted after all, at `decidedMs` of its clock. */
  forgive(limits: readonly KeyedLimit[], decidedMs: number): void;
}

interface LocalShare {
  readonly state: LimitState;
  /** The share of the limit as last given. */
  part: Limit;
  owed: Debt | null;
}

/** `instances` is how many share the limits. */
// biome-ignore lint/complexity/noExcessiveLinesPerFunction: short methods over the same shares and debts.
export function openLocalShares(instances: number): LocalShares {
  const shares = new Map<string, LocalShare>();
  const indebted = new Set<string>();

  // A share smaller than the cost of a request would never admit it; one larger than the limit would admit what never fits.
  const shareOf = (whole: number, cost: Cost): number => Math.min(whole, Math.max(cost, Math.floor(whole / instances)));
  const partOf = ({ perDay, rate }: Limit, cost: Cost): Limit => ({
    rate: rate && { perS: rate.perS / instances, burst: shareOf(rate.burst, cost) },
    perDay: perDay === null ? null : Math.min(perDay, Math.max(cost, Math.ceil(perDay / instances))),
  });

  const open = ({ cost = 1, key, limit }: KeyedLimit, nowMs: number): LocalShare => {
    const part = partOf(limit, cost);
    const known = shares.get(key);
    if (known) {
      known.part = part;
      shares.delete(key);
      shares.set(key, known);
      return known;
    }
    const dropped = dropOldest(shares, capacity);
    if (dropped !== undefined) indebted.delete(dropped);
    const share: LocalShare = { state: fullState(part, nowMs), part, owed: null };
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
    owe,

    correct(key, debt, nowMs) {
      const share = shares.get(key);
      if (!share) return;
      const { part, state } = share;
      advance(state, part, nowMs);
      if (part.rate) state.milliTokens = Math.min(part.rate.burst * 1000, state.milliTokens - debt.milliTokens);
      if (debt.day === state.day) state.used = Math.max(0, state.used + debt.used);
      owe(key, debt);
    },

    forgive(limits, decidedMs) {
      for (const { cost = 1, key } of limits) {
        const share = shares.get(key);
        if (!share?.owed) continue;
        const { milliTokens, used, ...owed } = share.owed;
        const isOfDay = owed.day === Math.floor(decidedMs / dayMs);
        share.owed = {
          ...owed,
          milliTokens: Math.max(0, milliTokens - cost * 1000),
          used: isOfDay ? Math.max(0, used - cost) : used,
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
        // A decision on another day says nothing about this one.
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
          // As in Redis, an exhausted limit in shadow owes nothing.
          const lacks = lacking >> (2 * index);
          const milliTokens = lacks & lack.rate ? 0 : cost * 1000;
          owe(key, { limit: whole, milliTokens, used: lacks & lack.day ? 0 : cost, day: state.day });
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
        // Tokens refilled here meanwhile are not owed any more.
        const lacking = Math.max(0, (share.part.rate?.burst ?? 0) * 1000 - share.state.milliTokens);
        debts.set(key, { ...share.owed, milliTokens: Math.min(share.owed.milliTokens, Math.ceil(lacking)) });
        share.owed = null;
      }
      indebted.clear();
      return debts;
    },
  };
}

/** Adds two debts; only the later day counts. */
function sum(before: Debt, added: Debt): Debt {
  const day = Math.max(before.day, added.day);
  const usedOf = (debt: Debt) => (debt.day === day ? debt.used : 0);
  const milliTokens = before.milliTokens + added.milliTokens;
  return { limit: added.limit, milliTokens, used: usedOf(before) + usedOf(added), day };
}
