import { defined } from '@gw/contract/internal/defined';
import { accountMessage, keyChangedChannel } from '@gw/contract/internal/redis';
import { findKey, keyGeneration } from '@gw/prisma/find-key';
import { Browser, type Method, seedOperators, withToken } from '@gw/testing/control-plane/access';
import { startTestApp, type TestApp } from '@gw/testing/control-plane/app';
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest';
import { readAudit } from '../../people/audit/read.ts';

const path = '/operator/v1/accounts';
let running: TestApp;
let tokens: Awaited<ReturnType<typeof seedOperators>>;
const clock = new Date('2026-11-21T09:00:00.000Z');
const as = (role: keyof typeof tokens) => withToken(running.operator, tokens[role]);
const newest = async (chain: string) => (await readAudit(running.context.db, chain, { order: 'desc', limit: 1 }))[0];

beforeAll(async () => {
  running = await startTestApp(() => clock);
  tokens = await seedOperators(running.context);
}, 120_000);
afterAll(() => running?.stop());
beforeEach(async () => {
  const { db, redis } = running.context;
  await redis.flushall();
  await db.account.updateMany({ data: { state: 'active' } });
  await db.apiKey.deleteMany({ where: { accountId: { startsWith: 'acct_x' } } });
  await db.organisationAdmin.deleteMany();
  await db.account.deleteMany({ where: { id: { startsWith: 'acct_x' } } });
  await db.account.create({ data: { id: 'acct_x', name: 'Exa', tier: 'audit_plus' } });
});

test('accounts are listed by state, tier and name, page by page', async () => {
  const list = async (query: string) => (await as('viewer')('GET', `${path}?${query}`)).json();
  const ids = (page: { data: { id: string }[] }) => page.data.map(({ id }) => id);
  const first = await list('limit=3');
  expect([ids(first), first.has_more]).toEqual([
    ['acct_demo_audit', 'acct_demo_audit_plus', 'acct_demo_enterprise'],
    true,
  ]);
  expect(await list(`limit=3&after=${first.last_id}`)).toMatchObject({ data: [{ id: 'acct_x' }], has_more: false });
  expect(ids(await list('tier=audit_plus'))).toEqual(['acct_demo_audit_plus', 'acct_x']);
  expect(ids(await list('search=eXA'))).toEqual(['acct_x']);
  await as('support')('POST', `${path}/acct_x/suspend`, { reason: 'unpaid' });
  expect(ids(await list('state=suspended'))).toEqual(['acct_x']);
  expect((await as('viewer')('GET', `${path}/acct_x`)).json()).toEqual({
    id: 'acct_x',
    object: 'account',
    name: 'Exa',
    tier: 'audit_plus',
    state: 'suspended',
    models: null,
    limits: { per_s: 200, burst: 800, per_day: 400_000, streams: 100 },
    negotiated: false,
    tokens: { per_minute: null, per_day: null },
    tolerance: { added_latency_ms: null, added_cost_percent: null },
    usage_impacts: false,
    shadow: [],
    created_at: expect.any(String),
  });
  expect((await as('viewer')('GET', `${path}/acct_nobody`)).statusCode).toBe(404);
});

const states = ['onboarding', 'active', 'suspended', 'closed'] as const;
const moves = { suspend: ['active', 'suspended'], reinstate: ['suspended', 'active'] } as const;
test.each(states.flatMap((state) => (['suspend', 'reinstate'] as const).map((verb) => [verb, state] as const)))(
  '%s of an account that is %s does what it says, or changes nothing and says no',
  async (verb, state) => {
    const { db } = running.context;
    await db.account.update({ where: { id: 'acct_x' }, data: { state } });
    const [before, generation] = [await newest('acct_x'), await keyGeneration(db)];
    const reply = await as('admin')('POST', `${path}/acct_x/${verb}`, { reason: 'as agreed' });
    const [from, to] = moves[verb];
    if (state === from) {
      expect(reply.json()).toMatchObject({ state: to });
      expect(await newest('acct_x')).toMatchObject({
        action: verb === 'suspend' ? 'account.suspended' : 'account.reinstated',
        before: { state: from },
        after: { state: to, reason: 'as agreed' },
      });
      expect(await keyGeneration(db)).toBeGreaterThan(generation);
    } else {
      expect([reply.statusCode, reply.json().error.code]).toEqual([409, 'invalid_transition']);
      expect(await newest('acct_x')).toEqual(before);
      expect(await keyGeneration(db)).toBe(generation);
    }
  },
);

