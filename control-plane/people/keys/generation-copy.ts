/**
 * Keeps a copy of the key generation in Redis, and beside it what changed with it: it stands in for Postgres while that is away, and says which keys
 * are in doubt after Postgres has gone back in time. Otherwise Postgres stays the truth.
 *
 * Invariants: the copy only rises; several instances write it, and one that is slow has read an older generation. Revocations come into Redis with
 * the generation that they made, and stay there for as long as a revoked key could be restored: only a Postgres that has the key, and says that it is
 * open, takes one away. While the alarm of a Postgres that went back stands, nothing
 * here changes: what was known before is the only witness.
 */
import {
  accountMessage,
  accountOfMessage,
  groundAlarmKey,
  keyChangesKey,
  keyGenerationKey,
  keyTombstonesKey,
} from '@gw/contract/internal/redis';
import type { Database } from '@gw/prisma/client';
import { type KeyChanges, keyChanges } from '@gw/prisma/find-key';
import type { Redis } from 'ioredis';
import { restorableMs } from './key-row.ts';

/** Some 10 MB of Redis. Behind that only revocations are told apart. */
const mostChanges = 100_000;

/**
 * KEYS: generation, changes, tombstones, alarm. ARGV: generation, now and the oldest tombstone that counts (ms since 1970), the most changes, whether
 * it is unknown what has changed, then `<+ or -><name>` of each change: closed or open.
 */
const copyScript = `
if redis.call('EXISTS', KEYS[4]) == 1 then return 0 end
if tonumber(redis.call('GET', KEYS[1]) or '0') >= tonumber(ARGV[1]) then return 0 end
redis.call('SET', KEYS[1], ARGV[1])
for at = 6, #ARGV do
  local kind, name = string.sub(ARGV[at], 1, 1), string.sub(ARGV[at], 2)
  if ARGV[5] ~= 'all' then redis.call('ZADD', KEYS[2], ARGV[1], name) end
  if kind == '-' then redis.call('ZREM', KEYS[3], name)
  elseif ARGV[5] == 'all' then redis.call('ZADD', KEYS[3], ARGV[2], name)
  else redis.call('ZADD', KEYS[3], 'NX', ARGV[2], name) end
end
redis.call('ZREMRANGEBYRANK', KEYS[2], 0, -1 - tonumber(ARGV[4]))
redis.call('ZREMRANGEBYSCORE', KEYS[3], '-inf', '(' .. ARGV[3])
return 1
`;

/** Rejects if a store does not answer. */
export async function copyKeyGeneration(db: Database, redis: Redis): Promise<void> {
  const [copy, alarm] = await redis.mget(keyGenerationKey, groundAlarmKey);
  if (alarm !== null) return;
  const known = copy == null ? null : Number(copy);
  const changes = await keyChanges(db, known);
  // A generation that has fallen is for the look at the ground (ledger/ground) to name.
  if (known === null || changes.generation > known) await copyChanges(db, redis, changes);
}

/** Writes the generation, and compares all tombstones where it is not known what has changed since the copy. */
export async function copyChanges(db: Database, redis: Redis, { generation, since }: KeyChanges): Promise<void> {
  const named =
    since === null ? [...(await allClosed(db)), ...(await openAgain(db, redis))] : await statesOf(db, since);
  const now = Date.now();
  const from = now - restorableMs;
  const scope = since === null ? 'all' : 'changed';
  const keys = [keyGenerationKey, keyChangesKey, keyTombstonesKey, groundAlarmKey];
  await redis.eval(copyScript, keys.length, ...keys, generation, now, from, mostChanges, scope, ...named);
}

interface Named {
  readonly name: string;
}

/** More would make one argument list too long for Redis. */
const mostTombstones = 500_000;

async function allClosed(db: Database): Promise<string[]> {
  const closed = await db.$queryRaw<Named[]>`
    SELECT public_id::text AS name FROM api_keys WHERE revoked_at > ${new Date(Date.now() - restorableMs)}
    UNION ALL SELECT ${accountMessage('')} || id FROM accounts WHERE state IN ('suspended', 'closed') LIMIT ${mostTombstones}`;
  return closed.map(({ name }) => `+${name}`);
}

/** Names of tombstones that are open in Postgres. */
async function openAgain(db: Database, redis: Redis): Promise<string[]> {
  const names = await redis.zrange(keyTombstonesKey, '0', '-1');
  const accountIds = names.flatMap((name) => accountOfMessage(name) ?? []);
  const publicIds = names.filter((name) => accountOfMessage(name) === null);
  return (await statesOf(db, { accountIds, publicIds })).filter((each) => each.startsWith('-'));
}

async function statesOf(db: Database, { accountIds, publicIds }: NonNullable<KeyChanges['since']>): Promise<string[]> {
  const states = await db.$queryRaw<(Named & { closed: boolean })[]>`
    SELECT public_id::text AS name, revoked_at IS NOT NULL AS closed FROM api_keys WHERE public_id = ANY (${publicIds}::text[])
    UNION ALL SELECT ${accountMessage('')} || id, state IN ('suspended', 'closed') FROM accounts WHERE id = ANY (${accountIds}::text[])`;
  return states.map(({ closed, name }) => `${closed ? '+' : '-'}${name}`);
}
