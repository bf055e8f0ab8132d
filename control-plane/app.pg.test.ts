import { modelListSchema, regionListSchema, regionSchema } from '@gw/contract/catalogue';
import { receiptKey } from '@gw/contract/internal/redis';
import { annualReading } from '@gw/methodology/grid-annual';
import type { FastifyInstance } from 'fastify';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { buildInternalApp, buildOperatorApp } from './app.ts';
import { createCatalogueKeeper } from './catalogue/keeper.ts';
import type { Context } from './context.ts';
import { addresses, entryOf, receiptIdAt, type Stores, silentLog, startStores } from './fixtures-for-tests.ts';
import { type IdentityHeaders, identified } from './identified-for-tests.ts';
import { parseEntry } from './receipts/entry-row.ts';
import { insertReceipts } from './receipts/store-batch.ts';

const internalToken = 'a-token-of-the-tests-that-is-long-enough';
let stores: Stores;
let app: FastifyInstance;
let operator: FastifyInstance;

beforeAll(async () => {
  stores = await startStores();
  const { db, redis } = stores;
  const now = (): Date => new Date();
  const catalogue = createCatalogueKeeper({ db, redis, annualReading, now, log: silentLog });
  await catalogue.refresh();
  const context: Context = { db, redis, log: silentLog, addresses, now, catalogue };
  const none = (): object[] => [];
  const writer = { clusterResources: none, listenerResources: none, secretResources: none };
  app = buildInternalApp(context, { internalToken, writer, credentials: new Map() });
  operator = buildOperatorApp(context);
}, 120_000);
afterAll(async () => {
  await app?.close();
  await operator?.close();
  await stores?.stop();
});

const get = (url: string, headers: Partial<IdentityHeaders> = {}) =>
  app.inject({ url, headers: identified(internalToken, headers) });
const store = async (...entries: ReturnType<typeof entryOf>[]): Promise<void> => {
  const rows = entries.map((entry) => {
    const parsed = parseEntry(JSON.stringify(entry));
    if ('poison' in parsed) throw new Error(parsed.poison);
    return parsed.row;
  });
  await insertReceipts(stores.db, rows);
};
const account = (id: string) => ({ 'x-gw-account-id': id });

test('a direct call without the token is refused on every path, also with forged identity headers', async () => {
  const { 'x-gw-internal-token': _, ...forged } = identified(internalToken);
  for (const url of ['/v1/models', '/healthz', '/openapi.json', '/nowhere', '/v1/gw/receipts/rcpt_x'])
    for (const headers of [forged, { ...forged, 'x-gw-internal-token': 'Bearer wrong' }]) {
      const reply = await app.inject({ url, headers });
      expect(reply.statusCode).toBe(401);
      expect(reply.json().error).toMatchObject({ code: 'invalid_api_key', type: 'auth_error' });
    }
  expect((await app.inject({ method: 'POST', url: '/v3/discovery:secrets', payload: {} })).statusCode).toBe(401);
});

test('without an identity nothing is shown, and no cause either', async () => {
  const reply = await app.inject({ url: '/v1/models', headers: { 'x-gw-internal-token': `Bearer ${internalToken}` } });
  expect(reply.statusCode).toBe(500);
  expect(reply.json()).toEqual({
    error: {
      code: 'internal_error',
      type: 'internal_error',
      message: 'The gateway failed. Nothing in the request is at fault.',
      param: null,
      doc_url: 'https://gw.example/openapi.json#/x-error-catalogue/internal_error',
    },
  });
});

test('models come whole, in the shape of the contract, and say which regions serve them', async () => {
  const list = modelListSchema.parse((await get('/v1/models')).json());
  expect(list.data.map((model) => model.id)).toEqual(['sim-embed', 'sim-large', 'sim-measured', 'sim-small']);
  expect(list).toMatchObject({ has_more: false, first_id: 'sim-embed', last_id: 'sim-small' });
  expect(list.data[1]).toMatchObject({
    object: 'model',
    owned_by: 'simulator',
    context_window: 131_072,
    regions: ['us-east', 'eu-north'],
    tiers: ['proxy', 'parametric'],
  });
});