test('every ext-authz is told of a change of an account', async () => {
  const listener = running.stores.connect();
  await new Promise((resolve) => listener.once('ready', resolve));
  await listener.subscribe(keyChangedChannel);
  const told = new Promise((resolve) => listener.once('message', (_, message) => resolve(message)));
  await as('support')('POST', `${path}/acct_x/suspend`, { reason: 'x' });
  expect(await told).toBe(accountMessage('acct_x'));
});

test('tier, limits and models are changed together, and the log shows just what was changed', async () => {
  const wanted = { tier: 'enterprise', limits: { per_s: 10, burst: 20, per_day: 3000 }, models: ['sim-small'] };
  expect((await as('admin')('PATCH', `${path}/acct_x`, wanted)).json()).toMatchObject({ ...wanted, negotiated: true });
  expect(await newest('acct_x')).toMatchObject({
    action: 'account.changed',
    before: { tier: 'audit_plus', limits: { per_s: 200, burst: 800, per_day: 400_000 }, models: null },
    after: wanted,
  });
  expect((await as('admin')('PATCH', `${path}/acct_x`, { models: null })).json()).toMatchObject({ models: null });
  const entry = await newest('acct_x');
  expect([entry?.before, entry?.after]).toEqual([{ models: ['sim-small'] }, { models: null }]);
});

test('an Enterprise account keeps limits of its own', async () => {
  const refused = await as('admin')('PATCH', `${path}/acct_x`, { tier: 'enterprise' });
  expect([refused.statusCode, refused.json().error.param]).toEqual([400, 'limits']);
  expect((await as('admin')('PATCH', `${path}/acct_demo_enterprise`, { limits: null })).statusCode).toBe(400);
});

test('only an Enterprise account has limits of its own, and loses them with the tier', async () => {
  const limits = { per_s: 1_000_000, burst: 1_000_000, per_day: 1_000_000 };
  const refused = await as('admin')('PATCH', `${path}/acct_x`, { limits });
  expect([refused.statusCode, refused.json().error.param]).toEqual([400, 'limits']);
  await as('admin')('PATCH', `${path}/acct_x`, { tier: 'enterprise', limits });
  expect((await as('admin')('PATCH', `${path}/acct_x`, { tier: 'audit', limits })).statusCode).toBe(400);
  expect((await as('admin')('PATCH', `${path}/acct_x`, { tier: 'audit' })).json()).toMatchObject({
    tier: 'audit',
    negotiated: false,
    limits: { per_s: 50 },
  });
  expect(await newest('acct_x')).toMatchObject({ before: { limits }, after: { tier: 'audit', limits: { per_s: 50 } } });
  const around = running.context.db.account.update({ where: { id: 'acct_x' }, data: { limitPerS: 1 } });
  await expect(around).rejects.toThrow('only_enterprise_has_limits');
});

test('of two who change what they have seen at once, the second is told, and nothing of the first is lost', async () => {
  const change = (body: object) => as('admin')('PATCH', `${path}/acct_x`, body);
  const { shadow, tolerance } = (await as('admin')('GET', `${path}/acct_x`)).json();
  expect((await change({ shadow: ['rate'], seen: { shadow, tolerance } })).statusCode).toBe(200);
  const before = await newest('acct_x');
  const second = await change({ shadow: ['streams'], seen: { shadow } });
  expect([second.statusCode, second.json().error]).toMatchObject([
    409,
    {
      code: 'invalid_transition',
      message: expect.stringContaining('`shadow` of this account meanwhile: it is ["rate"]'),
    },
  ]);
  expect(await newest('acct_x')).toEqual(before);
  // A change of another field by somebody else does not matter.
  const cheap = { added_latency_ms: null, added_cost_percent: 5 };
  expect((await change({ tolerance: cheap, seen: { tolerance } })).json()).toMatchObject({ shadow: ['rate'] });
  expect((await change({ seen: { tolerance: cheap } })).statusCode).toBe(400);
  await change({ shadow: [], tolerance });
});

