/** A Postgres that goes back in time, as by a backup that is restored: a copy of the database takes its place. */
import { setTimeout as delay } from 'node:timers/promises';
import type { GroundAlarm } from '@gw/contract/internal/ground';
import {
  accountMessage,
  groundAlarmKey,
  groundKey,
  keyGenerationKey,
  keyTombstonesKey,
  ledgerStream,
} from '@gw/contract/internal/redis';
import { seedOperators, withToken } from '@gw/testing/control-plane/access';
import { startTestApp, type TestApp } from '@gw/testing/control-plane/app';
import { entryOf, eventually, silentLog } from '@gw/testing/control-plane/fixtures';
import { type Instance, startInstance } from '@gw/testing/control-plane/instance';
import { sealedEntry } from '@gw/testing/ledger-entry';
import { takeSnapshot } from '@gw/testing/prisma/postgres';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { copyKeyGeneration } from '../../people/keys/generation-copy.ts';
import { keepOrphans } from '../receipts/orphans.ts';
import { openLook } from './ground.ts';

const accountId = 'acct_demo_enterprise';
const by = { actor: { kind: 'operator', id: 'op_admin', name: null }, requestId: null } as const;
const stops: (() => unknown)[] = [];
let running: TestApp;
let ask: ReturnType<typeof withToken>;
let instance: Instance;

beforeAll(async () => {
  running = await startTestApp();
  ask = withToken(running.operator, (await seedOperators(running.context)).admin);
  instance = await startInstance(running.stores, stops);
}, 120_000);
afterAll(async () => {
  for (const stop of stops) await stop();
  await running?.stop();
});

const look = () => {
  const { databases, redis } = running.stores;
  return openLook({ db: databases.ledger, redis, log: silentLog })();
};
const alarm = async (): Promise<GroundAlarm | null> =>
  JSON.parse((await running.stores.redis.get(groundAlarmKey)) ?? 'null');
const copied = () => copyKeyGeneration(running.stores.db, running.stores.redis);
const restore = async () => (await ask('GET', '/operator/v1/restore')).json();
const health = async () => (await running.operator.inject('/healthz')).json();
const confirm = async (...open_accounts: string[]) => {
  const { id } = (await alarm()) ?? {};
  const body = { alarm: id, reason: 'the replica lagged', open_accounts };
  return (await ask('POST', '/operator/v1/restore/confirm', body)).json();
};

async function newKey() {
  const made = await running.services.people.keys.create(accountId, { name: 'k' }, by);
  if (!made.ok) throw new Error(made.error.why);
  return made.value;
}

/** The digests and seals of all rows of a receipt. */
const sealOf = (id: string) =>
  running.stores.db.$queryRaw`SELECT version, content_sha256, seal, seal_key FROM receipts WHERE id = ${id}`;

async function goBackAround(change: () => Promise<unknown>): Promise<void> {
  await look();
  const { goBack } = await takeSnapshot(running.stores.postgres);
  // The pools connect anew.
  await eventually(async () => (await running.stores.db.$queryRaw`SELECT 1`) !== null);
  await change();
  await goBack();
  await eventually(async () => (await running.stores.databases.ledger.$queryRaw`SELECT 1`) !== null);
}

test('what was revoked stays revoked, what changed since is in doubt until an operator confirms, and all else goes on', async () => {
  const { keys } = running.services.people;
  const [revoked, limited, other] = [await newKey(), await newKey(), await newKey()];
  for (const { key } of [revoked, limited, other]) expect(await instance.ask(key)).toBe('ok');
  let made = { key: '', id: '' };
  const lost = entryOf();
  const orphan = sealedEntry(entryOf(), 'closed');
  let seal: unknown;
  await goBackAround(async () => {
    await keys.revoke(accountId, revoked.id, by);
    await keys.change(accountId, limited.id, { project: 'p' }, by);
    made = await newKey();
    await eventually(async () => (await instance.ask(revoked.key)) === 'revoked_api_key');
    await eventually(async () => (await instance.ask(made.key)) === 'ok');
    await running.store(lost);
    seal = await sealOf(lost.receipt.id);
    await keepOrphans(running.stores.redis, [orphan]);
    await look();
  });
  // ext-authz sees it by itself, before the control plane has said anything.
  expect(await alarm()).toBeNull();
  await eventually(async () => (await instance.ask(limited.key)) === 'overloaded');
  await look();
  const answers = async () => Promise.all([revoked, limited, made, other].map(({ key }) => instance.ask(key)));
  await delay(400);
  expect(await answers()).toEqual(['revoked_api_key', 'overloaded', 'overloaded', 'ok']);
  // Whatever is changed on the new line, what is in doubt stays so.
  const later = await newKey();
  await copied();
  await delay(400);
  expect(await answers()).toEqual(['revoked_api_key', 'overloaded', 'overloaded', 'ok']);
  await eventually(async () => (await instance.ask(later.key)) === 'ok');

  expect(await alarm()).toMatchObject({
    why: 'older',
    receipts: { known: 1, found: 0 },
    batch: { known: 1, found: 0 },
  });
  expect((await alarm())?.audit_chains.map(({ chain }) => chain)).toContain(accountId);
  expect(await health()).toMatchObject({ status: 'degraded', postgres_went_back: true });
  expect((await running.operator.inject('/metrics')).body).toMatch(/^gw_postgres_went_back\{.*\} 1$/m);
  const inDoubt = [revoked, limited, made].map(({ id }) => ({ id, closed: id === revoked.id }));
  expect((await restore()).keys_in_doubt).toEqual(expect.arrayContaining(inDoubt));

  // As the sidecar puts it in again, and a second time.
  await running.store(lost);
  await running.store(lost);
  expect(await sealOf(lost.receipt.id)).toEqual(seal);

  expect(await confirm()).toMatchObject({ revoked_again: [revoked.id] });
  // No sidecar puts these in again.
  const waiting = await running.stores.redis.xrangeBuffer(ledgerStream, '-', '+');
  expect(waiting.map(([, [, entry]]) => entry)).toEqual([orphan]);
  await eventually(async () => (await instance.ask(limited.key)) === 'ok');
  expect(await answers()).toEqual(['revoked_api_key', 'ok', 'invalid_api_key', 'ok']);
  expect((await keys.read(accountId, revoked.id))?.state).toBe('revoked');
  await look();
  expect([(await restore()).alarm, (await health()).postgres_went_back]).toEqual([null, false]);
  const [entry] = (await ask('GET', '/operator/v1/audit?action=postgres.restore_confirmed')).json().data;
  expect(entry.before.why).toBe('older');
});

