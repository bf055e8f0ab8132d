import { ChainCheck } from '@gw/contract/internal/audit-chain';
import { openDatabase } from '@gw/prisma/client';
import { Browser, seedOperators, storedPerson, withToken } from '@gw/testing/control-plane/access';
import { startTestApp } from '@gw/testing/control-plane/app';
import { forFile } from '@gw/testing/for-file';
import type { FastifyInstance } from 'fastify';
import { argon2id } from 'hash-wasm';
import { beforeAll, beforeEach, expect, test } from 'vitest';
import { buildOperatorApp } from '../../operator-app.ts';
import type { Services } from '../../services.ts';
import type { Context } from '../../shared/context.ts';
import { appendAudit } from '../audit/append.ts';
import { readAudit, readHead } from '../audit/read.ts';
import { defaultAccessSettings } from './config.ts';
import type { Credentials } from './credential.ts';
import { logIn } from './login.ts';
import { type AccessServices, openAccess } from './services.ts';

const credential = 'a credential of the tests';
const minute = 60_000;
const running = forFile(() => startTestApp(() => clock));
let context: Context;
let access: AccessServices;
let app: FastifyInstance;
let tokens: Awaited<ReturnType<typeof seedOperators>>;
let clock = new Date('2026-11-21T09:00:00.000Z');
let credentialHash: string;
let address = 0;

const wait = (ms: number): void => {
  clock = new Date(clock.getTime() + ms);
};
/** Each test comes from an address of its own, so that none slows another. */
const browser = () => {
  address += 1;
  return new Browser(app, `198.51.100.${address}`);
};
const withAccess = (changed: AccessServices): Services => {
  const { services } = running;
  return { ...services, people: { ...services.people, access: changed } };
};
const auditOf = async (chain = 'operators') => readAudit(context.db, chain, { order: 'asc', limit: 1000 });

beforeAll(async () => {
  context = running.context;
  ({ access } = running.services.people);
  app = running.operator;
  tokens = await seedOperators(context);
  credentialHash = await access.credentials.hash(credential);
});
beforeEach(async () => {
  await context.db.session.deleteMany();
  await context.db.operator.updateMany({ data: { credentialHash, disabledAt: null } });
  await context.redis.flushall();
});

test('whoever logs in is known by a cookie that no script can read and no other site can send', async () => {
  const ada = browser();
  const reply = await ada.logIn(' Support@ops.example', credential);
  expect(reply.json()).toMatchObject({ kind: 'operator', id: 'op_support', role: 'support' });
  expect(reply.headers['set-cookie']).toMatch(/^gw_session=[\w-]{43}; Path=\/; HttpOnly; SameSite=Strict$/);
  expect((await ada.call('GET', '/session')).json()).toMatchObject({ id: 'op_support', name: 'The support' });
  const stored = JSON.stringify(await context.db.session.findMany());
  expect(stored).not.toContain(ada.cookie?.split('=')[1]);
});

test('where the port is reached over TLS, the cookie demands it', async () => {
  const secure = openAccess(context, { ...defaultAccessSettings, controlUrl: 'https://ops.example' }, null);
  const other = buildOperatorApp(context, withAccess(secure));
  const reply = await new Browser(other).logIn('admin@ops.example', credential);
  expect(reply.headers['set-cookie']).toMatch(
    /^__Host-gw_session=[\w-]{43}; Path=\/; HttpOnly; Secure; SameSite=Strict$/,
  );
  await other.close();
});

test('an unknown person, a wrong credential, a person without one and a disabled one get the same answer', async () => {
  await context.db.operator.update({ where: { id: 'op_viewer' }, data: { disabledAt: clock } });
  await context.db.operator.update({ where: { id: 'op_support' }, data: { credentialHash: null } });
  const attempts: [string, string][] = [
    ['nobody@ops.example', credential],
    ['admin@ops.example', 'wrong'],
    ['support@ops.example', credential],
    ['viewer@ops.example', credential],
  ];
  const replies = await Promise.all(attempts.map(([email, text]) => browser().logIn(email, text)));
  expect(new Set(replies.map((reply) => reply.body)).size).toBe(1);
  expect(replies.map((reply) => reply.statusCode)).toEqual([401, 401, 401, 401]);
  expect(await context.db.session.count()).toBe(0);
});

