/** From the notes that ext-authz takes to what customers and operators read, on real stores. */
import { operatorChain } from '@gw/contract/internal/audit-chain';
import { minuteMs } from '@gw/contract/internal/durations';
import { openKeyNotes } from '@gw/ext-authz/internals/keys/key-notes';
import { openDatabase } from '@gw/prisma/client';
import type { FoundKey } from '@gw/prisma/find-key';
import { type StoresWithOwnRedis, silentLog, startStoresWithOwnRedis } from '@gw/testing/control-plane/fixtures';
import { pino } from 'pino';
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest';
import { appendAudit } from '../audit/append.ts';
import { readAudit } from '../audit/read.ts';
import { entryWritten, writeFailedVerifications } from './failed-verifications.ts';
import { storeLastUses } from './last-use.ts';

const start = Date.parse('2026-11-21T23:58:30.000Z');
const accountId = 'acct_demo_enterprise';
let nowMs = start;
const now = () => nowMs;
let stores: StoresWithOwnRedis;
let job: Parameters<typeof writeFailedVerifications>[0];
beforeAll(async () => {
  stores = await startStoresWithOwnRedis();
  job = { db: stores.db, redis: stores.redis, log: silentLog, now: () => new Date(nowMs) };
});
afterAll(() => stores.stop());
beforeEach(async () => {
  await stores.redis.flushall();
});

let count = 0;
async function newKey(): Promise<FoundKey> {
  const publicId = `Noted${String(++count).padStart(7, '0')}`;
  const data = { publicId, accountId, name: 'n', hash: new Uint8Array(32), scopes: [] };
  await stores.db.apiKey.create({ data });
  return { publicId } as FoundKey;
}

const lastUse = async ({ publicId }: FoundKey) =>
  (await stores.db.keyUse.findUnique({ where: { publicId } }))?.lastUsedOn.toISOString().slice(0, 10);

test('the day of the last use gets from any instance to the key, and never goes back', async () => {
  nowMs = start;
  const key = await newKey();
  const [one, two] = [openKeyNotes({ redis: stores.redis, now }), openKeyNotes({ redis: stores.redis, now })];
  for (let i = 0; i < 100; i++) one.used(key);
  await one.flush();
  expect(await stores.redis.scard('gw:{keys}:used:2026-11-21')).toBe(1);
  await Promise.all([storeLastUses(job), storeLastUses(job)]);
  expect(await lastUse(key)).toBe('2026-11-21');
  nowMs += 2 * minuteMs;
  one.used(key);
  await one.flush();
  await storeLastUses(job);
  expect(await lastUse(key)).toBe('2026-11-22');
  nowMs = start;
  two.used(key);
  await two.flush();
  await storeLastUses(job);
  expect(await lastUse(key)).toBe('2026-11-22');
});

test('what is noted while Redis is away is brought there when it is back', async () => {
  nowMs = start;
  const key = await newKey();
  const redis = stores.connect();
  await new Promise((resolve) => redis.once('ready', resolve));
  const notes = openKeyNotes({ redis, now });
  await stores.stopRedis();
  notes.used(key);
  notes.failed(key, 'revoked_api_key');
  await notes.flush();
  notes.failed(key, 'revoked_api_key');
  const back = new Promise((resolve) => redis.once('ready', resolve));
  await stores.startRedis();
  await back;
  await notes.flush();
  expect(await redis.hgetall(`gw:{keys}:failed:${Math.floor(start / minuteMs)}`)).toEqual({
    [`${key.publicId} revoked_api_key`]: '2',
  });
  expect(await redis.smembers('gw:{keys}:used:2026-11-21')).toEqual([key.publicId]);
});

const entriesOf = async (chain: string) =>
  (await readAudit(stores.db, chain, { order: 'asc', limit: 100, action: 'key.verification_failed' })).map(
    ({ actor, after, target }) => {
      const { batch: _batch, ...shown } = after as { batch: string };
      return { actor: actor.id, target, ...shown };
    },
  );

test('failures are one entry per key and minute with the counts of all instances, however many jobs write them', async () => {
  nowMs = start;
  const [key, other] = [await newKey(), await newKey()];
  const [one, two] = [openKeyNotes({ redis: stores.redis, now }), openKeyNotes({ redis: stores.redis, now })];
  for (let i = 0; i < 5; i++) one.failed(key, 'revoked_api_key');
  one.failed(other, 'insufficient_scope');
  one.failed('unknown', 'invalid_api_key');
  two.failed('malformed', 'invalid_api_key');
  two.failed(key, 'revoked_api_key');
  two.failed(key, 'invalid_api_key');
  await Promise.all([one.flush(), two.flush()]);
  await writeFailedVerifications(job);
  // The minute is not over.
  expect(await entriesOf(accountId)).toEqual([]);
  nowMs += minuteMs;
  await Promise.all([1, 2, 3].map(() => writeFailedVerifications(job)));
  const minute = { from: '2026-11-21T23:58:00.000Z', to: '2026-11-21T23:59:00.000Z' };
  const actor = 'key-verification';
  expect(await entriesOf(accountId)).toEqual([
    { actor, target: `key:${key.publicId}`, ...minute, failures: { invalid_api_key: 1, revoked_api_key: 6 } },
    { actor, target: `key:${other.publicId}`, ...minute, failures: { insufficient_scope: 1 } },
  ]);
  expect(await entriesOf(operatorChain)).toEqual([
    { actor, target: 'keys:unknown', ...minute, failures: { malformed: 1, unknown: 1 } },
  ]);
  expect(await stores.redis.keys('gw:{keys}:failed*')).toEqual([]);
});