test('an account with an allow-list sees only its models, in lists, by id and in regions', async () => {
  const headers = { 'x-gw-models': '["sim-small"]' };
  expect((await get('/v1/models', headers)).json().data.map((m: { id: string }) => m.id)).toEqual(['sim-small']);
  expect((await get('/v1/models/sim-small', headers)).statusCode).toBe(200);
  expect((await get('/v1/models/sim-large', headers)).statusCode).toBe(404);
  expect((await get('/v1/regions/us-east', headers)).json().models).toEqual(['sim-small']);
});

test('a model id with slashes is found raw and encoded, an unknown one is 404 invalid_model', async () => {
  await stores.db.model.create({ data: { id: 'org/some/model', ownedBy: 'x', kind: 'chat', modalities: ['text'] } });
  const models = { 'sim-small': 'sim-small', 'org/some/model': 'm' };
  await stores.db.deployment.update({ where: { id: 'sim-eu-west' }, data: { models } });
  const { db, redis } = stores;
  const catalogue = createCatalogueKeeper({ db, redis, annualReading, now: () => new Date(), log: silentLog });
  await catalogue.refresh();
  const context = { db, redis, log: silentLog, addresses, now: () => new Date(), catalogue };
  const none = (): object[] => [];
  const writer = { clusterResources: none, listenerResources: none, secretResources: none };
  const fresh = buildInternalApp(context, { internalToken, writer, credentials: new Map() });
  for (const url of ['/v1/models/org/some/model', '/v1/models/org%2Fsome%2Fmodel'])
    expect((await fresh.inject({ url, headers: identified(internalToken) })).json().id).toBe('org/some/model');
  await fresh.close();
  const reply = await get('/v1/models/none');
  expect(reply.statusCode).toBe(404);
  expect(reply.json().error).toMatchObject({ code: 'invalid_model', type: 'validation_error', param: 'model' });
});

test('regions come with their grid intensity and where it is from', async () => {
  const list = regionListSchema.parse((await get('/v1/regions')).json());
  expect(list.data.map((region) => region.code)).toEqual(['us-east', 'eu-north', 'eu-west']);
  const region = regionSchema.parse((await get('/v1/regions/eu-north')).json());
  expect(region).toMatchObject({ name: 'Stockholm', grid_zone: 'SWE', grid_temporal_match: 'annual_fallback' });
  expect(region.grid_intensity_g_per_kwh).toBe(annualReading('SWE')?.gPerKwh);
  expect(region.grid_intensity_age_minutes).toBeGreaterThan(0);
  const unknown = await get('/v1/regions/mars');
  expect(unknown.statusCode).toBe(404);
  expect(unknown.json().error).toMatchObject({ code: 'invalid_region', param: 'region_code' });
});

test('a receipt is read from Redis while Postgres does not have it, and 202 while it is pending', async () => {
  const [done, pending] = [entryOf(), entryOf({ status: 'pending' })];
  for (const entry of [done, pending]) await stores.redis.set(receiptKey(entry.receipt.id), JSON.stringify(entry));
  const reply = await get(`/v1/gw/receipts/${done.receipt.id}`);
  expect([reply.statusCode, reply.body]).toEqual([200, JSON.stringify(done.receipt)]);
  const waiting = await get(`/v1/gw/receipts/${pending.receipt.id}`);
  expect([waiting.statusCode, waiting.json().status]).toEqual([202, 'pending']);
});

test('a receipt is read from Postgres in the very text, in its newest version or in the one asked for', async () => {
  const first = entryOf();
  const { id } = first.receipt;
  const second = entryOf({ id, version: 2, supersedes: 1, energy_wh: 0.30000000000000004 });
  await store(first, second);
  expect((await get(`/v1/gw/receipts/${id}`)).body).toBe(JSON.stringify(second.receipt));
  expect((await get(`/v1/gw/receipts/${id}?version=1`)).body).toBe(JSON.stringify(first.receipt));
  expect((await get(`/v1/gw/receipts/${id}?version=3`)).statusCode).toBe(404);
});

