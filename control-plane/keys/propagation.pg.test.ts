/**
 * How fast a change reaches the instances that decide: two of them, with everything that they do beside gRPC, on real
 * stores; and what they say when the stores are away.
 */
import { randomBytes } from 'node:crypto';
import { setTimeout as delay } from 'node:timers/promises';
import { generateApiKey } from '@gw/contract/internal/api-key';
import { keyGenerationKey } from '@gw/contract/internal/redis';
import { makeCheck } from '@gw/ext-authz/check';
import { watchChanges } from '@gw/ext-authz/keys/change-watch';
import { KeyCache } from '@gw/ext-authz/keys/key-cache';
import { KeyDirectory } from '@gw/ext-authz/keys/key-directory';
import { openDatabase, Prisma } from '@gw/prisma/client';
import { allPublicIds, findKey, keyChanges, keyGeneration, renewKeyHash } from '@gw/prisma/find-key';
import type { Redis } from 'ioredis';
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest';
import { addresses, type Stores, silentLog, startStores } from '../fixtures-for-tests.ts';
import { copyKeyGeneration } from './generation-copy.ts';
import { createKeys, type Keys } from './keys.ts';

const pepper = { version: 1, secret: Buffer.alloc(32, 7) };
const peppers = { current: pepper, other: null };
const accountId = 'acct_demo_enterprise';
const by = { actor: { kind: 'operator', id: 'op', name: 'Ada' }, requestId: null } as const;

let stores: Stores;
let keys: Keys;
beforeAll(async () => {
  stores = await startStores();
  const { db, redis } = stores;
  keys = createKeys({ db, redis, log: silentLog, now: () => new Date(), pepper, random: randomBytes });
});
afterAll(() => stores.stop());

const stops: (() => unknown)[] = [];
afterEach(async () => {
  for (const stop of stops.splice(0)) await stop();
});

/** Never told anything, as if each message were lost. */
const deaf = { status: 'connecting', on: () => {}, subscribe: async () => 0 } as unknown as Redis;

interface Instance {
  readonly lookUps: () => number;
  /** `ok`, or the code of the refusal. */
  ask(key: string): Promise<string>;
}

async function startInstance({ told = true, clock = () => performance.now() } = {}): Promise<Instance> {
  const db = openDatabase(stores.postgres.serviceUrl, {
    connections: 4,
    queryTimeoutMs: 1500,
    onConnectionLost: () => {},
  });
  const redis = stores.connect();
  const subscriber = told ? stores.connect() : deaf;
  await Promise.all([redis, subscriber].map((each) => each === deaf || new Promise((ok) => each.once('ready', ok))));
  let lookUps = 0;
  const directory = new KeyDirectory({ now: clock, load: () => allPublicIds(db) });
  const find = (publicId: string) => {
    lookUps += 1;
    return findKey(db, publicId);
  };
  const cache = new KeyCache(
    { find },
    { now: clock, capacity: 50_000, graceMs: 60_000, admit: (id) => directory.admit(id) },
  );
  const watch = watchChanges({
    cache,
    directory,
    changes: (known) => keyChanges(db, known),
    redis,
    subscriber,
    now: clock,
    pollMs: 300,
    patienceMs: 300,
    log: silentLog,
  });
  stops.push(
    () => watch.stop(),
    () => db.$disconnect(),
  );
  await watch.ready;
  const notes = { used: () => {}, failed: () => {} };
  const faults = { note: () => {} };
  const check = makeCheck({ cache, peppers, renew: () => {}, notes, now: Date.now, addresses, faults });
  return {
    lookUps: () => lookUps,
    ask: async (key) => {
      const headers = { authorization: `Bearer ${key}` };
      const contextExtensions = { scope: 'inference:write', handler: 'sidecar' };
      const { deniedResponse } = await check({ attributes: { contextExtensions, request: { http: { headers } } } });
      return deniedResponse ? JSON.parse(String(deniedResponse.body)).error.code : 'ok';
    },
  };
}

async function newKey() {
  const made = await keys.create(accountId, { name: 'k' }, by);
  if (!made.ok) throw new Error(made.refusal.why);
  return made.value;
}

/** Asks both instances on 32 connections until 1.3 s after `change` is done; what they said, with the ms since then. */
async function answersAround(instances: readonly Instance[], key: string, change: () => Promise<unknown>) {
  const answers: { code: string; afterMs: number }[] = [];
  let doneAt = Number.POSITIVE_INFINITY;
  const ask = async (instance: Instance) => {
    while (performance.now() < doneAt + 1300) {
      const code = await instance.ask(key);
      answers.push({ code, afterMs: performance.now() - doneAt });
      await delay(2);
    }
  };
  const asking = Array.from({ length: 32 }, (_, i) => ask(instances[i % instances.length] as Instance));
  await delay(100);
  await change();
  doneAt = performance.now();
  await Promise.all(asking);
  const late = new Set(answers.filter(({ afterMs }) => afterMs > 1000).map(({ code }) => code));
  return { early: new Set(answers.map(({ code }) => code)), late };
}