test('a session ends 30 minutes after its last use, and 12 hours after its start in any case', async () => {
  const idle = browser();
  await idle.logIn('viewer@ops.example', credential);
  wait(29 * minute);
  expect((await idle.call('GET', '/session')).statusCode).toBe(200);
  wait(29 * minute);
  expect((await idle.call('GET', '/session')).statusCode).toBe(200);
  wait(30 * minute);
  expect((await idle.call('GET', '/session')).statusCode).toBe(401);

  const busy = browser();
  await busy.logIn('viewer@ops.example', credential);
  for (let passed = 0; passed < 12 * 60 - 20; passed += 20) {
    wait(20 * minute);
    expect((await busy.call('GET', '/session')).statusCode).toBe(200);
  }
  wait(20 * minute);
  expect((await busy.call('GET', '/session')).statusCode).toBe(401);
});

test('logging out ends this session, and "all" every session of the person', async () => {
  const [one, two, other] = [browser(), browser(), browser()];
  for (const each of [one, two]) await each.logIn('viewer@ops.example', credential);
  await other.logIn('admin@ops.example', credential);
  const stolen = one.cookie;
  expect((await one.call('DELETE', '/session')).statusCode).toBe(204);
  expect(one.cookie).toBeNull();
  one.cookie = stolen;
  expect((await one.call('GET', '/session')).statusCode).toBe(401);
  expect((await two.call('GET', '/session')).statusCode).toBe(200);
  await one.logIn('viewer@ops.example', credential);
  const second = two.cookie;
  await two.call('DELETE', '/session/all');
  two.cookie = second;
  expect((await one.call('GET', '/session')).statusCode).toBe(401);
  expect((await two.call('GET', '/session')).statusCode).toBe(401);
  expect((await other.call('GET', '/session')).statusCode).toBe(200);
});

test('who changes the credential needs the old one, and every session ends', async () => {
  const [here, elsewhere] = [browser(), browser()];
  for (const each of [here, elsewhere]) await each.logIn('viewer@ops.example', credential);
  const next = 'another credential';
  expect((await here.call('PUT', '/session/credential', { current: 'wrong', next })).statusCode).toBe(401);
  expect((await here.call('PUT', '/session/credential', { current: credential, next: 'short' })).statusCode).toBe(400);
  expect((await elsewhere.call('GET', '/session')).statusCode).toBe(200);
  expect((await here.call('PUT', '/session/credential', { current: credential, next })).statusCode).toBe(204);
  expect((await elsewhere.call('GET', '/session')).statusCode).toBe(401);
  expect((await browser().logIn('viewer@ops.example', credential)).statusCode).toBe(401);
  expect((await browser().logIn('viewer@ops.example', next)).statusCode).toBe(200);
});

test('a person who is disabled is out at once, sessions and tokens alike, and back without the old ones', async () => {
  const sam = browser();
  await sam.logIn('support@ops.example', credential);
  const admin = withToken(app, tokens.admin);
  const script = withToken(app, tokens.support);
  expect((await script('GET', '/session')).statusCode).toBe(200);
  expect((await admin('POST', '/operator/v1/operators/op_support/disable')).json()).toMatchObject({
    state: 'disabled',
  });
  expect((await sam.call('GET', '/session')).statusCode).toBe(401);
  expect((await script('GET', '/session')).statusCode).toBe(401);
  await admin('POST', '/operator/v1/operators/op_support/enable');
  expect((await sam.call('GET', '/session')).statusCode).toBe(401);
  expect((await script('GET', '/session')).statusCode).toBe(401);
});

