import { modelListSchema, regionListSchema, regionSchema } from '@gw/contract/catalogue';
import { rulesSha256 } from '@gw/contract/internal/policy-rules';
import { deadLedgerStream, ledgerStream } from '@gw/contract/internal/redis';
import { usePolicySchema } from '@gw/contract/use-policy';
import { annualReading } from '@gw/methodology/grid-annual';
import { defaultRules } from '@gw/policy/default-rules';
import { identified, internalToken, startTestApp, type TestApp } from '@gw/testing/control-plane/app';
import { afterAll, beforeAll, expect, test } from 'vitest';

let running: TestApp;
beforeAll(async () => {
  running = await startTestApp();
}, 120_000);
afterAll(() => running?.stop());

test('a direct call without the token is refused on every path, also with forged identity headers', async () => {
  const { 'x-gw-internal-token': _, ...forged } = identified();
  for (const url of ['/v1/models', '/healthz', '/nowhere', '/v1/gw/receipts/rcpt_x'])
    for (const headers of [forged, { ...forged, 'x-gw-internal-token': 'Bearer wrong' }]) {
      const reply = await running.app.inject({ url, headers });
      expect(reply.statusCode).toBe(401);
      expect(reply.json().error).toMatchObject({ code: 'invalid_api_key', type: 'auth_error' });
    }
  expect((await running.app.inject({ method: 'POST', url: '/v3/discovery:secrets', payload: {} })).statusCode).toBe(
    401,
  );
});

test('without an identity nothing is shown, and no cause either', async () => {
  const reply = await running.app.inject({
    url: '/v1/models',
    headers: { 'x-gw-internal-token': `Bearer ${internalToken}` },
  });
  expect(reply.statusCode).toBe(500);
  expect(reply.json()).toEqual({
    error: {
      code: 'internal_error',
      type: 'internal_error',
      message: 'The gateway failed. Nothing in the request is at fault.',
      param: null,
      doc_url: 'https://gw.example/errors/internal_error',
    },
  });
});

test('models come whole, those that chat first, and say which regions serve them', async () => {
  const list = modelListSchema.parse((await running.get('/v1/models')).json());
  // SDKs of other services add these to every address.
  for (const query of ['?api-version=2024-10-21', '?beta=true&api-version=preview'])
    expect((await running.get(`/v1/models${query}`)).json()).toEqual(list);
  expect((await running.get('/v1/models/sim-small?api-version=2024-10-21')).statusCode).toBe(200);
  for (const query of ['?limit=0', '?after_id=nothing', '?before_id=sim-small'])
    expect((await running.get(`/v1/models${query}`)).statusCode).toBe(400);
  const page = (await running.get('/v1/models?limit=2&after_id=sim-large')).json();
  expect(page).toMatchObject({ data: [list.data[1], list.data[2]], has_more: true, last_id: 'sim-small' });
  expect((await running.get('/v1/models?limit=1000&after_id=sim-small')).json()).toMatchObject({
    data: [list.data[3]],
    has_more: false,
  });
  expect(list.data.map((model) => model.id)).toEqual(['sim-large', 'sim-measured', 'sim-small', 'sim-embed']);
  expect(list).toMatchObject({ has_more: false, first_id: 'sim-large', last_id: 'sim-embed' });
  expect(list.data[0]).toMatchObject({
    object: 'model',
    type: 'model',
    display_name: 'sim-large',
    owned_by: 'simulator',
    context_window: 131_072,
    kind: 'chat',
    regions: ['us-east', 'eu-north'],
    tiers: ['proxy', 'parametric'],
  });
  expect(list.data[1]?.tiers).toEqual(['proxy', 'parametric', 'telemetry']);
});

test('an account with an allow-list sees only its models, in lists, by id and in regions', async () => {
  const headers = { 'x-gw-models': '["sim-small"]' };
  expect((await running.get('/v1/models', headers)).json().data.map((m: { id: string }) => m.id)).toEqual([
    'sim-small',
  ]);
  expect((await running.get('/v1/models/sim-small', headers)).statusCode).toBe(200);
  expect((await running.get('/v1/models/sim-large', headers)).statusCode).toBe(404);
  expect((await running.get('/v1/regions/us-east', headers)).json().models).toEqual(['sim-small']);
});

test('a model id with slashes is found raw and encoded, an unknown one is 404 invalid_model', async () => {
  await running.stores.db.model.create({
    data: { id: 'org/some/model', ownedBy: 'x', kind: 'chat', modalities: ['text'] },
  });
  const models = { 'sim-small': 'sim-small', 'org/some/model': 'm' };
  await running.stores.db.deployment.update({ where: { id: 'sim-eu-west' }, data: { models } });
  await running.refresh();
  for (const url of ['/v1/models/org/some/model', '/v1/models/org%2Fsome%2Fmodel'])
    expect((await running.get(url)).json().id).toBe('org/some/model');
  const reply = await running.get('/v1/models/none');
  expect(reply.statusCode).toBe(404);
  expect(reply.json().error).toMatchObject({ code: 'invalid_model', type: 'validation_error', param: 'model' });
});

