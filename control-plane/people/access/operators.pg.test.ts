import { dayMs } from '@gw/contract/internal/durations';
import { type Method, seedOperators, withToken } from '@gw/testing/control-plane/access';
import { startTestApp, testCost } from '@gw/testing/control-plane/app';
import { forFile } from '@gw/testing/for-file';
import { beforeEach, expect, test } from 'vitest';
import { readAudit } from '../audit/read.ts';
import { openCredentials } from './credential.ts';
import { makeFirstOperator } from './first-operator.ts';
import { makeOperatorToken } from './token-hash.ts';

const path = '/operator/v1/operators';
const running = forFile(() => startTestApp(() => clock));
let tokens: Awaited<ReturnType<typeof seedOperators>>;
let clock = new Date('2026-11-21T09:00:00.000Z');

const as = (role: keyof typeof tokens) => withToken(running.operator, tokens[role]);
const newest = async () => (await readAudit(running.context.db, 'operators', { order: 'desc', limit: 1 }))[0];

beforeEach(async () => {
  const { db } = running.context;
  await db.operatorToken.deleteMany();
  await db.operator.deleteMany();
  tokens = await seedOperators(running.context);
});

test('an operator is made with a credential that is shown once, and the log tells who made whom', async () => {
  const reply = await as('admin')('POST', path, { name: 'Ada', email: 'Ada@Ops.example', role: 'support' });
  expect(reply.headers['cache-control']).toBe('no-store');
  const { credential, ...made } = reply.json();
  expect(made).toMatchObject({ name: 'Ada', email: 'ada@ops.example', role: 'support', state: 'enabled' });
  expect(credential).toMatch(/^([0-9a-f]{6}-){5}[0-9a-f]{6}$/);
  const list = (await as('viewer')('GET', path)).json().data;
  expect(list).toContainEqual({ ...made, second_factor: false });
  expect(JSON.stringify(list)).not.toContain(credential);
  expect(await newest()).toMatchObject({
    action: 'operator.created',
    actor: { kind: 'operator', id: 'op_admin', name: 'The admin (token optk_admin)' },
    target: `operator:${made.id}`,
    request_id: reply.headers['x-request-id'],
    after: { name: 'Ada', email: 'ada@ops.example', role: 'support' },
  });
  const again = await as('admin')('POST', path, { name: 'Eve', email: 'ada@ops.example', role: 'viewer' });
  expect([again.statusCode, again.json().error.param]).toEqual([400, 'email']);
});

const lastAdmin: [string, Method, string, object | undefined][] = [
  ['disabled', 'POST', `${path}/op_admin/disable`, undefined],
  ['demoted', 'PATCH', `${path}/op_admin`, { role: 'support' }],
];
test.each(lastAdmin)('the last admin cannot be %s, even when another one is disabled', async (_, method, url, body) => {
  const { db } = running.context;
  await db.operator.create({
    data: { id: 'op_off', name: 'Off', email: 'off@ops.example', role: 'admin', disabledAt: clock },
  });
  const reply = await as('admin')(method, url, body);
  expect([reply.statusCode, reply.json().error.code]).toEqual([409, 'invalid_transition']);
  expect(await db.operator.findUnique({ where: { id: 'op_admin' } })).toMatchObject({
    role: 'admin',
    disabledAt: null,
  });
});

test('two admins who disable each other at the same time leave one behind', async () => {
  const { db } = running.context;
  await as('admin')('PATCH', `${path}/op_support`, { role: 'admin' });
  const replies = await Promise.all([
    as('admin')('POST', `${path}/op_support/disable`),
    as('support')('POST', `${path}/op_admin/disable`),
  ]);
  expect(replies.map((reply) => reply.statusCode).sort()).not.toEqual([200, 200]);
  expect(await db.operator.count({ where: { role: 'admin', disabledAt: null } })).toBe(1);
});

test('only admins change operators, and what must not happen is refused', async () => {
  const changes: [Method, string, object | undefined][] = [
    ['POST', path, { name: 'Eve', email: 'eve@ops.example', role: 'admin' }],
    ['PATCH', `${path}/op_viewer`, { role: 'admin' }],
    ['POST', `${path}/op_viewer/disable`, undefined],
    ['POST', `${path}/op_viewer/enable`, undefined],
    ['POST', `${path}/op_admin/reset-credential`, undefined],
    ['GET', `${path}/op_admin/tokens`, undefined],
    ['POST', `${path}/op_admin/tokens`, { name: 'x' }],
    ['DELETE', `${path}/op_admin/tokens/optk_admin`, undefined],
  ];
  for (const [method, url, body] of changes)
    for (const role of ['viewer', 'support'] as const)
      expect([url, (await as(role)(method, url, body)).statusCode]).toEqual([url, 403]);
  expect((await as('admin')('POST', `${path}/op_viewer/enable`)).statusCode).toBe(409);
  expect((await as('admin')('POST', `${path}/op_nobody/disable`)).statusCode).toBe(404);
  expect((await as('admin')('POST', `${path}/%00/disable`)).statusCode).toBe(400);
  for (const body of [
    {},
    { name: 'X', email: 'no', role: 'viewer' },
    { name: 'X', email: 'x@ops.example', role: 'owner' },
  ])
    expect((await as('admin')('POST', path, body)).statusCode).toBe(400);
});

