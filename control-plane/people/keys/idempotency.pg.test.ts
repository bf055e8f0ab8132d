/** Changes of API keys that are sent again with their idempotency key, on the internal listener. */
import { randomUUID } from 'node:crypto';
import { Idempotency, redisClaims } from '@gw/service/idempotency';
import { createReplyCipher } from '@gw/service/internals/idempotency/reply-cipher';
import type { RedisWriter } from '@gw/service/redis-writer';
import { startTestApp, type TestApp } from '@gw/testing/control-plane/app';
import { codeOf, openKeyedAccounts, reexecuted, replayed, shown } from '@gw/testing/control-plane/idempotency';
import { readyWriter } from '@gw/testing/valkey';
import type { FastifyInstance } from 'fastify';
import { pino } from 'pino';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { buildInternalApp } from '../../app.ts';
import type { Context } from '../../shared/context.ts';

let running: TestApp;
let writer: RedisWriter;
let newAccount: ReturnType<typeof openKeyedAccounts>;
/** Another instance, with connections and claims of its own. */
let other: { readonly app: FastifyInstance; readonly idempotency: Idempotency };
const logged: string[] = [];
const log = pino({ level: 'trace' }, { write: (line: string) => void logged.push(line) });
const cipher = createReplyCipher([Buffer.from('1d'.repeat(32), 'hex')]);
const internalToken = 'a-token-of-the-tests-that-is-long-enough';

const appOn = (context: Context, idempotency: Pick<Idempotency, 'claim'>) =>
  buildInternalApp(context, { ...running.services, idempotency }, { internalToken });

beforeAll(async () => {
  running = await startTestApp();
  newAccount = openKeyedAccounts(running);
  const redis = running.stores.connect();
  writer = await readyWriter(running.stores.redisUrl);
  const idempotency = new Idempotency({ claims: redisClaims(writer), cipher, now: () => performance.now() });
  other = { idempotency, app: appOn({ ...running.context, redis, log }, idempotency) };
}, 120_000);
afterAll(async () => {
  other.idempotency.stop();
  await other.app.close();
  writer.stop();
  await running.stop();
});

test('a key that is asked for twice is made once, and shown again byte for byte, also by another instance', async () => {
  const { ask, made } = await newAccount();
  const key = randomUUID();
  const first = await ask('/v1/keys', key, { name: 'build server', scopes: ['gw:read'] });
  expect([first.statusCode, replayed(first), reexecuted(first)]).toEqual([200, undefined, undefined]);
  // The same, in other words.
  const body = { scopes: ['gw:read'], name: 'build server' };
  for (const app of [running.app, other.app]) {
    const again = await ask('/v1/keys', key, body, undefined, app);
    expect(shown(again)).toEqual(shown(first));
    expect([replayed(again), reexecuted(again)]).toEqual(['true', undefined]);
    expect(again.headers).not.toHaveProperty('x-gw-stamp');
  }
  expect(await made()).toBe(1);
});

test('of twenty at once over two instances one makes a key, and all show it', async () => {
  const { ask, made } = await newAccount();
  const key = randomUUID();
  const replies = await Promise.all(
    Array.from({ length: 20 }, (_, at) =>
      ask('/v1/keys', key, { name: 'one' }, undefined, at % 2 ? running.app : other.app),
    ),
  );
  expect(new Set(replies.map((reply) => shown(reply).join()))).toHaveLength(1);
  expect(replies.map(({ statusCode }) => statusCode)).toEqual(Array(20).fill(200));
  expect(replies.filter((reply) => replayed(reply) !== 'true')).toHaveLength(1);
  expect(await made()).toBe(1);
});

test('a rotation that is sent twice makes one successor, and shows it twice', async () => {
  const { ask, keyId, made } = await newAccount();
  const rotate = (key: string) => ask(`/v1/keys/${keyId}/rotate`, key, { scopes: ['gw:read'] });
  const key = randomUUID();
  const first = await rotate(key);
  expect(first.json()).toMatchObject({ predecessor: keyId });
  expect(shown(await rotate(key))).toEqual(shown(first));
  expect(codeOf(await rotate(randomUUID()))).toEqual([409, 'key_has_successor', 'key_id']);
  expect(await made()).toBe(1);
});

test('a revocation is confirmed as it was, also after the key was restored', async () => {
  const { ask, furtherKey } = await newAccount();
  const victim = await furtherKey({ scopes: ['gw:read'] });
  const key = randomUUID();
  const first = await ask(`/v1/keys/${victim}/revoke`, key);
  expect((await ask(`/v1/keys/${victim}/restore`, randomUUID())).statusCode).toBe(200);
  expect(shown(await ask(`/v1/keys/${victim}/revoke`, key))).toEqual(shown(first));
  const row = await running.stores.db.apiKey.findUniqueOrThrow({ where: { publicId: victim } });
  expect(row.revokedAt).toBeNull();
});