test("an unknown receipt, a malformed id and another account's receipt are the same 404", async () => {
  const inRedis = entryOf({}, 'acct_other');
  const inPostgres = entryOf({}, 'acct_other');
  await stores.redis.set(receiptKey(inRedis.receipt.id), JSON.stringify(inRedis));
  await store(inPostgres);
  const ids = [inRedis.receipt.id, inPostgres.receipt.id, receiptIdAt(new Date()), 'rcpt_1', 'x%2Fy', "'--"];
  const replies = await Promise.all(ids.map((id) => get(`/v1/gw/receipts/${id}`)));
  for (const reply of replies) {
    expect(reply.statusCode).toBe(404);
    expect(reply.json().error).toMatchObject({ code: 'receipt_not_found', param: 'receipt_id' });
  }
  expect(new Set(replies.map((reply) => reply.body)).size).toBe(1);
});

test('the ledger pages through every receipt of the account once, in both orders, in its newest version', async () => {
  const owner = account('acct_pages');
  const at = Date.now() - 5000;
  // Several in the same millisecond, so that the id has to decide.
  const entries = Array.from({ length: 25 }, (_, i) =>
    entryOf({ id: receiptIdAt(new Date(at + Math.floor(i / 4))) }, 'acct_pages'),
  );
  await store(...entries, entryOf({ ...entries[3]?.receipt, version: 2, supersedes: 1 }, 'acct_pages'), entryOf());
  const ids = entries.map((entry) => entry.receipt.id).sort();
  for (const order of ['asc', 'desc']) {
    const seen: string[] = [];
    let after = '';
    for (let pages = 0; pages < 10; pages++) {
      const page = (await get(`/v1/gw/receipts?limit=7&order=${order}${after}`, owner)).json();
      seen.push(...page.data.map((receipt: { id: string }) => receipt.id));
      expect([page.first_id, page.last_id]).toEqual([page.data[0].id, page.data.at(-1).id]);
      if (!page.has_more) break;
      after = `&after=${page.last_id}`;
    }
    expect(seen).toEqual(order === 'asc' ? ids : [...ids].reverse());
  }
  const newest = (await get('/v1/gw/receipts?limit=100', owner)).json().data;
  expect(newest.find((receipt: { id: string }) => receipt.id === entries[3]?.receipt.id).version).toBe(2);
});

test('the ledger can be narrowed to a model or a region, and an empty one is an empty list', async () => {
  const owner = account('acct_filter');
  const [a, b] = [entryOf({ model: 'm1' }, 'acct_filter'), entryOf({ region: 'r1' }, 'acct_filter')];
  await store(a, b);
  const idsOf = async (query: string) =>
    (await get(`/v1/gw/receipts?${query}`, owner)).json().data.map((receipt: { id: string }) => receipt.id);
  expect(await idsOf('model=m1')).toEqual([a.receipt.id]);
  expect(await idsOf('region=r1')).toEqual([b.receipt.id]);
  expect((await get('/v1/gw/receipts?model=m1&region=r1', owner)).json()).toEqual({
    object: 'list',
    data: [],
    has_more: false,
    first_id: null,
    last_id: null,
  });
});

test('a query parameter at fault is named, with its own code', async () => {
  const cases: [string, string][] = [
    ['/v1/gw/receipts?limit=0', 'limit'],
    ['/v1/gw/receipts?limit=101', 'limit'],
    ['/v1/gw/receipts?limit=x', 'limit'],
    ['/v1/gw/receipts?limit=1&limit=2', 'limit'],
    ['/v1/gw/receipts?order=up', 'order'],
    ['/v1/gw/receipts?after=1', 'after'],
    [`/v1/gw/receipts?after=rcpt_ffffffff-ffff-7fff-8fff-ffffffffffff`, 'after'],
    [`/v1/gw/receipts/${receiptIdAt(new Date())}?version=0`, 'version'],
    ['/v1/usage?from=yesterday', 'from'],
    ['/v1/usage?from=2026-02-02&to=2026-02-01', 'to'],
    ['/v1/usage?from=2020-02-02&to=2026-02-01', 'from'],
  ];
  for (const [url, param] of cases) {
    const reply = await get(url);
    expect([url, reply.statusCode]).toEqual([url, 400]);
    expect(reply.json().error).toMatchObject({ code: `invalid_${param}`, type: 'validation_error', param });
  }
});