test('a token for a script works until it expires or is revoked, with the role of that moment', async () => {
  const made = (await as('viewer')('POST', `${path}/op_viewer/tokens`, { name: 'nightly', days: 7 })).json();
  expect(made.token).toMatch(/^gwop_[\w-]{43}$/);
  const script = withToken(running.operator, made.token);
  expect((await script('GET', '/session')).json()).toMatchObject({ id: 'op_viewer', role: 'viewer' });
  await as('admin')('PATCH', `${path}/op_viewer`, { role: 'support' });
  expect((await script('GET', '/session')).json()).toMatchObject({ role: 'support' });
  const start = clock;
  clock = new Date(start.getTime() + 7 * dayMs - 1);
  expect((await script('GET', '/session')).statusCode).toBe(200);
  clock = new Date(start.getTime() + 7 * dayMs);
  expect((await script('GET', '/session')).statusCode).toBe(401);
  clock = start;
  const { data } = (await as('admin')('GET', `${path}/op_viewer/tokens`)).json();
  expect(data.map((token: { name: string }) => token.name)).toEqual(['test', 'nightly']);
  expect(JSON.stringify(data)).not.toContain(made.token);
  const elsewhere = `${path}/op_support/tokens/${made.id}`;
  expect((await as('admin')('DELETE', elsewhere)).statusCode).toBe(404);
  expect((await as('admin')('DELETE', `${path}/op_viewer/tokens/${made.id}`)).statusCode).toBe(200);
  expect((await script('GET', '/session')).statusCode).toBe(401);
  expect(await newest()).toMatchObject({ action: 'operator_token.revoked', before: { name: 'nightly' } });
});

test('nobody makes tokens in the name of somebody else, and no token makes one that outlives it', async () => {
  const { db } = running.context;
  const make = (role: keyof typeof tokens, owner: string, days: number) =>
    as(role)('POST', `${path}/op_${owner}/tokens`, { name: 'x', days });
  for (const role of ['viewer', 'admin'] as const) expect((await make(role, 'support', 1)).statusCode).toBe(403);
  expect(await db.operatorToken.count({ where: { operatorId: 'op_support' } })).toBe(1);
  const expiresAt = new Date(clock.getTime() + 5 * dayMs);
  await db.operatorToken.update({ where: { id: 'optk_support' }, data: { expiresAt } });
  expect((await make('support', 'support', 365)).json().expires_at).toBe(expiresAt.toISOString());
  expect((await make('support', 'support', 2)).json().expires_at < expiresAt.toISOString()).toBe(true);
});

test('the log tells by which token something was done', async () => {
  const made = (await as('admin')('POST', `${path}/op_admin/tokens`, { name: 'robot' })).json();
  await withToken(running.operator, made.token)('PATCH', `${path}/op_viewer`, { name: 'Vi' });
  const entry = await newest();
  expect(entry?.actor).toEqual({ kind: 'operator', id: 'op_admin', name: `The admin (token ${made.id})` });
});

test.each(['disable', 'reset-credential'])(
  '%s takes away the tokens too, for good, and the log tells how many',
  async (verb) => {
    await as('viewer')('POST', `${path}/op_viewer/tokens`, { name: 'second' });
    expect((await as('admin')('POST', `${path}/op_viewer/${verb}`)).statusCode).toBe(200);
    expect(await newest()).toMatchObject({ after: { sessions_ended: 0, tokens_ended: 2 } });
    if (verb === 'disable') await as('admin')('POST', `${path}/op_viewer/enable`);
    expect((await as('viewer')('GET', '/session')).statusCode).toBe(401);
  },
);

test('a change to what is there already changes nothing and stands in no log', async () => {
  const before = await newest();
  const same = { name: 'The viewer', role: 'viewer' };
  expect((await as('admin')('PATCH', `${path}/op_viewer`, same)).json()).toMatchObject(same);
  expect((await as('admin')('PATCH', `${path}/op_viewer`, {})).statusCode).toBe(400);
  expect(await newest()).toEqual(before);
});

test('a token that is wrong is not made good by anything else that the request shows', async () => {
  for (const token of ['', 'gwop_x', makeOperatorToken(), `${tokens.admin}x`])
    expect((await withToken(running.operator, token)('GET', '/session')).statusCode).toBe(401);
});

test('the first operator is made while there is none at all, and never again', async () => {
  const { db } = running.context;
  const wanted = { credential: 'the credential of the first one', token: makeOperatorToken(), tokenDays: 90 };
  const credentials = openCredentials(testCost);
  expect(await makeFirstOperator(running.context, credentials, wanted)).toBe(false);
  await db.operatorToken.deleteMany();
  await db.operator.deleteMany();
  const made = await Promise.all([1, 2].map(() => makeFirstOperator(running.context, credentials, wanted)));
  expect(made.sort()).toEqual([false, true]);
  const [token, created] = await readAudit(db, 'operators', { order: 'desc', limit: 2 });
  expect(created).toMatchObject({ action: 'operator.created', target: 'operator:op_first' });
  const expiresAt = new Date(clock.getTime() + 90 * dayMs).toISOString();
  expect(token).toMatchObject({
    action: 'operator_token.created',
    target: 'operator_token:optk_first',
    after: { operator: 'op_first', expires_at: expiresAt },
  });
  expect(JSON.stringify(token)).not.toContain(wanted.token);
  const first = withToken(running.operator, wanted.token);
  expect((await first('GET', '/session')).json()).toMatchObject({ id: 'op_first', role: 'admin' });
  const login = { email: 'admin@localhost', credential: wanted.credential };
  expect((await running.operator.inject({ method: 'POST', url: '/session', payload: login })).statusCode).toBe(200);
  await first('DELETE', `${path}/op_first/tokens/optk_first`);
  expect(await makeFirstOperator(running.context, credentials, wanted)).toBe(false);
  expect((await first('GET', '/session')).statusCode).toBe(401);
});
