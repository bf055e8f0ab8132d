/**
 * Leases: what lets some more calls of a busy key in, for a fifth of a second, without a question about each of them.
 *
 * Invariants: whom the check of the key would refuse gets none, and nobody is refused here: Envoy asks the check instead. Each
 * leased call takes from its limits all the same, when the sidecar has it.
 */
import { leaseLifeMs, mostLeasedCalls } from '@gw/contract/internal/lease';
import type { GrantLease } from '@gw/grpc/service';
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
  /** How many instances give leases. */
  readonly instances: number;
}

/** For each call of a lease its limits have room for so many: near a limit Envoy asks about each, so that the rate-limit step refuses. */
const roomForOne = 20;
/** For less nothing is gained. */
const leastLeasedCalls = 2;

export function makeGrantLease(context: LeaseContext): GrantLease {
  const given = openGivenLeases(context);
  return async ({ authorization, scope }) => {
    // What is wrong with the key the check says, and notes.
    const found = await authenticate(authorization, context).catch(() => null);
    if (!found?.ok) return null;
    const key = found.value;
    const { accountId, publicId: keyId } = key;
    if (key.account.state === 'suspended' || !key.scopes.some((each) => each === scope)) return null;
    // An expiry holds at its second.
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

/** How many calls would be let in at once. */
function roomOf({ levels }: DrawnLimits, { quotaStates }: Decision): number {
  const rooms = levels.flatMap(({ limit }, index) => {
    const { remaining = 0, remainingDay = 0 } = quotaStates[index] ?? {};
    return [limit.rate === null ? Number.POSITIVE_INFINITY : remaining, remainingDay ?? Number.POSITIVE_INFINITY];
  });
  return Math.min(...rooms);
}

/** Accounts whose leases are remembered; the oldest go first. */
const mostAccounts = 10_000;

/**
 * What was given in leases. A call takes from its limits only when its body is whole, so that slow ones could be let in without
 * end; so all leases of an account together are held to its rate as well, each instance to its share.
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
      if (states.size >= mostAccounts) states.delete(states.keys().next().value ?? '');
      states.set(account.id, state);
      return takeTogether([{ limit, state, cost: calls }], 0, nowMs) === 0;
    },
  };
}
