/**
 * Leases of open streams in Redis, shared by all instances.
 *
 * Invariant: commands reach Redis in the order in which they were sent, so that a release never overtakes its own take, and a released
 * slot is not renewed.
 */
import { defined } from '@gw/contract/internal/defined';
import { keySlotsKey, slotsKey } from '@gw/contract/internal/redis';
import type { Redis } from 'ioredis';
import { renewScript, takeScript } from './scripts.lua.ts';

/** How long a slot outlives the last renewal by the lease holder, ms. */
export const leaseMs = 30_000;
/** A command with this many slots blocks Redis for well under a millisecond. */
const slotsPerCommand = 500;

export interface Lease {
  readonly id: string;
  readonly accountId: string;
  readonly keyId: string;
}

export interface SlotLimits {
  readonly limit: number;
  /** Null means that the key can use all slots of the account. */
  readonly keyLimit: number | null;
  /** Takes the slot even if there is no room. */
  readonly evenIfFull: boolean;
}

/** The result of `take`. The slot was taken if `full` is null, or if `evenIfFull` was set. */
export interface FoundSlots {
  readonly full: 'account' | 'key' | null;
  /** The open slots of the account before. */
  readonly open: number;
  /** The open slots of the key before. */
  readonly keyOpen: number;
  /** The leases of the account that had expired without a release. */
  readonly ended: number;
}

/** The promises reject if Redis does not answer. */
export interface Leases {
  /** Takes a slot if the limits allow it, in one round trip. */
  take(lease: Lease, limits: SlotLimits): Promise<FoundSlots>;
  /** Renews leases of one account, and registers again those that Redis has lost. */
  renew(accountId: string, leases: readonly Lease[]): Promise<unknown>;
  release(lease: Lease): Promise<unknown>;
  /** Resolves if Redis takes leases. */
  probe(): Promise<unknown>;
  /** Replaces the connection, since the other end may have vanished without closing it. */
  reconnect(): void;
  readonly connected: () => boolean;
  /**
   * `lost` is called when the connection breaks, after which Redis can have lost its data; `back` when there is one
   * again.
   */
  watch(watcher: { lost(): void; back(): void }): void;
}

/** Tests pass `scripts` with a clock of their own. */
export function redisLeases(redis: Redis, scripts = { take: takeScript, renew: renewScript }): Leases {
  // Scripts are sent in full each time. A script called by its hash may have to be sent again, in a second round trip that comes after a
  // release which should follow it.
  const renewSome = (accountId: string, leases: readonly Lease[]): Promise<unknown> => {
    const keys = [...new Set(leases.map(({ keyId }) => keyId))];
    const positions = new Map(keys.map((keyId, at) => [keyId, at + 2]));
    const sets = [slotsKey(accountId), ...keys.map((keyId) => keySlotsKey(accountId, keyId))];
    const named = leases.flatMap(({ id, keyId }) => [id, defined(positions.get(keyId), 'The set of a key')]);
    return redis.eval(scripts.renew, sets.length, ...sets, leaseMs, ...named);
  };
  return {
    async take({ id, accountId, keyId }, { limit, keyLimit, evenIfFull }) {
      const sets = [slotsKey(accountId), keySlotsKey(accountId, keyId)];
      const rules = [id, leaseMs, limit, keyLimit ?? -1, evenIfFull ? 1 : 0];
      const reply = await redis.eval(scripts.take, sets.length, ...sets, ...rules);
      const [full, open, keyOpen, ended] = reply as [number, number, number, number];
      return { full: full === 1 ? 'account' : full === 2 ? 'key' : null, open, keyOpen, ended };
    },
    renew(accountId, leases) {
      const portions: Promise<unknown>[] = [];
      for (let at = 0; at < leases.length; at += slotsPerCommand)
        portions.push(renewSome(accountId, leases.slice(at, at + slotsPerCommand)));
      return Promise.all(portions);
    },
    release: ({ id, accountId, keyId }) =>
      Promise.all([redis.zrem(slotsKey(accountId), id), redis.zrem(keySlotsKey(accountId, keyId), id)]),
    // It renews a lease that nobody holds, since a read-only Redis answers a ping too.
    probe: () => renewSome('-', [{ id: 'probe', accountId: '-', keyId: '-' }]),
    reconnect: () => redis.disconnect(true),
    connected: () => redis.status === 'ready',
    watch({ lost, back }) {
      redis.on('close', lost);
      redis.on('ready', back);
    },
  };
}