test('an account whose suspension is lost opens only if it is named, and what Postgres does not know stays a tombstone', async () => {
  const suspended = 'acct_demo_audit';
  const tombstones = () => running.stores.redis.zrange(keyTombstonesKey, '0', '-1');
  const lost = await newKey();
  await running.services.people.keys.revoke(accountId, lost.id, by);
  const reply = await ask('POST', `/operator/v1/accounts/${suspended}/suspend`, { reason: 'a test' });
  expect(reply.statusCode).toBe(200);
  await copied();
  await look();
  await running.stores.tamper(`DELETE FROM api_keys WHERE public_id = '${lost.id}'`);
  await running.stores.tamper(`UPDATE accounts SET state = 'active' WHERE id = '${suspended}'`);
  await running.stores.tamper('UPDATE ground SET heartbeat = heartbeat - 1');
  await look();
  const { id } = (await alarm()) ?? {};
  expect((await confirm('acct_another')).error.message).toContain(`suspended: ${suspended}. Suspend them again`);
  expect((await alarm())?.id).toBe(id);
  expect(await tombstones()).toEqual(expect.arrayContaining([lost.id, accountMessage(suspended)]));

  expect(await confirm(suspended)).toMatchObject({ accounts_open_again: [suspended] });
  await copied();
  expect(await tombstones()).toContain(lost.id);
  expect(await tombstones()).not.toContain(accountMessage(suspended));
});

test('a Valkey that is older, or empty, beside a right Postgres is no alarm, and learns again', async () => {
  const { redis } = running.stores;
  await look();
  const [ground, generation] = [await redis.hgetall(groundKey), await redis.get(keyGenerationKey)];
  await newKey();
  for (let i = 0; i < 3; i++) await look();
  await redis.hset(groundKey, ground);
  await redis.set(keyGenerationKey, String(generation));
  await look();
  await copied();
  expect(await alarm()).toBeNull();
  await redis.flushall();
  await look();
  await copied();
  expect(await alarm()).toBeNull();
  expect(Number(await redis.hget(groundKey, 'heartbeat'))).toBeGreaterThan(Number(ground.heartbeat));
});

test('another server that lacks nothing is an alarm too, and closes no key', async () => {
  const { redis } = running.stores;
  const { key } = await newKey();
  await look();
  await redis.hset(groundKey, { timeline: '000000FF' });
  await look();
  expect(await alarm()).toMatchObject({ why: 'another', audit_chains: [] });
  await delay(400);
  expect(await instance.ask(key)).toBe('ok');
  expect(await confirm()).toMatchObject({ revoked_again: [], batches_given_up: [] });
  await look();
  expect(await alarm()).toBeNull();
});

test('a server that stops telling its name stays known by the one that it had', async () => {
  const { redis, tamper } = running.stores;
  await look();
  const { heartbeat, ...before } = await redis.hgetall(groundKey);
  expect([before.server, before.timeline]).not.toContain('');
  await tamper('REVOKE EXECUTE ON FUNCTION pg_walfile_name(pg_lsn) FROM PUBLIC');
  await look();
  const { heartbeat: later, ...after } = await redis.hgetall(groundKey);
  expect(Number(later)).toBe(Number(heartbeat) + 1);
  expect(after).toEqual(before);
  await tamper('GRANT EXECUTE ON FUNCTION pg_walfile_name(pg_lsn) TO PUBLIC');
  await redis.hset(groundKey, { timeline: '000000FF' });
  await look();
  expect(await alarm()).toMatchObject({ why: 'another' });
  await confirm();
});

test('a new database beside an old Valkey is named as such', async () => {
  await look();
  await running.stores.tamper('UPDATE ground SET heartbeat = 0');
  await look();
  expect(await alarm()).toMatchObject({ why: 'empty', cause: expect.stringContaining('FLUSHALL') });
  const other = await ask('POST', '/operator/v1/restore/confirm', { alarm: 'another', reason: 'a test' });
  expect(other.statusCode).toBe(409);
  await confirm();
  expect((await ask('POST', '/operator/v1/restore/confirm', { alarm: 'none', reason: 'a test' })).statusCode).toBe(409);
});