test('the secret of a new key is neither in Redis nor in the log', async () => {
  const { ask } = await newAccount();
  const key = randomUUID();
  for (let times = 0; times < 2; times += 1) await ask('/v1/keys', key, { name: 'k' }, undefined, other.app);
  const reply = await ask('/v1/keys', key, { name: 'k' });
  const secret: string = reply.json().key.slice(16);
  const stored: string[] = [];
  for (const name of await running.stores.redis.keys('gw:idempotency:*'))
    stored.push(name, JSON.stringify(await running.stores.redis.hgetall(name).catch(() => '')));
  expect(stored.join()).toContain('changes:');
  for (const text of [...stored, ...logged]) {
    expect(text).not.toContain(secret);
    expect(text).not.toContain(key);
  }
});

test('a key stands for one request: another body is refused, another path or account is something else', async () => {
  const one = await newAccount();
  const key = randomUUID();
  expect((await one.ask('/v1/keys', key, { name: 'one' })).statusCode).toBe(200);
  const reused = [400, 'idempotency_key_reused', 'Idempotency-Key'];
  expect(codeOf(await one.ask('/v1/keys', key, { name: 'two' }))).toEqual(reused);
  const rotated = await one.ask(`/v1/keys/${one.keyId}/rotate`, key, { name: 'one', scopes: ['gw:read'] });
  const further = await one.furtherKey();
  const rotatedToo = await one.ask(`/v1/keys/${further}/rotate`, key, { name: 'one', scopes: ['gw:read'] });
  const two = await newAccount();
  const elsewhere = await two.ask('/v1/keys', key, { name: 'one' });
  for (const reply of [rotated, rotatedToo, elsewhere])
    expect([reply.statusCode, replayed(reply)]).toEqual([200, undefined]);
  expect([await one.made(), await two.made()]).toEqual([3, 1]);
});

test('a refusal is not kept: the key can be used for another request', async () => {
  const { ask, made } = await newAccount();
  const key = randomUUID();
  const scopes = ['admin:keys'];
  for (let times = 0; times < 2; times += 1) {
    const refused = await ask('/v1/keys', key, { name: 'k', scopes });
    expect([...codeOf(refused), replayed(refused)]).toEqual([400, 'invalid_scopes', 'scopes', undefined]);
  }
  // Refused by its form, before anything is claimed.
  expect((await ask('/v1/keys', key, { name: 7 })).statusCode).toBe(400);
  const done = await ask('/v1/keys', key, { name: 'k' });
  expect([done.statusCode, replayed(done), reexecuted(done)]).toEqual([200, undefined, undefined]);
  expect(await made()).toBe(1);
});

test.each(['', 'two words', 'a'.repeat(256), 'é'])(
  '%j is no idempotency key, and nothing is made with it',
  async (key) => {
    const { ask, made } = await newAccount();
    const reply = await ask('/v1/keys', key, { name: 'k' });
    expect(codeOf(reply)).toEqual([400, 'invalid_idempotency_key', 'Idempotency-Key']);
    expect(await made()).toBe(0);
  },
);

test('whoever lost the right to issue keys gets none again, and another key of the account that has it does', async () => {
  const { db } = running.stores;
  const account = await newAccount();
  const key = randomUUID();
  const ask = (by?: string) => account.ask('/v1/keys', key, { name: 'k' }, by);
  const first = await ask();
  const set = (data: object) => db.apiKey.update({ where: { publicId: account.keyId }, data });
  await set({ revokedAt: new Date() });
  expect(codeOf(await ask())).toEqual([401, 'revoked_api_key', null]);
  expect(shown(await ask(await account.furtherKey()))).toEqual(shown(first));
  await set({ revokedAt: null, scopes: ['gw:read'] });
  expect(codeOf(await ask())).toEqual([403, 'insufficient_scope', null]);
  await set({ scopes: ['admin:keys'] });
  expect(shown(await ask())).toEqual(shown(first));
  const state = (to: 'active' | 'suspended') => db.account.update({ where: { id: account.id }, data: { state: to } });
  await state('suspended');
  expect(codeOf(await ask())).toEqual([403, 'customer_suspended', null]);
  await state('active');
  await db.account.update({ where: { id: account.id }, data: { tier: 'audit' } });
  expect(codeOf(await ask())).toEqual([403, 'insufficient_scope', null]);
  expect(await account.made()).toBe(1);
});

