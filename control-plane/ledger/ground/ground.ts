/**
 * Looks whether Postgres has gone back in time: a replica that lagged was promoted, a backup was restored, or somebody connected another database.
 *
 * A heartbeat rises in Postgres once a second and is copied to Redis, with the newest batch of the ledger, the newest head of each chain of the audit
 * log, and the server's name and timeline. Invariants: the heartbeat rises only where Postgres has all that Redis knows, so a database that lost
 * something never catches up by itself; what Redis knows only rises, and stands still from the alarm on until an operator confirms.
 *
 * Fails open: without Redis nothing is compared, and an empty or older Redis knows less than Postgres, which is no alarm. Fails closed for the keys
 * that changed since: ext-authz refuses them while the alarm stands (ext-authz/keys/key-doubts.ts).
 */
import { randomUUID } from 'node:crypto';
import { elementAt } from '@gw/contract/internal/defined';
import { alarmIn, type GroundAlarm } from '@gw/contract/internal/ground';
import { groundAlarmKey, groundChainsKey, groundKey, keyGenerationKey } from '@gw/contract/internal/redis';
import type { Database } from '@gw/prisma/client';
import type { Redis } from 'ioredis';
import type { Context } from '../../shared/context.ts';
import { causeOf, type Ground, shortcomingOf } from './compare.ts';
import { fallenChains, readChains, readGround } from './read-ground.ts';

export interface GroundOptions extends Pick<Context, 'log'> {
  readonly db: Database;
  readonly redis: Redis;
}

/** KEYS: ground, alarm. ARGV: heartbeat, then the fields. A slower instance does not lower it, and what was not told leaves what is known. */
const raiseScript = `
if redis.call('EXISTS', KEYS[2]) == 1 then return 0 end
if tonumber(redis.call('HGET', KEYS[1], 'heartbeat') or '-1') >= tonumber(ARGV[1]) then return 0 end
for at = 2, #ARGV, 2 do redis.call(ARGV[at + 1] == '' and 'HSETNX' or 'HSET', KEYS[1], ARGV[at], ARGV[at + 1]) end
return 1
`;
/** KEYS: chains, alarm. ARGV: fields. */
const chainsScript = `
if redis.call('EXISTS', KEYS[2]) == 1 then return 0 end
for at = 1, #ARGV, 2 do redis.call('HSET', KEYS[1], ARGV[at], ARGV[at + 1]) end
return 1
`;

/** The audit log is looked at with each of so many heartbeats: its heads are one for each account. */
const chainsEvery = 30;

/** Returns one look. The first of a process compares the audit log too. Rejects if a store does not answer. */
export function openLook(options: GroundOptions): () => Promise<void> {
  const { log, redis } = options;
  let looks = 0;
  let told: string | null = null;
  const tell = ({ cause, id, ...alarm }: GroundAlarm): void => {
    if (told !== id) log.error({ alarm: id, ...alarm }, cause);
    told = id;
  };
  return async () => {
    const standing = await readAlarm(redis);
    if (standing !== null) return tell(standing);
    const withChains = looks % chainsEvery === 0;
    const alarm = await look(options, withChains);
    looks += 1;
    if (alarm === null) return;
    await redis.set(groundAlarmKey, JSON.stringify(alarm), 'NX');
    tell((await readAlarm(redis)) ?? alarm);
  };
}

/** The alarm that stands; null: Postgres has all that is known. */
export const readAlarm = async (redis: Redis): Promise<GroundAlarm | null> => alarmIn(await redis.get(groundAlarmKey));

/** Returns why Postgres is in doubt; otherwise writes the next heartbeat. */
async function look({ db, redis }: GroundOptions, withChains: boolean): Promise<GroundAlarm | null> {
  const known = await knownGround(redis);
  const { headOfKnown, lostAfter, ...found } = await readGround(db, known);
  const shortcoming = shortcomingOf(known, found, headOfKnown);
  const chains = withChains || shortcoming !== null ? await readChains(db, redis) : null;
  const fallen = chains === null ? [] : await fallenChains(db, chains);
  const why = shortcoming ?? (fallen.length > 0 ? 'older' : null);
  if (why !== null && known !== null) return alarmOf(why, { known, found, lostAfter, fallen });
  if (chains !== null) await copyChains(redis, chains.newer);
  await beat(db, redis, found);
  return null;
}

/** Returns how far Postgres was when Redis heard of it last; null: Redis is new, or was emptied. */
async function knownGround(redis: Redis): Promise<Ground | null> {
  const [fields, generation] = await Promise.all([redis.hgetall(groundKey), redis.get(keyGenerationKey)]);
  const { heartbeat, batch, head, receipts, server, timeline } = fields;
  const isKnown = head !== undefined && server !== undefined && timeline !== undefined;
  if (!isKnown) return null;
  const numbers = { heartbeat: Number(heartbeat), batch: Number(batch), receipts: Number(receipts) };
  // Read before Postgres is asked, which is never behind it then. Missing: that key alone was deleted.
  return { ...numbers, generation: Number(generation), head, server, timeline };
}

interface Compared {
  readonly known: Ground;
  readonly found: Ground;
  readonly lostAfter: number;
  readonly fallen: GroundAlarm['audit_chains'];
}

function alarmOf(why: GroundAlarm['why'], { fallen, found, known, lostAfter }: Compared): GroundAlarm {
  const both = <Name extends keyof Ground>(name: Name) => ({ known: known[name], found: found[name] });
  return {
    id: randomUUID(),
    found_at: new Date().toISOString(),
    why,
    cause: causeOf(why),
    heartbeat: both('heartbeat'),
    key_generation: { ...both('generation'), lost_after: Math.min(lostAfter, found.generation) },
    batch: both('batch'),
    receipts: both('receipts'),
    server: both('server'),
    timeline: both('timeline'),
    audit_chains: fallen.slice(0, 100),
  };
}

/** Another instance may have been faster; then its heartbeat counts. A Postgres that has changed since it was read takes none. */
async function beat(db: Database, redis: Redis, found: Ground): Promise<void> {
  const rows = await db.$queryRaw<{ heartbeat: number }[]>`
    UPDATE ground SET heartbeat = heartbeat + 1, at = CURRENT_TIMESTAMP, generation = (SELECT generation FROM key_generation)
    WHERE heartbeat = ${found.heartbeat} RETURNING heartbeat::float8 AS heartbeat`;
  if (rows.length > 0) await writeGround(redis, { ...found, heartbeat: elementAt(rows, 0).heartbeat });
}

async function writeGround(redis: Redis, { generation: _, ...ground }: Ground): Promise<void> {
  const fields = Object.entries(ground).flat();
  await redis.eval(raiseScript, 2, groundKey, groundAlarmKey, ground.heartbeat, ...fields);
}

async function copyChains(redis: Redis, newer: readonly string[]): Promise<void> {
  if (newer.length > 0) await redis.eval(chainsScript, 2, groundChainsKey, groundAlarmKey, ...newer);
}
