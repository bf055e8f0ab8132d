/**
 * Leases admit some further calls of a busy key, for a fifth of a second, without a check of each.
 *
 * Invariants: a key that the check would refuse gets no lease; without one Envoy asks the check. The sidecar takes each leased call from
 * its limits.
 */
import { elementAt } from '@gw/contract/internal/defined';
import { leaseLifeMs, mostLeasedCalls } from '@gw/contract/internal/lease';
import type { GrantLease } from '@gw/grpc/service';
import { dropOldest } from '@gw/service/drop-oldest';
import { fullState, type LimitState, takeTogether } from '@gw/service/limits/bucket';
import type { Decision } from '@gw/service/limits/decision';
import type { DrawnLimits } from '@gw/service/limits/drawn-limits';
import { limitHeaders } from '@gw/service/limits/limit-headers';
import type { Limiter } from '@gw/service/limits/limiter';
import { callerOf } from './caller.ts';
import { type AuthenticateContext, authenticate } from './keys/authenticate.ts';
import type { KeyNotes } from './keys/key-notes.ts';

export interface LeaseContext extends AuthenticateContext {
  readonly notes: Pick<KeyNotes, 'used'>;
  readonly limiter: Pick<Limiter, 'left'>;
  /** Number of instances that grant leases. */
  readonly instances: number;
}

/** A lease is granted for a twentieth of the free room, so that near a limit Envoy asks about each call. */
const roomForOne = 20;
/** Smaller leases save nothing. */
const leastLeasedCalls = 2;

export function makeGrantLease(context: LeaseContext): GrantLease {
  const given = openGivenLeases(context);
  return async ({ authorization, scope }) => {
    // The check reports and records what is wrong with the key.
    const found = await authenticate(authorization, context).catch(() => null);
    if (!found?.ok) return null;
    const key = found.value;
    const { accountId, publicId: keyId } = key;
    if (key.account.state === 'suspended' || !key.scopes.some((each) => each === scope)) return null;
    // The key must not expire during the lease.
    if (key.expiresAt !== null && key.expiresAt.getTime() <= context.now() + leaseLifeMs) return null;
    const { drawn, leased } = callerOf(key);
    const left = await context.limiter.left(accountId, 'calls', drawn.calls);
    const calls = left === null ? 0 : Math.min(mostLeasedCalls, Math.floor(roomOf(drawn.calls, left) / roomForOne));
    if (left === null || calls < leastLeasedCalls || !given.take(drawn.calls, calls)) return null;
    context.notes.used(key);
    const limits = limitHeaders(drawn.calls, left)
      .map((header) => `${header.key}=${header.value}`)
      .join(' ');
    return { calls, accountId, keyId, limits, caller: leased };
  };
}

/** Returns how many calls the limits would admit now. */
function roomOf({ levels }: DrawnLimits, { quotaStates }: Decision): number {
  const rooms = levels.flatMap(({ limit }, index) => {
    const { remaining, remainingDay } = elementAt(quotaStates, index);
    return [limit.rate === null ? Number.POSITIVE_INFINITY : remaining, remainingDay ?? Number.POSITIVE_INFINITY];
  });
  return Math.min(...rooms);
}

/** The most accounts whose leases are remembered. */
const mostAccounts = 10_000;

/**
 * Limits all leases of an account to its rate, each instance to its share. A call takes from its limits only when its body is complete,
 * so slow calls could otherwise be admitted without limit.
 */
function openGivenLeases({ instances, now }: Pick<LeaseContext, 'instances' | 'now'>) {
  const states = new Map<string, LimitState>();
  return {
    take({ levels }: DrawnLimits, calls: number): boolean {
      const [account] = levels;
      const rate = account?.limit.rate;
      if (!account || !rate) return false;
      const limit = { rate: { perS: rate.perS / instances, burst: rate.burst / instances }, perDay: null };
      const nowMs = now();
      const state = states.get(account.id) ?? fullState(limit, nowMs);
      states.delete(account.id);
      dropOldest(states, mostAccounts);
      states.set(account.id, state);
      return takeTogether([{ limit, state, cost: calls }], 0, nowMs) === 0;
    },
  };
}