test('open streams are negotiated with the other limits: 100 unless agreed otherwise, and as before unless named', async () => {
  const limits = { per_s: 10, burst: 20, per_day: 30 };
  const patched = async (change: object) => (await as('admin')('PATCH', `${path}/acct_x`, change)).json().limits;
  expect(await patched({ tier: 'enterprise', limits })).toEqual({ ...limits, streams: 100 });
  expect(await patched({ limits: { ...limits, streams: 7 } })).toEqual({ ...limits, streams: 7 });
  expect((await newest('acct_x'))?.after).toEqual({ limits: { ...limits, streams: 7 } });
  expect(await patched({ limits: { ...limits, burst: 40 } })).toEqual({ ...limits, burst: 40, streams: 7 });
  expect(await patched({ limits: { ...limits, streams: null } })).toEqual({ ...limits, streams: 100 });
  const before = await newest('acct_x');
  expect(await patched({ limits: { ...limits, streams: null } })).toEqual({ ...limits, streams: 100 });
  expect(await newest('acct_x')).toEqual(before);
  expect(await patched({ tier: 'audit' })).toMatchObject({ streams: 25 });
});

test('limits in tokens are set in parts and taken away in any tier, and ext-authz learns of them', async () => {
  const { db } = running.context;
  const key = { accountId: 'acct_x', name: 'k', hash: new Uint8Array(32), scopes: [] };
  await db.apiKey.create({ data: { ...key, publicId: 'xxxxxxxxxxx5' } });
  const patched = async (tokens: object) => (await as('admin')('PATCH', `${path}/acct_x`, { tokens })).json().tokens;
  expect(await patched({ per_minute: 600 })).toEqual({ per_minute: 600, per_day: null });
  expect(await patched({ per_day: 9000 })).toEqual({ per_minute: 600, per_day: 9000 });
  expect((await findKey(db, 'xxxxxxxxxxx5'))?.account.tokens).toEqual({ perMinute: 600, perDay: 9000 });
  expect((await newest('acct_x'))?.after).toEqual({ tokens: { per_minute: 600, per_day: 9000 } });
  expect(await patched({ per_minute: null, per_day: null })).toEqual({ per_minute: null, per_day: null });
  expect((await as('admin')('PATCH', `${path}/acct_x`, { tokens: { per_minute: 0 } })).statusCode).toBe(400);
});

test('impacts in replies are asked for and not, and ext-authz learns of it', async () => {
  const { db } = running.context;
  const key = { accountId: 'acct_x', name: 'k', hash: new Uint8Array(32), scopes: [] };
  await db.apiKey.create({ data: { ...key, publicId: 'xxxxxxxxxxx5' } });
  for (const usage_impacts of [true, false]) {
    const changed = await as('admin')('PATCH', `${path}/acct_x`, { usage_impacts });
    expect(changed.json()).toMatchObject({ usage_impacts });
    expect((await newest('acct_x'))?.after).toEqual({ usage_impacts });
    expect((await findKey(db, 'xxxxxxxxxxx5'))?.account.usageImpacts).toBe(usage_impacts);
  }
});