test.each([null, accountId])(
  'whether an entry is written is found by an index, however long the log is (%s)',
  async (id) => {
    const owner = openDatabase(stores.postgres.url, { connections: 1 });
    const chain = id ?? operatorChain;
    await owner.$transaction([
      owner.$executeRaw`SET LOCAL session_replication_role = replica`,
      owner.$executeRaw`
      INSERT INTO audit (chain, seq, at, account_id, actor_kind, actor_id, action, target, prev_hash, hash, seal,
        seal_key)
      SELECT ${chain}, 1000000 + i, ${new Date(start)}::timestamptz - i * interval '1 minute', ${id}, 'system', 'x', 'x', 'x',
        repeat('0', 64), repeat('0', 64), repeat('0', 64), 1 FROM generate_series(1, 20000) i`,
    ]);
    await owner.$executeRaw`ANALYZE audit`;
    const asked = entryWritten({ accountId: id, target: 'x' }, { from: new Date(start).toISOString(), batch: 'x' });
    const [plan] = await stores.db.$queryRaw<{ 'QUERY PLAN': [{ Plan: Record<string, unknown> }] }[]>`
    EXPLAIN (FORMAT JSON) ${asked}`;
    expect(plan?.['QUERY PLAN'][0].Plan).toMatchObject({
      'Node Type': 'Index Scan',
      'Index Name': 'audit_chain_at_idx',
      'Index Cond': expect.stringMatching(/chain = .*at >= /),
    });
    await owner.$transaction([
      owner.$executeRaw`SET LOCAL session_replication_role = replica`,
      owner.$executeRaw`DELETE FROM audit WHERE action = 'x'`,
    ]);
    await owner.$disconnect();
  },
);

test('a job that was broken off after its entries were written does not write them again', async () => {
  nowMs = start;
  const key = await newKey();
  const notes = openKeyNotes({ redis: stores.redis, now });
  notes.failed(key, 'expired_api_key');
  await notes.flush();
  nowMs += 2 * minuteMs;
  const broken = { ...job, redis: stores.connect() };
  await new Promise((resolve) => broken.redis.once('ready', resolve));
  const hgetall = broken.redis.hgetall.bind(broken.redis);
  broken.redis.hgetall = (async (name: string) => {
    const read = await hgetall(name);
    // The command after the entries fails.
    broken.redis.disconnect();
    return read;
  }) as typeof broken.redis.hgetall;
  await expect(writeFailedVerifications(broken)).rejects.toThrow();
  const mine = async () => (await entriesOf(accountId)).filter(({ target }) => target === `key:${key.publicId}`);
  expect(await mine()).toHaveLength(1);
  await writeFailedVerifications(job);
  expect(await mine()).toHaveLength(1);
});

test('an entry that cannot be written holds up no other, is told of in one line, and is written when it can be', async () => {
  nowMs = start;
  const [key, other] = [await newKey(), await newKey()];
  await stores.db.apiKey.update({ where: { publicId: key.publicId }, data: { accountId: 'acct_demo_audit' } });
  const notes = openKeyNotes({ redis: stores.redis, now });
  const fact = {
    accountId: 'acct_demo_audit',
    actor: { kind: 'system', id: 'x', name: null },
    requestId: null,
  } as const;
  await stores.db.$transaction((tx) => appendAudit(tx, new Date(start), { ...fact, action: 'a.b', target: 'x' }));
  for (const each of [key, other]) notes.failed(each, 'expired_api_key');
  await notes.flush();
  nowMs += 2 * minuteMs;
  const lines: unknown[] = [];
  const log = pino({}, { write: (line) => void lines.push(JSON.parse(line)) });
  const owner = openDatabase(stores.postgres.url, { connections: 1 });
  const changeHead = (sql: string) =>
    owner.$transaction([owner.$executeRaw`SET LOCAL session_replication_role = replica`, owner.$executeRawUnsafe(sql)]);
  await changeHead("UPDATE audit_heads SET seq = seq - 1 WHERE chain = 'acct_demo_audit'");
  for (let run = 1; run <= 2; run += 1) {
    await writeFailedVerifications({ ...job, log });
    expect(lines).toHaveLength(run);
    expect(lines[run - 1]).toMatchObject({
      level: 50,
      entries: 1,
      target: `key:${key.publicId}`,
      err: expect.anything(),
    });
    const targets = (await entriesOf(accountId)).map(({ target }) => target);
    expect(targets.filter((target) => target === `key:${other.publicId}`)).toHaveLength(1);
  }
  await changeHead("UPDATE audit_heads SET seq = seq + 1 WHERE chain = 'acct_demo_audit'");
  await writeFailedVerifications(job);
  expect((await entriesOf('acct_demo_audit')).map(({ target }) => target)).toContain(`key:${key.publicId}`);
  expect(await stores.redis.keys('gw:{keys}:failed*')).toEqual([]);
  await owner.$disconnect();
});
