/**
 * Claims of idempotency keys in Redis, shared by all instances; one script for each operation.
 *
 * Invariant: releasing a claim never overtakes taking it. It is sent only after that was answered or has failed, and a script that
 * was sent by digest is not sent again then. The stored replies of all accounts are bounded together: above that the account that stores the
 * most loses its oldest ones, so that none takes the memory that others' receipts need.
 */
import {
  idempotencyBytesKey,
  idempotencyClaimKey,
  idempotencyRepliesKey,
  idempotencySumKeys,
} from '@gw/contract/internal/redis';
import { redisScript } from '../redis-script.ts';
import type { RedisWriter } from '../redis-writer.ts';
import { claimScripts } from './scripts.lua.ts';

/** One attempt to run a call. */
export interface ClaimId {
  readonly accountId: string;
  /** Identifies account, path and idempotency key without revealing the key. */
  readonly digest: string;
  readonly owner: string;
  readonly fingerprint: string;
}

export type TakenClaim =
  /** `mayHaveRun`: an earlier owner may have run the call. */
  | { readonly is: 'claimed'; readonly mayHaveRun: boolean; readonly lifeMs: number }
  | { readonly is: 'running' | 'reused' | 'unknown' }
  /** `reply` is null if it was not kept. */
  | { readonly is: 'done'; readonly reference: string; readonly reply: Buffer | null };

/** `not_kept`: only the reference is stored. `lost`: the claim has another owner by now, or the outcome is unknown. */
export type Finished = 'kept' | 'not_kept' | 'lost';
const finished: readonly Finished[] = ['lost', 'not_kept', 'kept'];

/** The promises reject if Redis does not answer. */
export interface Claims {
  /** `formerly`: the fingerprint under the previous encryption key. */
  take(id: ClaimId, formerly: string): Promise<TakenClaim>;
  /** Resolves to false if the claim has another owner by now. */
  renew(id: ClaimId, lifeMs: number): Promise<boolean>;
  /** A null `reply` is not stored. */
  finish(id: ClaimId, lifeMs: number, reference: string, reply: Buffer | null): Promise<Finished>;
  free(id: ClaimId, mayHaveRun: boolean): Promise<unknown>;
}

/** Replies of Redis are Latin-1, one character for each byte. */
const bytesOf = (text: string): Buffer => Buffer.from(text, 'latin1');
const utf8 = (text: string): string => bytesOf(text).toString();

/** All accounts together; the settings have another. */
export const defaultRoomBytes = 1024 * 1024 * 1024;
/** Each round makes room by a thousand replies. What is left to do is done behind the next reply. */
const mostRounds = 10;

/** `redis` is a connection of their own, so that large replies do not delay other commands. Tests pass scripts with a fake clock. */
export function redisClaims(
  redis: Pick<RedisWriter, 'send'>,
  roomBytes: number = defaultRoomBytes,
  scripts: Readonly<Record<keyof typeof claimScripts, string>> = claimScripts,
): Claims {
  const claim = redisScript(redis, scripts.claim);
  const renew = redisScript(redis, scripts.renew);
  const finish = redisScript(redis, scripts.finish);
  const free = redisScript(redis, scripts.free);
  const drop = redisScript(redis, scripts.drop);
  const sum = redisScript(redis, scripts.sum);
  const keyOf = ({ accountId, digest }: ClaimId) => idempotencyClaimKey(accountId, digest);
  const readReply = async (key: string): Promise<TakenClaim> => {
    const [kept] = await redis.send(['HMGET', key, 'r', 'b']);
    const [reference, reply] = kept as readonly (string | null)[];
    // It has just expired.
    if (!reference) return { is: 'unknown' };
    return { is: 'done', reference: utf8(reference), reply: typeof reply === 'string' ? bytesOf(reply) : null };
  };
  /** `bytes`: what the account stores now. */
  const keepWithinRoom = async (account: string, bytes: number): Promise<void> => {
    let [told, stored] = [account, bytes];
    for (let round = 0; round < mostRounds; round += 1) {
      const found = await sum(idempotencySumKeys, [told, `${stored}`, `${roomBytes}`]);
      const [largest, most] = found as readonly [string?, number?];
      if (largest === undefined) return;
      const keys = [idempotencyBytesKey(largest), idempotencyRepliesKey(largest)];
      [told, stored] = [largest, Number(await drop(keys, [idempotencyClaimKey(largest, ''), `${most}`]))];
    }
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
      const { accountId, digest, fingerprint, owner } = id;
      const keys = [keyOf(id), idempotencyBytesKey(accountId), idempotencyRepliesKey(accountId)];
      const names = [digest, idempotencyClaimKey(accountId, '')];
      const ended = await finish(keys, [owner, fingerprint, `${life}`, reference, reply ?? '', ...names]);
      if (!Array.isArray(ended)) return 'lost';
      const [code, bytes] = ended.map(Number);
      // Nobody waits for it, and what fails is made up for behind the next reply.
      keepWithinRoom(accountId, bytes ?? 0).catch(() => undefined);
      return finished[code ?? 0] ?? 'lost';
    },
    free: (id, mayHaveRun) => free([keyOf(id)], [id.owner, mayHaveRun ? '1' : '0']),
  };
}
