import {
  add,
  addAll,
  alias,
  as,
  at,
  change,
  clock,
  deployment,
  errorOf,
  idOf,
  type Kind,
  kinds,
  log,
  model,
  newest,
  provider,
  region,
  singular,
  testApp,
  useTestApp,
  version,
  whole,
} from '@gw/testing/control-plane/entries';
import { expect, test } from 'vitest';

useTestApp();

test('an entry is added with what nobody has said as unknown, is read and listed, and clients see it', async () => {
  await addAll();
  const shown = async (kind: Kind) => {
    // entered.pg.test.ts checks the time and the author.
    const { last_change: _, ...entry } = (await as('viewer')('GET', at(kind, idOf(kind)))).json();
    return entry;
  };
  expect(await shown('models')).toEqual({
    ...model,
    object: 'model',
    created_at: clock.toISOString(),
    modalities: ['text'],
    takes_temperature: true,
    tokenizer: null,
    context_window: null,
    active_parameters_b: null,
    total_parameters_b: null,
    model_class: null,
    parameters_source: null,
    quantization_bits: null,
    tokens_per_s: null,
    ttft_s: null,
    hidden_reasoning: null,
    reads_by_itself: null,
    warnings: [expect.stringContaining('degraded')],
  });
  expect(await shown('regions')).toEqual({
    ...region,
    object: 'region',
    status: 'active',
    preference: 100,
    warnings: [],
  });
  const none = {
    path: null,
    headers: null,
    request_fields: null,
    apis: ['chat', 'completions', 'embeddings'],
    hosted_tools: [],
    timeout_s: null,
    first_byte_timeout_s: null,
    auth_header: null,
    auth_scheme: null,
    credential_ref: null,
    health_path: null,
    ca: null,
    local: false,
  };
  expect(await shown('providers')).toEqual({ ...provider, object: 'provider', kind: 'openai', ...none, warnings: [] });
  expect(await shown('deployments')).toEqual({
    ...deployment,
    object: 'deployment',
    wue_onsite_l_per_kwh: null,
    telemetry: null,
    accelerators: null,
    typical_concurrency: null,
    pue_evidence: null,
    wue_evidence: null,
    latency_ms: null,
    relative_cost: null,
    weight: 1,
    max_concurrent_requests: null,
    warnings: [],
  });
  expect(await shown('aliases')).toEqual({
    ...alias,
    object: 'alias',
    created_at: clock.toISOString(),
    warnings: [],
  });
  for (const kind of kinds) {
    const { data, object } = (await as('viewer')('GET', at(kind))).json();
    expect([object, data]).toEqual(['list', expect.arrayContaining([expect.objectContaining(await shown(kind))])]);
  }
  await testApp().refresh();
  expect((await testApp().get('/v1/models/acme/m-1')).json()).toMatchObject({ id: 'acme/m-1', regions: ['pl-east'] });
  expect((await testApp().get('/v1/regions/pl-east')).json()).toMatchObject({ models: ['acme/m-1'] });
});

test('each change stands in the audit log, whole at its ends and with just what was changed between', async () => {
  await addAll();
  const changes = {
    models: { total_parameters_b: { min: 30, max: 40 }, active_parameters_b: 3, quantization_bits: 4.5 },
    regions: { status: 'degraded' },
    providers: { credential_ref: 'ACME', auth_header: 'api-key' },
    deployments: { models: { 'sim-small': 's', 'acme/m-1': null }, accelerators: { model: 'H100', count: 8 } },
    aliases: { targets: [{ model: 'sim-small' }, { model: 'acme/m-1' }] },
  };
  for (const kind of kinds) {
    const target = `${singular(kind)}:${idOf(kind)}`;
    const before = (await as('viewer')('GET', at(kind, idOf(kind)))).json();
    const reply = await change(kind, changes[kind]);
    expect(reply.statusCode, reply.body).toBe(200);
    const fields = Object.keys(changes[kind]);
    const of = (entry: Record<string, unknown>) => Object.fromEntries(fields.map((field) => [field, entry[field]]));
    expect(await newest()).toMatchObject({
      action: `${singular(kind)}.changed`,
      target,
      actor: { id: 'op_admin' },
      at: clock.toISOString(),
      before: of(before),
      after: of(reply.json()),
      request_id: reply.headers['x-request-id'],
    });
    const { warnings: _, ...kept } = reply.json();
    expect((await as('viewer')('GET', at(kind, idOf(kind)))).json()).toMatchObject(kept);
  }
  expect((await as('viewer')('GET', at('models', model.id))).json()).toMatchObject({
    active_parameters_b: { min: 3, max: 3 },
    total_parameters_b: { min: 30, max: 40 },
    warnings: [],
  });
  expect((await as('viewer')('GET', at('deployments', 'acme-pl'))).json().models).toEqual({ 'sim-small': 's' });
  for (const kind of [...kinds].reverse()) {
    const { last_change: _by, warnings: _, ...before } = (await as('viewer')('GET', at(kind, idOf(kind)))).json();
    const gone = await as('admin')('DELETE', at(kind, idOf(kind)));
    expect(gone.json()).toEqual({ id: idOf(kind), object: singular(kind), deleted: true });
    expect(await newest()).toMatchObject({ action: `${singular(kind)}.removed`, before, after: null });
    expect((await as('viewer')('GET', at(kind, idOf(kind)))).statusCode).toBe(404);
  }
  expect((await log()).map(({ action }) => action)).toEqual([
    ...['model', 'region', 'provider', 'deployment', 'alias'].map((kind) => `${kind}.removed`),
    ...['alias', 'deployment', 'provider', 'region', 'model'].map((kind) => `${kind}.changed`),
  ]);
});