describe.each([true, false])('with messages: %s', (told) => {
  const start = () => Promise.all([startInstance({ told }), startInstance({ told })]);

  test('a key is refused everywhere a second after its revocation, and let in a second after its restoring', async () => {
    const [instances, { id, key }] = [await start(), await newKey()];
    const revoked = await answersAround(instances, key, () => keys.revoke(accountId, id, by));
    expect(revoked.early).toContain('ok');
    expect([...revoked.late]).toEqual(['revoked_api_key']);
    const restored = await answersAround(instances, key, () => keys.restore(accountId, id, by));
    expect([...restored.late]).toEqual(['ok']);
  });

  test('a suspension and a change of scopes hold everywhere within a second', async () => {
    const [instances, { id, key }] = [await start(), await newKey()];
    const { account, apiKey } = stores.db;
    const suspend = (state: 'active' | 'suspended') => account.update({ where: { id: accountId }, data: { state } });
    expect([...(await answersAround(instances, key, () => suspend('suspended'))).late]).toEqual(['customer_suspended']);
    expect([...(await answersAround(instances, key, () => suspend('active'))).late]).toEqual(['ok']);
    const narrow = () => apiKey.update({ where: { publicId: id }, data: { scopes: ['gw:read'] } });
    expect([...(await answersAround(instances, key, narrow)).late]).toEqual(['insufficient_scope']);
  });

  test('a new key works at once, and during a flood of unknown ones within a second', async () => {
    const instances = await start();
    const unknown = () => generateApiKey(randomBytes).plaintext;
    for (const each of instances) expect(await each.ask((await newKey()).key)).toBe('ok');
    const [one] = instances;
    for (let i = 0; i < 200; i++) await one.ask(unknown());
    const { key } = await newKey();
    await delay(1000);
    const flood = Promise.all(Array.from({ length: 200 }, () => one.ask(unknown())));
    expect(await one.ask(key)).toBe('ok');
    expect(new Set(await flood)).toEqual(new Set(['invalid_api_key']));
  });
});

test('a hundred thousand unknown keys cost as many look-ups as the budget has, and valid keys none', async () => {
  const [instance, { key }] = [await startInstance(), await newKey()];
  expect(await instance.ask(key)).toBe('ok');
  const [before, begun] = [instance.lookUps(), performance.now()];
  for (let i = 0; i < 100_000; i++) {
    const answer = await instance.ask(generateApiKey(randomBytes).plaintext);
    if (answer !== 'invalid_api_key') throw new Error(answer);
    if (i % 500 === 0) {
      expect(await instance.ask(key)).toBe('ok');
      // So that the polls have their turn, as they have between the messages of connections.
      await new Promise(setImmediate);
    }
  }
  const seconds = (performance.now() - begun) / 1000;
  expect(instance.lookUps() - before).toBeLessThanOrEqual(50 + 20 * seconds + 1);
}, 60_000);

test('changes of other keys and accounts cost no look-up of a key that did not change, with and without messages', async () => {
  for (const told of [true, false]) {
    const instance = await startInstance({ told });
    const [{ key }, { id, key: other }] = [await newKey(), await newKey()];
    const ofOther = await keys.create('acct_demo_audit_plus', { name: 'k' }, by);
    if (!ofOther.ok) throw new Error(ofOther.refusal.why);
    await delay(700);
    for (const each of [key, other, ofOther.value.key]) expect(await instance.ask(each)).toBe('ok');
    const before = instance.lookUps();
    for (let i = 0; i < 20; i += 1) {
      await keys.revoke(accountId, id, by);
      await keys.restore(accountId, id, by);
    }
    await stores.db.account.update({ where: { id: 'acct_demo_audit_plus' }, data: { models: ['sim-small'] } });
    await delay(700);
    for (let i = 0; i < 100; i += 1) expect(await instance.ask(key)).toBe('ok');
    expect(instance.lookUps()).toBe(before);
    for (const each of [other, ofOther.value.key]) expect(await instance.ask(each)).toBe('ok');
    expect(instance.lookUps()).toBe(before + 2);
    await stores.db.account.update({ where: { id: 'acct_demo_audit_plus' }, data: { models: Prisma.DbNull } });
  }
});

test('what changed is told as long as all of it is known, and as anything after that', async () => {
  const { db } = stores;
  const known = await keyGeneration(db);
  const { id } = await newKey();
  await db.account.update({ where: { id: accountId }, data: { name: 'Renamed' } });
  await keys.revoke(accountId, id, by);
  expect(await keyChanges(db, known)).toEqual({
    generation: known + 3,
    since: { publicIds: [id], accountIds: [accountId] },
  });
  expect(await keyChanges(db, known + 3)).toEqual({
    generation: known + 3,
    since: { publicIds: [], accountIds: [] },
  });
  for (const unknown of [null, known - 5000, known + 4])
    expect(await keyChanges(db, unknown)).toEqual({ generation: known + 3, since: null });
  const owner = openDatabase(stores.postgres.url, { connections: 1 });
  await owner.$executeRaw`DELETE FROM key_changes WHERE generation = ${known + 2}`;
  await owner.$disconnect();
  for (const at of [known, known + 1]) expect((await keyChanges(db, at)).since).toBeNull();
  expect((await keyChanges(db, known + 2)).since).toEqual({ publicIds: [id], accountIds: [] });
});

