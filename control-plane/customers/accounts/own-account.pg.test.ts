/** An account as its own people see it. */
import { scopes } from '@gw/contract/access';
import { findKey } from '@gw/prisma/find-key';
import { giveBackDayUnit } from '@gw/service/day-unit';
import { openLimiter } from '@gw/service/limits/limiter';
import { openRedisWriter } from '@gw/service/redis-writer';
import { Browser, seedOperators, withToken } from '@gw/testing/control-plane/access';
import { startTestApp, type TestApp } from '@gw/testing/control-plane/app';
import { silentLog } from '@gw/testing/control-plane/fixtures';
import { type Organisation, openOrganisations } from '@gw/testing/control-plane/organisation';
import { Redis } from 'ioredis';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { buildOperatorApp } from '../../operator-app.ts';

let running: TestApp;
let tokens: Awaited<ReturnType<typeof seedOperators>>;
let newOrganisation: ReturnType<typeof openOrganisations>;
const url = '/organisation/v1/account';

beforeAll(async () => {
  running = await startTestApp();
  tokens = await seedOperators(running.context);
  newOrganisation = openOrganisations(running, tokens.admin);
}, 120_000);
afterAll(() => running?.stop());

const change = ({ accountId }: Organisation, wanted: object) =>
  withToken(running.operator, tokens.admin)('PATCH', `/operator/v1/accounts/${accountId}`, wanted);
const read = async ({ admin }: Organisation) => (await admin.call('GET', url)).json();

test('people see who they are, what they may send, and what their keys can be granted, and nothing that operators judge by', async () => {
  const organisation = await newOrganisation('audit');
  const { accountId } = organisation;
  const reply = await organisation.admin.call('GET', url);
  expect([reply.statusCode, reply.headers['cache-control']]).toEqual([200, 'no-store']);
  expect(reply.json()).toEqual({
    id: accountId,
    object: 'gw.account',
    name: accountId,
    tier: 'audit',
    state: 'active',
    scopes: ['inference:read', 'inference:write', 'gw:read'],
    limits: { per_s: 50, burst: 200, per_day: 100_000, streams: 25 },
    tokens: { per_minute: null, per_day: null },
    shadow: [],
    used_today: 0,
    created_at: expect.any(String),
    base_url: running.context.addresses.baseUrl,
  });
});

test('the limits are those that ext-authz holds the account to, also negotiated ones and those in shadow', async () => {
  const organisation = await newOrganisation('audit');
  const enforced = async () => {
    const account = (await findKey(running.stores.db, organisation.keyId))?.account;
    const { burst, perDay, ratePerS, streams } = account?.limits ?? {};
    return { limits: { per_s: ratePerS, burst, per_day: perDay, streams }, shadow: account?.shadow };
  };
  for (const wanted of [
    { tier: 'audit_plus' },
    { tier: 'enterprise', limits: { per_s: 10, burst: 20, per_day: 3000 }, shadow: ['rate'] },
    { limits: { per_s: 10, burst: 20, per_day: 3000, streams: 7 } },
  ]) {
    expect((await change(organisation, wanted)).statusCode).toBe(200);
    expect(await read(organisation)).toMatchObject({ ...(await enforced()), scopes });
  }
  const stop = `/operator/v1/accounts/${organisation.accountId}/suspend`;
  await withToken(running.operator, tokens.admin)('POST', stop, { reason: 'unpaid' });
  expect(await read(organisation)).toMatchObject({ state: 'suspended', tier: 'enterprise' });
});

test('what was used today is what the limiter has counted, of calls alone and of this account', async () => {
  const [own, other] = [await newOrganisation(), await newOrganisation()];
  const redis = running.stores.connect();
  await new Promise((resolve) => redis.once('ready', resolve));
  const limits = openRedisWriter({
    url: running.stores.redisUrl,
    log: silentLog,
    commandTimeoutMs: Number.POSITIVE_INFINITY,
  });
  await limits.untilReady(5000);
  const limiter = openLimiter({
    redis: limits,
    now: Date.now,
    monotonic: () => performance.now(),
    instances: 1,
    log: silentLog,
    patienceMs: 10_000,
    probeMs: 1000,
  });
  const limit = { rate: { perS: 50, burst: 200 }, perDay: 3 };
  const call = ({ accountId }: Organisation, kind = 'calls') =>
    limiter.decide(accountId, kind, { levels: [{ of: 'account', id: accountId, limit }], body: null, shadow: [] });
  // The fourth is refused, and counts nothing.
  for (let calls = 0; calls < 4; calls += 1) await call(own);
  await call(own, 'management');
  await call(other);
  expect([await read(own), await read(other)]).toMatchObject([{ used_today: 3 }, { used_today: 1 }]);
  await giveBackDayUnit(redis, own.accountId, own.keyId);
  expect(await read(own)).toMatchObject({ used_today: 2 });
  await redis.hset(`gw:limit:{${own.accountId}}:calls`, 'd', Math.floor(Date.now() / 86_400_000) - 1);
  expect(await read(own)).toMatchObject({ used_today: 0 });
  limiter.stop();
  limits.stop();
});

test('while Redis is away the account is shown without what it has used', async () => {
  const { admin, accountId } = await newOrganisation();
  const redis = new Redis({ lazyConnect: true, enableOfflineQueue: false, maxRetriesPerRequest: 0 });
  redis.on('error', () => {});
  const app = buildOperatorApp({ ...running.context, redis }, running.services);
  const reply = await app.inject({ url, headers: { cookie: admin.cookie ?? '' } });
  expect(reply.json()).toMatchObject({ id: accountId, used_today: null });
  redis.disconnect();
  await app.close();
});

test('each sees their own, and operators and strangers none', async () => {
  const [own, other] = [await newOrganisation(), await newOrganisation()];
  expect([(await read(own)).id, (await read(other)).id]).toEqual([own.accountId, other.accountId]);
  const asked = await own.admin.call('GET', `${url}?id=${other.accountId}`);
  expect([asked.statusCode, asked.json().error.code]).toEqual([400, 'invalid_id']);
  for (const token of Object.values(tokens))
    expect((await withToken(running.operator, token)('GET', url)).statusCode).toBe(403);
  expect((await new Browser(running.operator).call('GET', url)).statusCode).toBe(401);
});