test('usage sums requests, tokens, energy and carbon by UTC day and model, each receipt once', async () => {
  const at = (time: string) => receiptIdAt(new Date(time));
  const first = entryOf({ id: at('2026-03-01T23:59:59.999Z'), energy_wh: 0.1, carbon_g: 0.1 }, 'acct_usage');
  const newer = entryOf({ ...first.receipt, version: 2, supersedes: 1, energy_wh: 0.1 }, 'acct_usage');
  const unknown = { energy_wh: null, carbon_g: null, tier: 'degraded' as const };
  await store(
    first,
    newer,
    entryOf({ id: at('2026-03-01T00:00:00.000Z'), energy_wh: 0.2, carbon_g: 0.2 }, 'acct_usage'),
    entryOf({ id: at('2026-03-02T00:00:00.000Z'), model: 'sim-large', ...unknown }, 'acct_usage'),
    entryOf({ id: at('2026-03-03T00:00:00.000Z') }, 'acct_usage'),
  );
  const reply = (await get('/v1/usage?from=2026-03-01&to=2026-03-03', account('acct_usage'))).json();
  const common = { object: 'gw.usage', prompt_tokens: 10, completion_tokens: 20 };
  expect(reply).toEqual({
    object: 'list',
    from: '2026-03-01T00:00:00.000Z',
    to: '2026-03-03T00:00:00.000Z',
    data: [
      {
        ...common,
        date: '2026-03-01',
        model: 'sim-small',
        requests: 2,
        requests_degraded: 0,
        prompt_tokens: 20,
        completion_tokens: 40,
        energy_wh: 0.3,
        carbon_g: 0.3,
      },
      {
        ...common,
        date: '2026-03-02',
        model: 'sim-large',
        requests: 1,
        requests_degraded: 1,
        energy_wh: null,
        carbon_g: null,
      },
    ],
  });
});

test('an unknown path is 404, a wrong method 405 with Allow, both as the error object', async () => {
  const unknown = await get('/v1/grid/health');
  expect([unknown.statusCode, unknown.json().error.code]).toEqual([404, 'unknown_endpoint']);
  const wrong = await app.inject({ method: 'DELETE', url: '/v1/models/a/b', headers: identified(internalToken) });
  expect([wrong.statusCode, wrong.headers.allow]).toEqual([405, 'GET']);
  expect(wrong.json().error).toMatchObject({ code: 'method_not_allowed', param: null });
  const malformed = await get('/v1/regions/%zz');
  expect([malformed.statusCode, malformed.json().error.type]).toEqual([400, 'validation_error']);
});

test('the OpenAPI document and a health without details need no identity', async () => {
  const headers = { 'x-gw-internal-token': `Bearer ${internalToken}` };
  expect((await app.inject({ url: '/openapi.json', headers })).json().servers).toEqual([{ url: addresses.baseUrl }]);
  expect((await app.inject({ url: '/healthz', headers })).json()).toEqual({ status: 'ok' });
});

test('operators see which part is missing', async () => {
  const reply = await operator.inject('/healthz');
  expect([reply.statusCode, reply.json()]).toEqual([
    200,
    { status: 'ok', postgres: true, redis: true, catalogue: true },
  ]);
  expect((await operator.inject('/v1/models')).statusCode).toBe(404);
});

test('without Redis receipts come from Postgres; one that is in neither is then a fault and not a 404', async () => {
  const entry = entryOf();
  await store(entry);
  await stores.stopRedis();
  expect((await get(`/v1/gw/receipts/${entry.receipt.id}`)).statusCode).toBe(200);
  expect((await get(`/v1/gw/receipts/${receiptIdAt(new Date())}`)).statusCode).toBe(500);
  expect((await operator.inject('/healthz')).json()).toMatchObject({ status: 'unavailable', redis: false });
  await stores.startRedis();
});