test('a key with limits of its own is not shown one that was made without them', async () => {
  const account = await newAccount('enterprise');
  const key = randomUUID();
  const limited = await account.furtherKey({ limitPerDay: 5 });
  expect((await account.ask('/v1/keys', key, { name: 'k' })).statusCode).toBe(200);
  const refused = await account.ask('/v1/keys', key, { name: 'k' }, limited);
  expect(codeOf(refused)).toEqual([400, 'invalid_limits', 'limits']);
  expect(refused.body).not.toContain('gw_');
});

test('one that waits for the first is looked at again before it gets the reply', async () => {
  const { db } = running.stores;
  const account = await newAccount();
  const later = await account.furtherKey();
  const key = randomUUID();
  let second: Promise<unknown> = Promise.resolve();
  const first = await db.$transaction(async (tx) => {
    await tx.$queryRaw`SELECT 1 FROM accounts WHERE id = ${account.id} FOR UPDATE`;
    const running = account.ask('/v1/keys', key, { name: 'k' });
    await waiting();
    second = account.ask('/v1/keys', key, { name: 'k' }, later).then(codeOf);
    await db.apiKey.update({ where: { publicId: later }, data: { revokedAt: new Date() } });
    return { running };
  });
  expect((await first.running).statusCode).toBe(200);
  expect(await second).toEqual([401, 'revoked_api_key', null]);
});

/** Until somebody waits for a lock in this database. */
async function waiting(): Promise<void> {
  for (;;) {
    const found = await running.stores.db.$queryRaw<unknown[]>`
      SELECT 1 FROM pg_stat_activity WHERE datname = current_database() AND wait_event_type = 'Lock'`;
    if (found.length > 0) return;
    await new Promise((resolve) => setTimeout(resolve, 20));
  }
}

/** As if the process had died there: nobody hears of the end, and nobody renews the lease, which is over at once. */
function dying(): Pick<Idempotency, 'claim'> {
  const { redis } = running.stores;
  const claims = { ...redisClaims(writer), renew: async () => true, finish: async () => 'lost' as const };
  const idempotency = new Idempotency({ claims, cipher, now: () => performance.now() });
  idempotency.stop();
  return {
    claim: async (call, waiting) => {
      const found = await idempotency.claim(call, waiting);
      for (const name of await redis.keys(`gw:idempotency:{${call.accountId}}:*`)) await redis.hset(name, 'u', 1);
      return found;
    },
  };
}

test('after a crash between commit and storing the reply a second key is made, and the reply says so', async () => {
  const { ask, made } = await newAccount();
  const key = randomUUID();
  const app = appOn(running.context, dying());
  const lost = await ask('/v1/keys', key, { name: 'k' }, undefined, app);
  const again = await ask('/v1/keys', key, { name: 'k' });
  expect([again.statusCode, reexecuted(again), replayed(again)]).toEqual([200, 'change-may-have-been-made', undefined]);
  expect(again.json().id).not.toBe(lost.json().id);
  const third = await ask('/v1/keys', key, { name: 'k' });
  expect([shown(third), reexecuted(third), replayed(third)]).toEqual([shown(again), reexecuted(again), 'true']);
  expect(await made()).toBe(2);
  await app.close();
});

test('after such a crash a rotation is refused, and names the successor that the first one made', async () => {
  const { ask, keyId, made } = await newAccount();
  const key = randomUUID();
  const app = appOn(running.context, dying());
  const rotate = (on?: FastifyInstance) => ask(`/v1/keys/${keyId}/rotate`, key, { scopes: ['gw:read'] }, undefined, on);
  const lost = await rotate(app);
  for (let times = 0; times < 2; times += 1) {
    const again = await rotate();
    expect([...codeOf(again), reexecuted(again)]).toEqual([
      ...[409, 'key_has_successor', 'key_id'],
      'change-may-have-been-made',
    ]);
    expect(again.json().error.message).toContain(lost.json().id);
  }
  expect(await made()).toBe(1);
  await app.close();
});

test('where Postgres breaks at the commit the reply is a fault, and who asks again is told', async () => {
  const { db } = running.stores;
  const { ask, made } = await newAccount();
  const key = randomUUID();
  const keys = {
    ...running.services.people.keys,
    create: async (...call: Parameters<typeof running.services.people.keys.create>) => {
      await running.services.people.keys.create(...call);
      throw new Error('The connection was closed.');
    },
  };
  const services = { ...running.services, people: { ...running.services.people, keys } };
  const app = buildInternalApp({ ...running.context, db }, services, { internalToken });
  expect(codeOf(await ask('/v1/keys', key, { name: 'k' }, undefined, app))).toEqual([500, 'internal_error', null]);
  const again = await ask('/v1/keys', key, { name: 'k' });
  expect([again.statusCode, reexecuted(again)]).toEqual([200, 'change-may-have-been-made']);
  expect(await made()).toBe(2);
  await app.close();
});
