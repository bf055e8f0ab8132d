/**
 * Leases of open streams in Redis, shared by all instances.
 *
 * Invariant: what is asked here reaches Redis in the order in which it was asked, so that a release never overtakes its
 * own take, and a slot that was released is not renewed.
 */
import { keySlotsKey, slotsKey } from '@gw/contract/internal/redis';
import type { Redis } from 'ioredis';
import { renewScript, takeScript } from './scripts.lua.ts';

/** How long a slot outlives the last sign of its holder, ms. */
export const leaseMs = 30_000;
/** Slots in one command: it holds Redis up for well under a millisecond. */
const slotsPerCommand = 500;

/** A slot and whose it is. */
export interface Lease {
  readonly id: string;
  readonly accountId: string;
  readonly keyId: string;
}

/** How many slots there can be, in the account and for the key. */
export interface Room {
  readonly limit: number;
  /** Null means that the key can use all slots of the account. */
  readonly keyLimit: number | null;
  /** Takes the slot even if there is no room. */
  readonly evenIfFull: boolean;
}

/** What `take` found. The slot was taken if `full` is null, or if `evenIfFull` was set. */
export interface Found {
  readonly full: 'account' | 'key' | null;
  /** How many slots were open before in the account, and of this key. */
  readonly open: number;
  readonly keyOpen: number;
  /** How many leases of the account had ended without a release. */
  readonly ended: number;
}

/** The promises reject if Redis does not answer. */
export interface Leases {
  /** Takes a slot if there is room, in one round trip. */
  take(lease: Lease, room: Room): Promise<Found>;
  /** Renews leases of one account, and registers again those that Redis has lost. */
  renew(accountId: string, leases: readonly Lease[]): Promise<unknown>;
  release(lease: Lease): Promise<unknown>;
  /** Resolves if Redis takes leases. */
  probe(): Promise<unknown>;
  /** Reconnects, because the other end can have vanished without closing the connection. */
  reconnect(): void;
  /** Whether there is a connection. */
  readonly connected: () => boolean;
  /**
   * `lost` is called when the connection breaks, after which Redis can have lost its data; `back` when there is one
   * again.
   */
  watch(watcher: { lost(): void; back(): void }): void;
}

/** Tests pass `scripts` with a clock of their own. */
export function redisLeases(redis: Redis, scripts = { take: takeScript, renew: renewScript }): Leases {
  // Scripts travel whole each time. One that is called by its hash may have to be sent again, which is a second round trip,
  // and behind a release that was meant to come after it.
  const renewSome = (accountId: string, leases: readonly Lease[]): Promise<unknown> => {
    const keys = [...new Set(leases.map(({ keyId }) => keyId))];
    const places = new Map(keys.map((keyId, at) => [keyId, at + 2]));
    const sets = [slotsKey(accountId), ...keys.map((keyId) => keySlotsKey(accountId, keyId))];
    const named = leases.flatMap(({ id, keyId }) => [id, places.get(keyId) ?? 0]);
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
    // By a lease of nobody: a Redis that may not write answers a ping too.
    probe: () => renewSome('-', [{ id: 'probe', accountId: '-', keyId: '-' }]),
    reconnect: () => redis.disconnect(true),
    connected: () => redis.status === 'ready',
    watch({ lost, back }) {
      redis.on('close', lost);
      redis.on('ready', back);
    },
  };
}
