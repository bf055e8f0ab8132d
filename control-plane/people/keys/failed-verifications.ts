/**
 * Writes failed verifications of keys into the audit log: one entry per key and minute, with the count of each code.
 * Attempts with keys that do not exist are one entry of the operators' chain.
 *
 * Invariant: what is counted is written exactly once. The counters of a minute are first taken over under a name of
 * their own, which nobody adds to; an entry names it, so that whoever finds them again sees what is already written. An
 * entry that cannot be written holds up no other, and is tried again as long as Redis keeps its counters.
 */
import { randomUUID } from 'node:crypto';
import { type Actor, operatorChain } from '@gw/contract/internal/audit-chain';
import { minuteMs } from '@gw/contract/internal/durations';
import { failedKeysKey, failedMinutesKey, takenFailuresKey } from '@gw/contract/internal/redis';
import { Prisma } from '@gw/prisma/client';
import type { Context } from '../../shared/context.ts';
import { appendAudit } from '../audit/append.ts';

/**
 * How long after a minute its counts are taken, as ext-authz sends them each second. Later ones get their own entry.
 */
const settledMs = 5000;
const actor: Actor = { kind: 'system', id: 'key-verification', name: null };
const action = 'key.verification_failed';

interface Stores extends Pick<Context, 'db' | 'redis' | 'now'> {
  readonly log: Pick<Context['log'], 'error'>;
}
type Counts = Map<string, Record<string, number>>;

/** Writes the minutes that are over. What cannot be written is logged, and tried again in the next run. */
export async function writeFailedVerifications(stores: Stores): Promise<void> {
  await takeOver(stores);
  for (const taken of await stores.redis.smembers(takenFailuresKey)) {
    const failed = await writeTaken(stores, taken);
    if (failed === 0) await stores.redis.multi().del(taken).srem(takenFailuresKey, taken).exec();
  }
}

async function takeOver({ redis, now }: Stores): Promise<void> {
  const over = Math.floor((now().getTime() - settledMs) / minuteMs);
  const minutes = (await redis.smembers(failedMinutesKey)).filter((minute) => Number(minute) < over);
  for (const minute of minutes) {
    const source = failedKeysKey(Number(minute));
    const taken = `${source}:${randomUUID()}`;
    // Where another instance was faster the renaming fails, and the name that is added stands for nothing.
    await redis.multi().srem(failedMinutesKey, minute).rename(source, taken).sadd(takenFailuresKey, taken).exec();
  }
}

/** Returns how many entries could not be written. */
async function writeTaken({ db, log, redis, now }: Stores, taken: string): Promise<number> {
  const minute = Number(taken.slice(failedKeysKey(0).length - 1).split(':')[0]);
  const counts = countsOf(await redis.hgetall(taken));
  const keys = await db.$queryRaw<{ public_id: string; account_id: string }[]>`
    SELECT public_id, account_id FROM api_keys WHERE public_id = ANY(${[...counts.keys()]}::text[])`;
  const accounts = new Map(keys.map(({ public_id, account_id }) => [public_id, account_id]));
  const from = new Date(minute * minuteMs).toISOString();
  const to = new Date((minute + 1) * minuteMs).toISOString();
  const batch = taken.slice(-36);
  const faults: { readonly target: string; readonly err: unknown }[] = [];
  for (const [id, failures] of [...counts].sort()) {
    const entry = { accountId: accounts.get(id) ?? null, target: id === '-' ? 'keys:unknown' : `key:${id}` };
    const after = { from, to, failures, batch };
    await writeOnce(db, now(), entry, after).catch((error: unknown) =>
      faults.push({ target: entry.target, err: error }),
    );
  }
  if (faults.length > 0)
    log.error({ ...faults[0], entries: faults.length }, 'failed verifications were not written into the audit log');
  return faults.length;
}

interface Entry {
  /** Null: of keys that do not exist. */
  readonly accountId: string | null;
  readonly target: string;
}

interface Content {
  readonly from: string;
  readonly batch: string;
}

const writeOnce = (db: Context['db'], at: Date, { accountId, target }: Entry, after: Content): Promise<void> =>
  db.$transaction(async (tx) => {
    await tx.$executeRaw`SELECT pg_advisory_xact_lock(hashtextextended('failures:' || ${after.batch}, 0))`;
    const written = await tx.$queryRaw<unknown[]>(entryWritten({ accountId, target }, after));
    if (written.length === 0) await appendAudit(tx, at, { accountId, actor, action, target, requestId: null, after });
  });

/**
 * Builds the query for an entry that may be written already. It asks by chain and time, for which there is an index.
 */
export const entryWritten = ({ accountId, target }: Entry, { batch, from }: Content): Prisma.Sql => Prisma.sql`
  SELECT 1 FROM audit WHERE chain = ${accountId ?? operatorChain} AND at >= ${new Date(from)}
    AND action = ${action} AND target = ${target} AND after->>'batch' = ${batch}`;

/** `{"<id or -> <code>": "<count>"}`, by id. */
function countsOf(hash: Readonly<Record<string, string>>): Counts {
  const counts: Counts = new Map();
  for (const [field, count] of Object.entries(hash)) {
    const [id = '', code = ''] = field.split(' ');
    counts.set(id, { ...counts.get(id), [code]: Number(count) });
  }
  return counts;
}
