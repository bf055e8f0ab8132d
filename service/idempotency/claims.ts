/**
 * Claims of idempotency keys in Redis, shared by all instances: one script each.
 *
 * Invariant: giving a claim up never overtakes taking it, since it is asked for when that has been answered, or was given up: a script
 * that was sent by its digest is not sent again then.
 */
import { idempotencyBytesKey, idempotencyClaimKey } from '@gw/contract/internal/redis';
import { redisScript } from '../redis-script.ts';
import type { RedisWriter } from '../redis-writer.ts';
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

/** Of a reply, in which one character is one byte. */
const bytesOf = (text: string): Buffer => Buffer.from(text, 'latin1');
const utf8 = (text: string): string => bytesOf(text).toString();

/** `redis`: a connection for them alone, which a large reply does not hold up. Tests pass `scripts` with a clock of their own. */
export function redisClaims(
  redis: Pick<RedisWriter, 'send'>,
  scripts: Readonly<Record<keyof typeof claimScripts, string>> = claimScripts,
): Claims {
  const claim = redisScript(redis, scripts.claim);
  const renew = redisScript(redis, scripts.renew);
  const finish = redisScript(redis, scripts.finish);
  const free = redisScript(redis, scripts.free);
  const keyOf = ({ accountId, digest }: ClaimId) => idempotencyClaimKey(accountId, digest);
  const readReply = async (key: string): Promise<TakenClaim> => {
    const [kept] = await redis.send(['HMGET', key, 'r', 'b']);
    const [reference, reply] = kept as readonly (string | null)[];
    // Its time was over just now.
    if (!reference) return { is: 'unknown' };
    return { is: 'done', reference: utf8(reference), reply: typeof reply === 'string' ? bytesOf(reply) : null };
  };
  return {
    async take(id, formerly) {
      const key = keyOf(id);
      const taken = await claim([key], [id.owner, id.fingerprint, formerly]);
      const [is, ran, life] = taken as readonly [is: string, ran: number, lifeMs: number];
      if (is === 'claimed') return { is, mayHaveRun: ran === 1, lifeMs: life };
      if (is === 'done') return readReply(key);
      return { is: is === 'running' || is === 'reused' ? is : 'unknown' };
    },
    renew: async (id, life) => (await renew([keyOf(id)], [id.owner, id.fingerprint, `${life}`])) === 1,
    async finish(id, life, reference, reply) {
      const keys = [keyOf(id), idempotencyBytesKey(id.accountId)];
      const code = await finish(keys, [id.owner, id.fingerprint, `${life}`, reference, reply ?? '']);
      return finished[Number(code)] ?? 'lost';
    },
    free: (id, mayHaveRun) => free([keyOf(id)], [id.owner, mayHaveRun ? '1' : '0']),
  };
}