test('who logs in again in the same browser ends the session that was there, and the log tells whose', async () => {
  const here = browser();
  await here.logIn('viewer@ops.example', credential);
  const first = here.cookie;
  await here.logIn('admin@ops.example', credential);
  const second = here.cookie;
  here.cookie = first;
  expect((await here.call('GET', '/session')).statusCode).toBe(401);
  expect((await here.logIn('admin@ops.example', 'wrong')).statusCode).toBe(401);
  here.cookie = second;
  expect((await here.logIn('admin@ops.example', 'wrong')).statusCode).toBe(401);
  expect((await here.call('GET', '/session')).json()).toMatchObject({ id: 'op_admin' });
  const [started, ended] = (await auditOf()).reverse();
  expect(ended).toMatchObject({ action: 'session.ended', target: 'operator:op_viewer' });
  expect(started).toMatchObject({ action: 'session.started', actor: { id: 'op_admin' } });
  expect(started?.after).toEqual({ address: `198.51.100.${address}` });
  // Whoever is erased is not found by where they came from.
  expect(started?.hidden?.['/after/address']).toMatch(/^\{gw-name:operator:op_admin:/);
});

test('what is done in a session is told apart by the session, and not by its secret', async () => {
  const ada = browser();
  await ada.logIn('admin@ops.example', credential);
  const started = (await auditOf()).at(-1);
  await ada.call('PATCH', '/operator/v1/operators/op_support', { name: 'Sam' });
  const changed = (await auditOf()).at(-1);
  expect(started?.actor.name).toMatch(/^The admin \(session [0-9a-f]{12}\)$/);
  expect([changed?.action, changed?.actor]).toEqual(['operator.changed', started?.actor]);
  await ada.call('PATCH', '/operator/v1/operators/op_support', { name: 'The support' });
});

test('a flood of strangers keeps nobody out who is known, and those who were not heard lose nothing', async () => {
  const home = browser();
  await home.logIn('admin@ops.example', credential);
  const replies = Array.from({ length: 60 }, () => browser().logIn(`nobody-${address}@ops.example`, 'x'));
  const known = await home.logIn('admin@ops.example', credential);
  expect(known.statusCode).toBe(200);
  const busy = (await Promise.all(replies)).filter((reply) => reply.statusCode === 429);
  expect(busy.length).toBeGreaterThan(0);
  // All that is left of an attempt that was not heard is its counters, at zero.
  const counts = await Promise.all(
    (await context.redis.keys('gw:{login}:subject:*')).map((key) => context.redis.hget(key, 'n')),
  );
  expect(counts.filter((count) => count === '0')).toHaveLength(busy.length);
}, 60_000);

test('a login counts as known at the address of an earlier one alone', async () => {
  const callers: unknown[] = [];
  const verify: Credentials['verify'] = async (_stored, _credential, caller) => {
    callers.push(caller);
    return 'right';
  };
  const login = { kind: 'operator', email: 'admin@ops.example', credential, code: null, requestId: 'r' } as const;
  const from = (where: string) =>
    logIn(context, { ...access, credentials: { ...access.credentials, verify } }, { ...login, address: where });
  for (const where of ['203.0.113.1', '203.0.113.1', '203.0.113.2']) await from(where);
  expect(callers).toEqual(['stranger', 'known', 'stranger']);
});

const meanwhile: [string, object][] = [
  ['the person is disabled', { disabledAt: new Date(0) }],
  ['the credential is changed', { credentialHash: '$argon2id$another' }],
];
test.each(meanwhile)('a login that is under way while %s comes to nothing', async (_, data) => {
  const credentials = {
    ...access.credentials,
    verify: async () => {
      await context.db.operator.update({ where: { id: 'op_viewer' }, data });
      return 'right' as const;
    },
  };
  const login = {
    kind: 'operator',
    email: 'viewer@ops.example',
    credential,
    code: null,
    address: '203.0.113.1',
    requestId: 'r',
  } as const;
  const outcome = await logIn(context, { ...access, credentials }, login);
  expect(outcome).toMatchObject({ error: { status: 401 } });
  expect(await context.db.session.count()).toBe(0);
});

test('a role that is taken away is gone with the next request of a running session', async () => {
  const root = withToken(app, tokens.admin);
  const made = (
    await root('POST', '/operator/v1/operators', { name: 'Eve', email: 'eve@ops.example', role: 'admin' })
  ).json();
  const eve = browser();
  expect((await eve.logIn('eve@ops.example', made.credential)).statusCode).toBe(200);
  const body = { name: 'X', email: 'x@ops.example', role: 'viewer' };
  expect((await eve.call('POST', '/operator/v1/operators', body)).statusCode).toBe(200);
  await root('PATCH', `/operator/v1/operators/${made.id}`, { role: 'viewer' });
  expect((await eve.call('POST', '/operator/v1/operators', { ...body, email: 'y@ops.example' })).statusCode).toBe(403);
});

test('a logout that shows a token beside the cookie ends no session of somebody else', async () => {
  const ada = browser();
  await ada.logIn('support@ops.example', credential);
  const headers = { authorization: `Bearer ${tokens.viewer}`, cookie: ada.cookie ?? '', 'x-gw-csrf': '1' };
  const before = (await auditOf()).length;
  expect((await app.inject({ method: 'DELETE', url: '/session', headers })).statusCode).toBe(204);
  expect((await ada.call('GET', '/session')).statusCode).toBe(200);
  expect(await auditOf()).toHaveLength(before);
});

test('two who take over the browser of the other at the same time do not wait for each other', async () => {
  const { db } = context;
  const data = { id: 'oadm_swap', accountId: 'acct_demo_audit', credentialHash };
  const bo = { name: 'Bo', email: 'bo@swap.example' };
  const person = await storedPerson(db, `organisation_admin:${data.id}`, bo);
  await db.organisationAdmin.create({ data: { ...data, ...person } });
  const one = ['support@ops.example', credential, 'operator'] as const;
  const other = [bo.email, credential, 'organisation_admin'] as const;
  const [a, b] = [browser(), browser()];
  await Promise.all([a.logIn(...one), b.logIn(...other)]);
  // Both begin when both chains are let go.
  const { replies } = await db.$transaction(async (tx) => {
    for (const chain of ['operators', data.accountId])
      await tx.$executeRaw`SELECT pg_advisory_xact_lock(hashtextextended('audit:' || ${chain}, 0))`;
    const waiting = Promise.all([a.logIn(...other), b.logIn(...one)]);
    const waiters = () => db.$queryRaw<unknown[]>`
      SELECT 1 FROM pg_stat_activity WHERE wait_event_type = 'Lock' AND datname = current_database()`;
    await expect.poll(waiters).toHaveLength(2);
    return { replies: waiting };
  });
  expect((await replies).map((reply) => reply.statusCode)).toEqual([200, 200]);
});

test('a hash at an old cost is replaced at the next login', async () => {
  const old = { salt: new Uint8Array(16), memorySize: 32, iterations: 1, parallelism: 1, hashLength: 32 };
  const outdated = await argon2id({ ...old, password: credential, outputType: 'encoded' });
  await context.db.operator.update({ where: { id: 'op_viewer' }, data: { credentialHash: outdated } });
  expect((await browser().logIn('viewer@ops.example', credential)).statusCode).toBe(200);
  const { credentialHash: now } = await context.db.operator.findUniqueOrThrow({ where: { id: 'op_viewer' } });
  expect(now).toMatch(/^\$argon2id\$v=19\$m=64,t=1,p=1\$/);
  expect((await browser().logIn('viewer@ops.example', credential)).statusCode).toBe(200);
});

test('guessing is slowed down, with 429 and the seconds to wait, for a right credential too', async () => {
  const guesser = browser();
  for (let i = 0; i < 6; i += 1) expect((await guesser.logIn('admin@ops.example', `guess ${i}`)).statusCode).toBe(401);
  const slowed = await guesser.logIn('admin@ops.example', credential);
  expect(slowed.statusCode).toBe(429);
  expect(slowed.headers['retry-after']).toBe('1');
  expect(slowed.json().error).toMatchObject({ type: 'rate_limit_error', code: 'too_many_logins' });
  wait(1000);
  expect((await guesser.logIn('admin@ops.example', credential)).statusCode).toBe(200);
});

test('failed logins stand in the audit log once per person and minute, and a flood of unknown ones once', async () => {
  await access.failedLogins.write(true);
  const before = (await auditOf()).length;
  wait(minute - (clock.getTime() % minute));
  const at = clock.toISOString();
  const one = browser();
  for (let i = 0; i < 3; i += 1) await one.logIn('admin@ops.example', 'wrong');
  for (let i = 0; i < 4; i += 1) await browser().logIn(`nobody-${i}@ops.example`, 'wrong');
  await access.failedLogins.write();
  expect((await auditOf()).length).toBe(before);
  wait(minute);
  await access.failedLogins.write();
  const written = (await auditOf()).slice(before);
  expect(written.map(({ action, target, after }) => ({ action, target, after }))).toMatchObject([
    { action: 'login.failed', target: 'operator:op_admin', after: { minute: at, failures: 3 } },
    { action: 'login.failed', target: 'login:unknown', after: { minute: at, failures: 4 } },
  ]);
  expect(JSON.stringify(written)).not.toContain('nobody-');
});

test('failed logins of an account whose chain is broken hold up those of nobody else', async () => {
  await access.failedLogins.write(true);
  const before = (await auditOf()).length;
  const { db } = context;
  const account = { id: 'acct_broken', name: 'Broken', tier: 'audit' } as const;
  await db.account.create({ data: account });
  const person = { name: 'Bo', email: 'bo@broken.example' };
  const stored = await storedPerson(db, 'organisation_admin:oadm_broken', person);
  await db.organisationAdmin.create({ data: { id: 'oadm_broken', accountId: account.id, ...stored } });
  const fact = { accountId: account.id, actor: { kind: 'system', id: 'test', name: null }, requestId: null } as const;
  await db.$transaction((tx) => appendAudit(tx, clock, { ...fact, action: 'a.b', target: 'x' }));
  const owner = openDatabase(running.stores.postgres.url, { connections: 1 });
  await owner.$transaction([
    owner.$executeRaw`SET LOCAL session_replication_role = replica`,
    owner.$executeRaw`DELETE FROM audit_heads WHERE chain = ${account.id}`,
  ]);
  await owner.$disconnect();
  await browser().logIn(person.email, 'wrong', 'organisation_admin');
  await browser().logIn('admin@ops.example', 'wrong');
  await expect(access.failedLogins.write(true)).rejects.toThrow();
  expect((await auditOf()).slice(before)).toMatchObject([{ action: 'login.failed', target: 'operator:op_admin' }]);
});

test('the audit log tells who logged in and out, verifies, and holds no credential and no token', async () => {
  const check = new ChainCheck();
  const entries = await auditOf();
  for (const entry of entries) check.next(entry);
  expect(check.end(await readHead(context.db, 'operators'))).toEqual([]);
  const actions = new Set(entries.map(({ action }) => action));
  for (const action of ['session.started', 'session.ended', 'session.all_ended', 'operator.credential_changed'])
    expect(actions).toContain(action);
  const text = JSON.stringify(entries);
  for (const secret of [credential, 'argon2id', ...Object.values(tokens)]) expect(text).not.toContain(secret);
});