test('a tolerance is set in parts and taken away, and ext-authz learns of it', async () => {
  const { db } = running.context;
  const key = { accountId: 'acct_x', name: 'k', hash: new Uint8Array(32), scopes: [] };
  await db.apiKey.create({ data: { ...key, publicId: 'xxxxxxxxxxx4' } });
  const patched = async (tolerance: object) =>
    (await as('admin')('PATCH', `${path}/acct_x`, { tolerance })).json().tolerance;
  expect(await patched({ added_latency_ms: 80 })).toEqual({ added_latency_ms: 80, added_cost_percent: null });
  expect(await patched({ added_cost_percent: 0 })).toEqual({ added_latency_ms: 80, added_cost_percent: 0 });
  expect((await findKey(db, 'xxxxxxxxxxx4'))?.account.tolerance).toEqual({ addedLatencyMs: 80, addedCostPercent: 0 });
  const [before, generation] = [await newest('acct_x'), await keyGeneration(db)];
  await patched({ added_cost_percent: 0 });
  expect([await newest('acct_x'), await keyGeneration(db)]).toEqual([before, generation]);
  expect(await patched({ added_latency_ms: null })).toEqual({ added_latency_ms: null, added_cost_percent: 0 });
  const refused = await as('admin')('PATCH', `${path}/acct_x`, { tolerance: { added_latency_ms: -1 } });
  expect([refused.statusCode, refused.json().error.param]).toEqual([400, 'tolerance.added_latency_ms']);
});

test('a limit is put into shadow and taken out, for any tier, and ext-authz learns of it', async () => {
  const { db } = running.context;
  const key = { accountId: 'acct_x', name: 'k', hash: new Uint8Array(32), scopes: [] };
  await db.apiKey.create({ data: { ...key, publicId: 'xxxxxxxxxxx2' } });
  const patched = async (shadow: string[]) => (await as('admin')('PATCH', `${path}/acct_x`, { shadow })).json().shadow;
  expect(await patched(['streams', 'rate'])).toEqual(['rate', 'streams']);
  expect((await findKey(db, 'xxxxxxxxxxx2'))?.account.shadow).toEqual(['rate', 'streams']);
  expect(await newest('acct_x')).toMatchObject({ before: { shadow: [] }, after: { shadow: ['rate', 'streams'] } });
  const [before, generation] = [await newest('acct_x'), await keyGeneration(db)];
  await patched(['rate', 'streams']);
  expect([await newest('acct_x'), await keyGeneration(db)]).toEqual([before, generation]);
  expect(await patched([])).toEqual([]);
  expect((await findKey(db, 'xxxxxxxxxxx2'))?.account.shadow).toEqual([]);
});

test('with the tier Enterprise an account loses the limits of its keys as well, for good', async () => {
  const { db } = running.context;
  const key = { accountId: 'acct_x', name: 'k', hash: new Uint8Array(32), scopes: [] };
  const limits = { per_s: 10, burst: 20, per_day: 30 };
  await as('admin')('PATCH', `${path}/acct_x`, { tier: 'enterprise', limits });
  await db.apiKey.create({
    data: { ...key, publicId: 'xxxxxxxxxxx3', limitPerS: 1, limitBurst: 2, limitPerDay: 3, limitStreams: 4 },
  });
  expect((await findKey(db, 'xxxxxxxxxxx3'))?.limits).toMatchObject({ ratePerS: 1, burst: 2, perDay: 3, streams: 4 });
  await as('admin')('PATCH', `${path}/acct_x`, { tier: 'audit_plus' });
  expect((await findKey(db, 'xxxxxxxxxxx3'))?.limits).toBeNull();
  expect((await newest('acct_x'))?.after).toMatchObject({ tier: 'audit_plus', key_limits_dropped: 1 });
  await as('admin')('PATCH', `${path}/acct_x`, { tier: 'enterprise', limits });
  expect((await findKey(db, 'xxxxxxxxxxx3'))?.limits).toBeNull();
});

test.each([
  ['name', { name: 'Another Organisation', reason: 'they asked for it' }],
  ['tier', { tier: 'audit' }],
  ['limits', { limits: { per_s: 1, burst: 1, per_day: 1 } }],
])('while an account is in onboarding its %s is what was screened', async (_, change) => {
  const { db } = running.context;
  await db.account.update({ where: { id: 'acct_x' }, data: { state: 'onboarding' } });
  const before = (await as('viewer')('GET', `${path}/acct_x`)).json();
  const reply = await as('admin')('PATCH', `${path}/acct_x`, change);
  expect([reply.statusCode, reply.json().error.code]).toEqual([409, 'invalid_transition']);
  expect((await as('viewer')('GET', `${path}/acct_x`)).json()).toEqual(before);
});