test('the copy of the generation in Redis only rises, also where a slow instance writes it', async () => {
  const { db, redis } = stores;
  const generation = await keyGeneration(db);
  await redis.set(keyGenerationKey, generation + 5);
  await copyKeyGeneration(db, redis);
  expect(await redis.get(keyGenerationKey)).toBe(String(generation + 5));
  await redis.set(keyGenerationKey, generation - 1);
  await copyKeyGeneration(db, redis);
  expect(await redis.get(keyGenerationKey)).toBe(String(generation));
});

test('an expiry holds at its second, without any change', async () => {
  const instance = await startInstance();
  const { id, key } = await newKey();
  const expiresAt = new Date(Date.now() + 700);
  await stores.db.apiKey.update({ where: { publicId: id }, data: { expiresAt } });
  expect(await instance.ask(key)).toBe('ok');
  for (;;) {
    const before = Date.now();
    const answer = await instance.ask(key);
    const after = Date.now();
    if (after < expiresAt.getTime()) expect(answer).toBe('ok');
    if (before < expiresAt.getTime()) continue;
    expect(answer).toBe('expired_api_key');
    break;
  }
});

test('a hash is renewed only in the place of the one that was read', async () => {
  const { id } = await newKey();
  const read = async () => {
    const found = await findKey(stores.db, id);
    if (found === null) throw new Error('The key is gone.');
    return found;
  };
  const first = await read();
  const renewed = { hash: Buffer.alloc(32, 2), pepperVersion: 2 };
  await renewKeyHash(stores.db, first, renewed);
  expect(await read()).toMatchObject(renewed);
  // By an instance that has not seen the first renewal.
  await renewKeyHash(stores.db, first, { hash: Buffer.alloc(32, 3), pepperVersion: 2 });
  expect(await read()).toMatchObject(renewed);
});

test('a key that was hashed anew makes no instance look keys up again', async () => {
  const { id } = await newKey();
  const before = await keyGeneration(stores.db);
  const where = { publicId: id };
  await stores.db.apiKey.update({ where, data: { hash: new Uint8Array(32), pepperVersion: 2 } });
  expect(await keyGeneration(stores.db)).toBe(before);
  await stores.db.apiKey.update({ where, data: { hash: new Uint8Array(32).fill(1), pepperVersion: 2 } });
  await stores.db.apiKey.update({ where, data: { pepperVersion: 3, scopes: [] } });
  expect(await keyGeneration(stores.db)).toBe(before + 2);
});

describe('when stores are away', () => {
  test('Redis away: a revocation holds within a second all the same', async () => {
    const [instances, { id, key }] = [[await startInstance(), await startInstance()], await newKey()];
    expect(await instances[0]?.ask(key)).toBe('ok');
    await stores.stopRedis();
    const { late } = await answersAround(instances, key, () => keys.revoke(accountId, id, by));
    expect([...late]).toEqual(['revoked_api_key']);
    await stores.startRedis();
    await copyKeyGeneration(stores.db, stores.connect()).catch(() => {});
  });

  test('Postgres away: known keys go on as long as Redis confirms them; both away: for 60 s, to the second', async () => {
    let skewMs = 0;
    const instance = await startInstance({ clock: () => performance.now() + skewMs });
    const { key } = await newKey();
    const { key: fresh } = await newKey();
    expect(await instance.ask(key)).toBe('ok');
    const redis = stores.connect();
    await new Promise((resolve) => redis.once('ready', resolve));
    await copyKeyGeneration(stores.db, redis);
    await delay(700);
    // The change that came with the second key made the instance forget this one.
    expect(await instance.ask(key)).toBe('ok');
    await stores.postgres.kill();
    await delay(700);
    skewMs += 59_000;
    // A poll that Redis confirmed in time.
    await delay(700);
    skewMs += 59_000;
    expect(await instance.ask(key)).toBe('ok');
    // Not known here, and nobody to ask: a fault of ours, never a wrong key.
    expect(await instance.ask(fresh)).toBe('internal_error');
    expect(await instance.ask(generateApiKey(randomBytes).plaintext)).toBe('internal_error');
    await delay(700);
    await redis.del(keyGenerationKey);
    const lastAt = performance.now();
    skewMs += 58_500;
    expect(await instance.ask(key)).toBe('ok');
    skewMs += 2500;
    expect(await instance.ask(key)).toBe('internal_error');
    expect(performance.now() - lastAt).toBeLessThan(1000);
    await stores.postgres.start();
  });
});