test('a change that changes nothing leaves no audit entry and no new version of the catalogue', async () => {
  await addAll();
  const before = [await newest(), await version()];
  for (const kind of kinds) {
    expect((await change(kind, {})).statusCode).toBe(200);
    const { id: _id, code: _code, ...same } = { id: '', code: '', ...whole[kind] };
    expect((await change(kind, same)).statusCode, kind).toBe(200);
  }
  expect([await newest(), await version()]).toEqual(before);
  await change('regions', { status: 'saturated' });
  expect(await version()).toBe(Number(before[1]) + 1);
});

test('what something refers to is not removed, and says by what it is used', async () => {
  await addAll();
  const refused = async (kind: Kind, words: string) => {
    const reply = await as('admin')('DELETE', at(kind, idOf(kind)));
    expect([reply.statusCode, reply.json().error.code]).toEqual([409, 'invalid_transition']);
    expect(reply.json().error.message).toContain(words);
  };
  for (const kind of ['models', 'regions', 'providers'] as const) await refused(kind, 'acme-pl');
  expect(errorOf(await change('models', { kind: 'embedding' }))).toEqual([400, 'invalid_kind', 'kind']);
  expect((await as('admin')('DELETE', at('deployments', 'acme-pl'))).statusCode).toBe(200);
  for (const kind of ['models', 'providers'] as const) await refused(kind, 'aliases name it: acme/best');
  expect((await as('admin')('DELETE', at('aliases', 'acme/best'))).statusCode).toBe(200);
  const { db } = testApp().context;
  await db.account.update({ where: { id: 'acct_demo_audit' }, data: { models: ['acme/m-1'] } });
  await refused('models', 'acct_demo_audit');
  await db.$executeRaw`UPDATE accounts SET models = NULL WHERE id = 'acct_demo_audit'`;
  for (const kind of ['models', 'regions', 'providers'] as const)
    expect((await as('admin')('DELETE', at(kind, idOf(kind)))).statusCode).toBe(200);
});

test('what is needed is named when it is missing, and what is there already is not added again', async () => {
  const { base_url: _, ...rest } = provider;
  expect(errorOf(await as('admin')('POST', at('providers'), rest))).toEqual([
    ...[400, 'missing_required_parameter', 'base_url'],
  ]);
  await addAll();
  for (const kind of kinds) {
    const param = kind === 'regions' ? 'code' : 'id';
    expect(errorOf(await add(kind))).toEqual([400, `invalid_${param}`, param]);
  }
});

test('what is not there is 404 for every method, whatever stands in its place', async () => {
  for (const kind of kinds)
    for (const id of ['no-such', 'no/such', '..%2fx', 'a%2f%2fb', 'x'.repeat(300)])
      for (const method of ['GET', 'PATCH', 'DELETE'] as const) {
        const reply = await as('admin')(method, at(kind, id), method === 'PATCH' ? {} : undefined);
        expect([reply.statusCode, id, reply.json().error.code]).toEqual([404, id, `invalid_${singular(kind)}`]);
      }
});

