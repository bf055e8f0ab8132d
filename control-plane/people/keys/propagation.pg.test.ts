/**
 * How fast a change reaches the instances that decide: two of them, with everything that they do beside gRPC, on real
 * stores; and what they say when the stores are away.
 */

import { randomBytes } from 'node:crypto';
import { setTimeout as delay } from 'node:timers/promises';
import { generateApiKey } from '@gw/contract/internal/api-key';
import { keyGenerationKey } from '@gw/contract/internal/redis';
import { cases } from '@gw/testing/cases';
import { silentLog, startOwnStores } from '@gw/testing/control-plane/fixtures';
import { type Instance, pepper, startInstance as start } from '@gw/testing/control-plane/instance';
import { forFile } from '@gw/testing/for-file';
import { afterEach, beforeAll, describe, expect, test } from 'vitest';
import { copyKeyGeneration } from './generation-copy.ts';
import { createKeys, type Keys } from './keys.ts';

const accountId = 'acct_demo_enterprise';
const by = { actor: { kind: 'operator', id: 'op', name: 'Ada' }, requestId: null } as const;

const stores = forFile(startOwnStores);
let keys: Keys;
beforeAll(() => {
  const { db, redis } = stores;
  keys = createKeys({ db, redis, log: silentLog, now: () => new Date(), pepper, random: randomBytes });
});

const stops: (() => unknown)[] = [];
afterEach(async () => {
  for (const stop of stops.splice(0)) await stop();
});
const startInstance = (options?: Parameters<typeof start>[2]) => start(stores, stops, options);

async function newKey() {
  const made = await keys.create(accountId, { name: 'k' }, by);
  if (!made.ok) throw new Error(made.error.why);
  return made.value;
}

/** Asks both instances on 8 connections until 1.3 s after `change` is done; what they said, with the ms since then. */
async function answersAround(instances: readonly Instance[], key: string, change: () => Promise<unknown>) {
  const answers: { code: string; afterMs: number }[] = [];
  let doneAt = Number.POSITIVE_INFINITY;
  const ask = async (instance: Instance) => {
    while (performance.now() < doneAt + 1300) {
      const code = await instance.ask(key);
      answers.push({ code, afterMs: performance.now() - doneAt });
      await delay(10);
    }
  };
  const asking = Array.from({ length: 8 }, (_, i) => ask(instances[i % instances.length] as Instance));
  await delay(100);
  await change();
  doneAt = performance.now();
  await Promise.all(asking);
  const late = new Set(answers.filter(({ afterMs }) => afterMs > 1000).map(({ code }) => code));
  return { early: new Set(answers.map(({ code }) => code)), late };
}

describe.each([true, false])('with messages: %s', (told) => {
  const startTwo = () => Promise.all([startInstance({ told }), startInstance({ told })]);

  test('a key is refused everywhere a second after its revocation, and let in a second after its restoring', async () => {
    const [instances, { id, key }] = [await startTwo(), await newKey()];
    const revoked = await answersAround(instances, key, () => keys.revoke(accountId, id, by));
    expect(revoked.early).toContain('ok');
    expect([...revoked.late]).toEqual(['revoked_api_key']);
    const restored = await answersAround(instances, key, () => keys.restore(accountId, id, by));
    expect([...restored.late]).toEqual(['ok']);
  });

  test('a suspension and a change of scopes hold everywhere within a second', async () => {
    const [instances, { id, key }] = [await startTwo(), await newKey()];
    const { account, apiKey } = stores.db;
    const suspend = (state: 'active' | 'suspended') => account.update({ where: { id: accountId }, data: { state } });
    expect([...(await answersAround(instances, key, () => suspend('suspended'))).late]).toEqual(['customer_suspended']);
    expect([...(await answersAround(instances, key, () => suspend('active'))).late]).toEqual(['ok']);
    const narrow = () => apiKey.update({ where: { publicId: id }, data: { scopes: ['gw:read'] } });
    expect([...(await answersAround(instances, key, narrow)).late]).toEqual(['insufficient_scope']);
  });

  test('a new key works at once, and during a flood of unknown ones within a second', async () => {
    const instances = await startTwo();
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

test('a flood of unknown keys costs as many look-ups as the budget has, and valid keys none', async () => {
  const [instance, { key }] = [await startInstance(), await newKey()];
  expect(await instance.ask(key)).toBe('ok');
  const [before, begun] = [instance.lookUps(), performance.now()];
  const unknown = cases(100_000, 5000);
  for (let i = 0; i < unknown; i++) {
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
    expect(await instance.ask(fresh)).toBe('overloaded');
    expect(await instance.ask(generateApiKey(randomBytes).plaintext)).toBe('overloaded');
    await delay(700);
    await redis.del(keyGenerationKey);
    const lastAt = performance.now();
    skewMs += 58_500;
    expect(await instance.ask(key)).toBe('ok');
    skewMs += 2500;
    expect(await instance.ask(key)).toBe('overloaded');
    expect(performance.now() - lastAt).toBeLessThan(1000);
    await stores.postgres.start();
  });
});
