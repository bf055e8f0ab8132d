/** A change of a key or account makes others read that one again, and nothing else while it is known which. */
import { randomBytes } from 'node:crypto';
import { setTimeout as delay } from 'node:timers/promises';
import { generateApiKey } from '@gw/contract/internal/api-key';
import { keyGenerationKey } from '@gw/contract/internal/redis';
import { openDatabase, Prisma } from '@gw/prisma/client';
import { findKey, keyChanges, keyGeneration, renewKeyHash } from '@gw/prisma/find-key';
import { type Stores, silentLog, startStores } from '@gw/testing/control-plane/fixtures';
import { pepper, startInstance } from '@gw/testing/control-plane/instance';
import { afterAll, afterEach, beforeAll, expect, test, vi } from 'vitest';
import { copyKeyGeneration } from './generation-copy.ts';
import { createKeys, type Keys } from './keys.ts';

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

async function newKey() {
  const made = await keys.create(accountId, { name: 'k' }, by);
  if (!made.ok) throw new Error(made.error.why);
  return made.value;
}

test('changes of other keys and accounts cost no look-up of a key that did not change, with and without messages', async () => {
  for (const told of [true, false]) {
    const instance = await startInstance(stores, stops, { told });
    const [{ key }, { id, key: other }] = [await newKey(), await newKey()];
    const ofOther = await keys.create('acct_demo_audit_plus', { name: 'k' }, by);
    if (!ofOther.ok) throw new Error(ofOther.error.why);
    await delay(700);
    for (const each of [key, other, ofOther.value.key]) expect(await instance.ask(each)).toBe('ok');
    const before = instance.lookUps();
    for (let i = 0; i < 5; i += 1) {
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

test('changes that are known make no instance read the ids of all keys, and a new key is let in all the same', async () => {
  const instances = await Promise.all([true, false].map((told) => startInstance(stores, stops, { told })));
  const lists = () => instances.map((instance) => instance.lists());
  const unknown = () => generateApiKey(randomBytes).plaintext;
  const { id } = await newKey();
  await keys.revoke(accountId, id, by);
  await stores.db.account.update({ where: { id: accountId }, data: { name: 'Renamed once more' } });
  const made = await Promise.all(Array.from({ length: 20 }, newKey));
  await delay(700);
  for (const instance of instances) {
    // The budget for unknown ids is spent, so what is let in now is in the list.
    for (let i = 0; i < 200; i += 1) await instance.ask(unknown());
    for (const { key } of made) expect(await instance.ask(key)).toBe('ok');
  }
  expect(lists()).toEqual([1, 1]);
  await stores.db.$executeRaw`
    INSERT INTO api_keys (public_id, account_id, name, hash, scopes)
    SELECT 'bulk' || lpad(i::text, 8, '0'), ${accountId}, 'k', sha256(i::text::bytea), '{}' FROM generate_series(1, 1001) i`;
  await vi.waitFor(() => expect(lists()).toEqual([2, 2]), { timeout: 40_000 });
  await newKey();
  await delay(700);
  expect(lists()).toEqual([2, 2]);
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

test('the copy of the generation in Redis only rises, even where a slow instance writes it', async () => {
  const { db, redis } = stores;
  const generation = await keyGeneration(db);
  await redis.set(keyGenerationKey, generation + 5);
  await copyKeyGeneration(db, redis);
  expect(await redis.get(keyGenerationKey)).toBe(String(generation + 5));
  await redis.set(keyGenerationKey, generation - 1);
  await copyKeyGeneration(db, redis);
  expect(await redis.get(keyGenerationKey)).toBe(String(generation));
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
  // An instance that has not seen the first renewal renews it again.
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
