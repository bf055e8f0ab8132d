/**
 * Claims of idempotency keys in Redis, shared by all instances: one command each.
 *
 * Invariant: what is asked here reaches Redis in the order in which it was asked, so that giving a claim up never
 * overtakes taking it.
 */
import { idempotencyBytesKey, idempotencyClaimKey } from '@gw/contract/internal/redis';
import type { Redis } from 'ioredis';
import { claimScripts } from './scripts.lua.ts';

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

/** `not_kept`: the key stands for its reference alone. `lost`: the claim has become another one's, or nobody can say. */
export type Finished = 'kept' | 'not_kept' | 'lost';
const finished: readonly Finished[] = ['lost', 'not_kept', 'kept'];

/** The promises reject if Redis does not answer. */
export interface Claims {
  /** `formerly`: the fingerprint by the encryption key before. */
  take(id: ClaimId, formerly: string): Promise<TakenClaim>;
  /** Resolves to false if the claim has become another one's. */
  renew(id: ClaimId, lifeMs: number): Promise<boolean>;
  /** Null as the `reply`: it is not to be kept. */
  finish(id: ClaimId, lifeMs: number, reference: string, reply: Buffer | null): Promise<Finished>;
  free(id: ClaimId, mayHaveRun: boolean): Promise<unknown>;
}

const noBytes = Buffer.alloc(0);

type Commands = Redis & {
  gwClaim(...args: (string | number)[]): Promise<[is: string, ran: number, lifeMs: number]>;
  gwClaimRenew(...args: (string | number)[]): Promise<number>;
  gwClaimFinish(...args: (string | number | Buffer)[]): Promise<number>;
  gwClaimFree(...args: (string | number)[]): Promise<unknown>;
};

/**
 * `connection`: one that does not collect commands, which could be overtaken by others of it. Tests pass `scripts` with a
 * clock of their own.
 */
export function redisClaims(
  connection: Redis,
  scripts: Readonly<Record<keyof typeof claimScripts, string>> = claimScripts,
): Claims {
  connection.defineCommand('gwClaim', { lua: scripts.claim, numberOfKeys: 1 });
  connection.defineCommand('gwClaimRenew', { lua: scripts.renew, numberOfKeys: 1 });
  connection.defineCommand('gwClaimFinish', { lua: scripts.finish, numberOfKeys: 2 });
  connection.defineCommand('gwClaimFree', { lua: scripts.free, numberOfKeys: 1 });
  const redis = connection as Commands;
  let isGathering = false;
  /** What is asked in one turn of the event loop goes out in one write, in its order: a system call costs more than a command. */
  const gather = () => {
    const { stream } = connection;
    if (isGathering || !stream) return;
    isGathering = true;
    stream.cork();
    setImmediate(() => {
      isGathering = false;
      stream.uncork();
    });
  };
  const keyOf = ({ accountId, digest }: ClaimId) => idempotencyClaimKey(accountId, digest);
  const readReply = async (key: string): Promise<TakenClaim> => {
    const [reference, reply] = await redis.hmgetBuffer(key, 'r', 'b');
    // Its time was over just now.
    return reference ? { is: 'done', reference: reference.toString(), reply: reply ?? null } : { is: 'unknown' };
  };
  return {
    async take(id, formerly) {
      gather();
      const key = keyOf(id);
      const [is, ran, life] = await redis.gwClaim(key, id.owner, id.fingerprint, formerly);
      if (is === 'claimed') return { is, mayHaveRun: ran === 1, lifeMs: life };
      if (is === 'done') return readReply(key);
      return { is: is === 'running' || is === 'reused' ? is : 'unknown' };
    },
    renew: async (id, life) => (await redis.gwClaimRenew(keyOf(id), id.owner, id.fingerprint, life)) === 1,
    async finish(id, life, reference, reply) {
      gather();
      const keys = [keyOf(id), idempotencyBytesKey(id.accountId)];
      const code = await redis.gwClaimFinish(...keys, id.owner, id.fingerprint, life, reference, reply ?? noBytes);
      return finished[code] ?? 'lost';
    },
    free: (id, mayHaveRun) => redis.gwClaimFree(keyOf(id), id.owner, mayHaveRun ? 1 : 0),
  };
}
