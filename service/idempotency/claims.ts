/**
 * Claims of idempotency keys in Redis, shared by all instances: one command each.
 *
 * Invariant: what is asked here reaches Redis in the order in which it was asked, so that giving a claim up never
 * overtakes taking it.
 */
import { idempotencyBytesKey, idempotencyClaimKey } from '@gw/contract/internal/redis';
import { Command, type Redis } from 'ioredis';
import { claimScripts } from './scripts.lua.ts';

/** How long a key belongs to a call that gives no sign of life, ms: less than another call waits for it. */
export const leaseMs = 15_000;
/** How long a reply can be had again, counted from the first request, ms. */
export const lifeMs = 86_400_000;
/** How many bytes of replies an account can store within a day: Redis holds them in memory. */
export const mostStoredBytes = 256 * 1024 * 1024;

/** One try at running a call. */
export interface ClaimId {
  readonly accountId: string;
  /** Names the account, the path and the idempotency key, and shows nothing of the last. */
  readonly digest: string;
  readonly owner: string;
  readonly fingerprint: string;
}

export type TakenClaim =
  /** `mayHaveRun`: somebody before may have run. */
  | { readonly is: 'claimed'; readonly mayHaveRun: boolean; readonly lifeMs: number }
  | { readonly is: 'running' | 'reused' | 'unknown' }
  /** `reply` is null if it was not kept. */
  | { readonly is: 'done'; readonly reference: string; readonly reply: Buffer | null };

/** The promises reject if Redis does not answer. */
export interface Claims {
  /** `formerly`: the fingerprint by the encryption key before. */
  take(id: ClaimId, formerly: string): Promise<TakenClaim>;
  /** Resolves to false if the claim has become another one's. */
  renew(id: ClaimId, lifeMs: number): Promise<boolean>;
  /** Null as the `reply`: it is not to be kept. Resolves to false if the claim has become another one's. */
  finish(id: ClaimId, lifeMs: number, reference: string, reply: Buffer | null): Promise<boolean>;
  free(id: ClaimId, mayHaveRun: boolean): Promise<unknown>;
}

const noBytes = Buffer.alloc(0);
const textOf = (value: unknown): string => (Buffer.isBuffer(value) ? value.toString() : String(value ?? ''));

/**
 * Tests pass `scripts` with a clock of their own. Scripts travel whole each time, as those of slots do, and as commands
 * that the client does not collect: collected ones could be overtaken, and are never answered in bytes.
 */
export function redisClaims(
  redis: Redis,
  scripts: Readonly<Record<keyof typeof claimScripts, string>> = claimScripts,
): Claims {
  const keyOf = ({ accountId, digest }: ClaimId) => idempotencyClaimKey(accountId, digest);
  const run = async (script: string, keys: readonly string[], args: readonly (string | number | Buffer)[]) =>
    redis.sendCommand(new Command('eval', [script, keys.length, ...keys, ...args], { replyEncoding: null }));
  return {
    async take(id, formerly) {
      const { fingerprint, owner } = id;
      const found = await run(scripts.claim, [keyOf(id)], [owner, leaseMs, lifeMs, fingerprint, formerly]);
      const [is, first, second] = found as unknown[];
      const outcome = textOf(is);
      if (outcome === 'claimed') return { is: outcome, mayHaveRun: first === 1, lifeMs: Number(second) };
      if (outcome === 'done')
        return { is: outcome, reference: textOf(first), reply: Buffer.isBuffer(second) ? second : null };
      return { is: outcome === 'running' || outcome === 'reused' ? outcome : 'unknown' };
    },
    renew: async (id, life) => (await run(scripts.renew, [keyOf(id)], [id.owner, id.fingerprint, life, leaseMs])) === 1,
    async finish(id, life, reference, reply) {
      const keys = [keyOf(id), idempotencyBytesKey(id.accountId)];
      const stored = [reference, reply ?? noBytes, mostStoredBytes, lifeMs];
      return (await run(scripts.finish, keys, [id.owner, id.fingerprint, life, ...stored])) !== 0;
    },
    free: (id, mayHaveRun) => run(scripts.free, [keyOf(id)], [id.owner, mayHaveRun ? 1 : 0]),
  };
}