test('a new name is given with a reason, which stands in the log', async () => {
  const change = { name: 'Exa AG', reason: 'changed its legal form' };
  expect((await as('admin')('PATCH', `${path}/acct_x`, change)).json()).toMatchObject({ name: 'Exa AG' });
  expect(await newest('acct_x')).toMatchObject({ before: { name: 'Exa' }, after: change });
});

test('a change to what is there already stands in no log and is told to nobody', async () => {
  await as('admin')('PATCH', `${path}/acct_x`, { models: ['sim-small'] });
  const [before, generation] = [await newest('acct_x'), await keyGeneration(running.context.db)];
  const listener = running.stores.connect();
  await new Promise((resolve) => listener.once('ready', resolve));
  await listener.subscribe(keyChangedChannel);
  const told: string[] = [];
  listener.on('message', (_, message) => told.push(message));
  const same = { name: 'Exa', tier: 'audit_plus', models: ['sim-small'], limits: null };
  expect((await as('admin')('PATCH', `${path}/acct_x`, same)).statusCode).toBe(200);
  expect([await newest('acct_x'), await keyGeneration(running.context.db)]).toEqual([before, generation]);
  await as('support')('POST', `${path}/acct_x/suspend`, { reason: 'x' });
  await expect.poll(() => told).toHaveLength(1);
});

test('a list of models that is longer than the header it travels in is refused', async () => {
  // The second is short enough in characters, and not in bytes.
  for (const letter of ['xx', 'ü']) {
    const models = Array.from({ length: 500 }, (_, at) => letter.repeat(15) + String(at).padStart(3, '0'));
    const { error } = (await as('admin')('PATCH', `${path}/acct_x`, { models })).json();
    expect(error).toMatchObject({ code: 'invalid_models', message: expect.stringContaining('16384 bytes') });
  }
});

test('wrong values change nothing', async () => {
  const bodies = [
    {},
    { tier: 'gold' },
    { models: ['no-such-model'] },
    { limits: { per_s: 0, burst: 1, per_day: 1 } },
    { limits: { per_s: 1 } },
    { limits: { per_s: 3e9, burst: 1, per_day: 1 } },
    { limits: { per_s: 1, burst: 1, per_day: 1, streams: 0 } },
    { shadow: ['burst'] },
    { shadow: ['day', 'day'] },
    { name: 'two\nlines' },
    { state: 'active' },
    { name: 'Another' },
    { reason: 'nothing' },
  ];
  const before = (await as('viewer')('GET', `${path}/acct_x`)).json();
  for (const body of bodies) expect((await as('admin')('PATCH', `${path}/acct_x`, body)).statusCode).toBe(400);
  expect((await as('viewer')('GET', `${path}/acct_x`)).json()).toEqual(before);
});

test('with its tier an account loses the scopes that only this tier has, and gets them back with it', async () => {
  const { db } = running.context;
  const key = { accountId: 'acct_x', name: 'k', hash: new Uint8Array(32) };
  const granted = ['gw:read', 'gw:lineage', 'admin:keys'];
  await db.apiKey.create({ data: { ...key, publicId: 'xxxxxxxxxxx1', scopes: granted } });
  const working = async (tier: string) => {
    expect((await as('admin')('PATCH', `${path}/acct_x`, { tier })).statusCode).toBe(200);
    const shown = (await as('viewer')('GET', `${path}/acct_x/keys/xxxxxxxxxxx1`)).json().scopes;
    expect((await findKey(db, 'xxxxxxxxxxx1'))?.scopes).toEqual(shown);
    return shown;
  };
  expect(await working('audit')).toEqual(['gw:read']);
  // A scope that does not work is not handed on.
  const heir = (await as('admin')('POST', `${path}/acct_x/keys/xxxxxxxxxxx1/rotate`)).json();
  expect(await working('audit_plus')).toEqual(granted);
  expect((await as('viewer')('GET', `${path}/acct_x/keys/${heir.id}`)).json().scopes).toEqual(['gw:read']);
});