test('regions come with their grid intensity and where it is from', async () => {
  const list = regionListSchema.parse((await running.get('/v1/regions')).json());
  expect(list.data.map((region) => region.code)).toEqual(['us-east', 'eu-north', 'eu-west']);
  const region = regionSchema.parse((await running.get('/v1/regions/eu-north')).json());
  expect(region).toMatchObject({ name: 'Stockholm', grid_zone: 'SWE', grid_temporal_match: 'annual_fallback' });
  expect(region.grid_intensity_g_per_kwh).toBe(annualReading('SWE')?.gPerKwh);
  expect(region.grid_intensity_age_minutes).toBeGreaterThan(0);
  const unknown = await running.get('/v1/regions/mars');
  expect(unknown.statusCode).toBe(404);
  expect(unknown.json().error).toMatchObject({ code: 'invalid_region', param: 'region_code' });
});

test('the use policy names the rules that hold for the account, and never what they look for', async () => {
  const reply = usePolicySchema.parse((await running.get('/v1/use-policy')).json());
  expect(reply).toMatchObject({ version: 0, sha256: rulesSha256(defaultRules), has_more: false });
  expect(reply.data.map(({ id }) => id)).toEqual(defaultRules.map(({ id }) => id));
  expect(JSON.stringify(reply)).not.toContain('pipe bomb');
});

test('an unknown path is 404, a wrong method 405 with Allow, both as the error object', async () => {
  const unknown = await running.get('/v1/grid/health');
  expect([unknown.statusCode, unknown.json().error.code]).toEqual([404, 'unknown_endpoint']);
  const wrong = await running.app.inject({ method: 'DELETE', url: '/v1/models/a/b', headers: identified() });
  expect([wrong.statusCode, wrong.headers.allow]).toEqual([405, 'GET']);
  expect(wrong.json().error).toMatchObject({ code: 'method_not_allowed', param: null });
  const malformed = await running.get('/v1/regions/%zz');
  expect([malformed.statusCode, malformed.json().error.type]).toEqual([400, 'validation_error']);
});

test('a health without details needs no identity', async () => {
  const headers = { 'x-gw-internal-token': `Bearer ${internalToken}` };
  expect((await running.app.inject({ url: '/healthz', headers })).json()).toEqual({ status: 'ok' });
});

test('operators see when the records were not checked for long, or somebody says that they will have been', async () => {
  const health = async () => (await running.operator.inject('/healthz')).json();
  const set = (finished: string) =>
    running.stores.tamper(`UPDATE integrity_checks SET finished_at = ${finished} WHERE kind = 'receipt'`);
  for (const finished of [`now() - INTERVAL '7350 seconds'`, `now() + INTERVAL '1 hour'`]) {
    await set(finished);
    expect(await health()).toMatchObject({ status: 'degraded', integrity_check_overdue: true });
  }
  await set(`now() - INTERVAL '7290 seconds'`);
  expect(await health()).toMatchObject({ status: 'ok', integrity_check_overdue: false });
  await set('NULL');
});

test('operators see what waits for the ledger, and what could not be stored', async () => {
  const { redis } = running.context;
  await redis.xadd(ledgerStream, '1000-0', 'entry', 'waits');
  await redis.xadd(deadLedgerStream, '*', 'entry', 'not json', 'reason', 'not valid JSON');
  expect((await running.operator.inject('/healthz')).json()).toMatchObject({
    status: 'degraded',
    ledger_waiting: 1,
    ledger_set_aside: 1,
  });
  const metrics = (await running.operator.inject('/metrics')).body;
  expect(metrics).toMatch(/^gw_ledger_stream_length\{.*\} 1$/m);
  expect(metrics).toMatch(/^gw_ledger_stream_oldest_seconds\{.*\} \d{9,}/m);
  expect(metrics).toMatch(/^gw_ledger_set_aside\{.*\} 1$/m);
  await redis.del(ledgerStream, deadLedgerStream);
});

test('operators see which part is missing', async () => {
  const reply = await running.operator.inject('/healthz');
  expect([reply.statusCode, reply.json()]).toEqual([
    200,
    {
      status: 'ok',
      postgres: true,
      redis: true,
      catalogue: true,
      degraded: {},
      secrets_unfit: [],
      audit_chain_faults: 0,
      receipt_integrity_faults: 0,
      receipt_batch_faults: 0,
      receipt_archive_faults: 0,
      evidence_pack_faults: 0,
      receipt_log_faults: 0,
      ledger_witness_faults: 0,
      integrity_check_overdue: false,
      postgres_went_back: false,
      ledger_waiting: 0,
      ledger_set_aside: 0,
      deployments_needing_operator: 0,
    },
  ]);
  expect((await running.operator.inject('/v1/models')).statusCode).toBe(404);
});