test('the id of a model is taken raw and as %2F', async () => {
  await add('models');
  for (const id of ['acme/m-1', 'acme%2Fm-1'])
    expect((await as('viewer')('GET', at('models', id))).json().id).toBe('acme/m-1');
});

test('viewers and support read the catalogue; only admins change it', async () => {
  await addAll();
  for (const kind of kinds)
    for (const role of ['viewer', 'support'] as const) {
      expect((await as(role)('GET', at(kind))).statusCode).toBe(200);
      expect((await as(role)('POST', at(kind), whole[kind])).statusCode).toBe(403);
      expect((await as(role)('PATCH', at(kind, idOf(kind)), {})).statusCode).toBe(403);
      expect((await as(role)('DELETE', at(kind, idOf(kind)))).statusCode).toBe(403);
      expect((await testApp().operator.inject({ url: at(kind) })).statusCode).toBe(401);
    }
});

test('an address loses the slash at its end, and a credential goes as OpenAI takes it unless said otherwise', async () => {
  const changes = { base_url: 'https://llm.acme.example/v1/', credential_ref: 'ACME' };
  expect((await add('providers', changes)).json()).toMatchObject({
    base_url: 'https://llm.acme.example/v1',
    auth_header: 'authorization',
    auth_scheme: 'Bearer',
  });
  expect((await change('providers', { auth_header: 'Api-Key', auth_scheme: null })).json()).toMatchObject({
    auth_header: 'api-key',
    auth_scheme: null,
  });
});

test('changes at once happen one after the other, and none is lost', async () => {
  await addAll();
  const ids = ['sim-small', 'sim-large', 'sim-measured', 'sim-embed'];
  await Promise.all(ids.map((id) => change('deployments', { models: { [id]: id } })));
  const { models } = (await as('viewer')('GET', at('deployments', 'acme-pl'))).json();
  expect(Object.keys(models).sort()).toEqual(['acme/m-1', ...ids].sort());
});

test('plain http goes to loopback, or to a provider that is marked local; the error says the cause and the cure', async () => {
  const plain = { base_url: 'http://10.0.0.5:8000/v1' };
  const refused = await add('providers', plain);
  expect(errorOf(refused)).toEqual([400, 'invalid_base_url', 'base_url']);
  expect(refused.json().error.message).toMatch(/plain http to 10\.0\.0\.5:8000.*Use https.*`local: true`.*own network/);
  expect((await add('providers', { ...plain, local: true })).json()).toMatchObject({ ...plain, local: true });
  expect((await as('viewer')('GET', at('providers', 'acme'))).json()).toMatchObject({ local: true });
  expect(errorOf(await change('providers', { local: false }))).toEqual([400, 'invalid_base_url', 'base_url']);
  for (const host of ['127.0.0.1', 'localhost', '[::1]', '127.1'])
    expect((await change('providers', { base_url: `http://${host}:8000/v1`, local: false })).statusCode, host).toBe(
      200,
    );
  expect(errorOf(await change('providers', plain))).toEqual([400, 'invalid_base_url', 'base_url']);
  expect((await change('providers', { ...plain, local: true })).statusCode).toBe(200);
  expect(await newest()).toMatchObject({ before: { local: false }, after: { ...plain, local: true } });
});

test('the mark holds for the address that it was given with: elsewhere it has to be said again', async () => {
  await add('providers', { base_url: 'http://10.0.0.5:8000/v1', local: true });
  for (const base_url of ['http://10.0.0.6:8000/v1', 'http://10.0.0.5:9000/v1', 'http://gpu-1/v1']) {
    const refused = await change('providers', { base_url });
    expect(errorOf(refused), base_url).toEqual([400, 'invalid_base_url', 'base_url']);
    expect(refused.json().error.message).toMatch(
      /plain http to .*`local: true`.*marked for http:\/\/10\.0\.0\.5:8000 alone/,
    );
  }
  expect((await change('providers', { base_url: 'http://10.0.0.5:8000/v2' })).json()).toMatchObject({ local: true });
  const moved = { base_url: 'http://10.0.0.6:8000/v1', local: true };
  expect((await change('providers', moved)).json()).toMatchObject(moved);
  expect((await change('providers', { base_url: 'https://llm.acme.example/v1' })).json()).toMatchObject({
    local: false,
  });
  expect(await newest()).toMatchObject({ before: { local: true }, after: { local: false } });
  expect(errorOf(await change('providers', { base_url: 'http://10.0.0.5:8000/v1' }))[1]).toBe('invalid_base_url');
});