test('who may do what to accounts and their people', async () => {
  const table: [Method, string, object | undefined, 'support' | 'admin'][] = [
    ['POST', `${path}/acct_x/suspend`, { reason: 'x' }, 'support'],
    ['POST', `${path}/acct_x/reinstate`, { reason: 'x' }, 'admin'],
    ['PATCH', `${path}/acct_x`, { models: ['sim-small'] }, 'admin'],
    ['POST', `${path}/acct_x/admins`, { name: 'A', email: 'a@exa.example' }, 'admin'],
  ];
  for (const [method, url, body, least] of table) {
    expect((await as('viewer')(method, url, body)).statusCode).toBe(403);
    expect((await as('support')(method, url, body)).statusCode).toBe(least === 'support' ? 200 : 403);
    if (least === 'admin') expect((await as('admin')(method, url, body)).statusCode).toBe(200);
  }
});

test('an admin of an organisation logs in, is out when disabled, and stays within their own account', async () => {
  const admin = as('admin');
  const made = (await admin('POST', `${path}/acct_x/admins`, { name: 'Ada', email: 'ada@exa.example' })).json();
  const ada = new Browser(running.operator);
  expect((await ada.logIn('ada@exa.example', made.credential)).statusCode).toBe(401);
  const session = await ada.logIn('ada@exa.example', made.credential, 'organisation_admin');
  expect(session.json()).toMatchObject({ kind: 'organisation_admin', account_id: 'acct_x' });
  for (const url of [path, `${path}/acct_x`, '/operator/v1/operators', '/operator/v1/audit'])
    expect((await ada.call('GET', url)).statusCode).toBe(403);
  const one = `admins/${made.id}`;
  for (const verb of ['disable', 'enable', 'reset-credential'])
    expect((await admin('POST', `${path}/acct_demo_audit/${one}/${verb}`)).statusCode).toBe(404);
  expect((await as('support')('POST', `${path}/acct_x/${one}/disable`)).json()).toMatchObject({ state: 'disabled' });
  expect((await ada.call('GET', '/session')).statusCode).toBe(401);
  expect((await ada.logIn('ada@exa.example', made.credential, 'organisation_admin')).statusCode).toBe(401);
  await admin('POST', `${path}/acct_x/${one}/enable`);
  const { credential } = (await admin('POST', `${path}/acct_x/${one}/reset-credential`)).json();
  expect((await ada.logIn('ada@exa.example', made.credential, 'organisation_admin')).statusCode).toBe(401);
  expect((await ada.logIn('ada@exa.example', credential, 'organisation_admin')).statusCode).toBe(200);
  const twice = await admin('POST', `${path}/acct_demo_audit/admins`, { name: 'B', email: 'ada@exa.example' });
  expect([twice.statusCode, twice.json().error.param]).toEqual([400, 'email']);
  const story = (await readAudit(running.context.db, 'acct_x', { order: 'desc', limit: 6 })).map(
    ({ action }) => action,
  );
  expect(story.reverse()).toEqual([
    'organisation_admin.created',
    'session.started',
    'organisation_admin.disabled',
    'organisation_admin.enabled',
    'organisation_admin.credential_reset',
    'session.started',
  ]);
});

test('operators read every chain of the audit log, whole and with its heads', async () => {
  await as('support')('POST', `${path}/acct_x/suspend`, { reason: 'x' });
  const { data } = (await as('viewer')('GET', '/operator/v1/audit?chain=acct_x&limit=1')).json();
  const { sealFault: fault, ...entry } = defined(await newest('acct_x'), 'An entry');
  expect(data).toEqual([{ ...entry, fault }]);
  const heads = (await as('viewer')('GET', '/operator/v1/audit/heads')).json();
  expect(heads.data).toContainEqual({ chain: 'acct_x', seq: data[0].seq, hash: data[0].hash });
  const filtered = (
    await as('viewer')('GET', '/operator/v1/audit?chain=acct_x&actor=op_support&action=account.suspended')
  ).json();
  expect(filtered.data.length).toBeGreaterThan(0);
  for (const entry of filtered.data)
    expect(entry).toMatchObject({ actor: { id: 'op_support' }, action: 'account.suspended' });
});
