import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { seedOperators, withToken } from '@gw/testing/control-plane/access';
import { startTestApp, testCost } from '@gw/testing/control-plane/app';
import { startTestProvider, type TestProvider } from '@gw/testing/control-plane/identity-provider';
import { forFile } from '@gw/testing/for-file';
import type { FastifyInstance } from 'fastify';
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest';
import { buildOperatorApp } from '../../operator-app.ts';
import { readAudit } from '../audit/read.ts';
import { defaultAccessSettings } from './config.ts';
import { openCredentials } from './credential.ts';
import { openAccess } from './services.ts';

const running = forFile(() => startTestApp(() => clock));
let provider: TestProvider;
let app: FastifyInstance;
let tokens: Awaited<ReturnType<typeof seedOperators>>;
let clock = new Date('2026-11-21T09:00:00.000Z');

const appWith = (issuer: string): FastifyInstance => {
  const { clientId, clientSecret } = provider;
  const settings = { ...defaultAccessSettings, oidc: { issuer, clientId, clientSecret } };
  const access = openAccess(running.context, settings, null);
  return buildOperatorApp(running.context, { ...running.services, people: { ...running.services.people, access } });
};

beforeAll(async () => {
  provider = await startTestProvider();
  app = appWith(provider.issuer);
});
afterAll(async () => {
  await app?.close();
  await provider?.stop();
});
beforeEach(async () => {
  const { db, redis } = running.context;
  await redis.flushall();
  await db.operatorToken.deleteMany();
  await db.operator.deleteMany();
  tokens = await seedOperators(running.context);
  provider.claims = { sub: 'subject-1', email: 'Viewer@ops.example', email_verified: true };
  provider.forge = false;
});

const cookieOf = (header: string | string[] | undefined, name: string): string =>
  [header]
    .flat()
    .find((each) => each?.startsWith(`${name}=`))
    ?.split(';', 1)[0] ?? '';

async function begin() {
  const reply = await app.inject('/session/oidc');
  return { url: String(reply.headers.location), cookie: cookieOf(reply.headers['set-cookie'], 'gw_oidc') };
}
const comeBack = (query: string, cookie: string) =>
  app.inject({ url: `/session/oidc/callback${query}`, headers: { cookie } });

/** The status of the callback, and the session's cookie. */
async function logIn() {
  const { cookie, url } = await begin();
  const reply = await comeBack(provider.authorize(url), cookie);
  return { status: reply.statusCode, cookie: cookieOf(reply.headers['set-cookie'], 'gw_session') };
}
const whoIs = async (cookie: string) => (await app.inject({ url: '/session', headers: { cookie } })).json().id;

test('an operator with that verified e-mail gets in, and from then on by the subject alone', async () => {
  const first = await logIn();
  expect([first.status, await whoIs(first.cookie)]).toEqual([200, 'op_viewer']);
  provider.claims = { sub: 'subject-1', email: 'renamed@elsewhere.example', email_verified: false };
  expect(await whoIs((await logIn()).cookie)).toBe('op_viewer');
  // Somebody else who is given the old address at the provider is not the operator.
  provider.claims = { sub: 'subject-2', email: 'viewer@ops.example', email_verified: true };
  expect(await logIn()).toEqual({ status: 401, cookie: '' });
  const actions = (await readAudit(running.context.db, 'operators', { order: 'asc', limit: 100 })).map(
    ({ action }) => action,
  );
  expect(actions).toEqual(['operator.identity_bound', 'session.started', 'session.started']);
});

const strangers: [string, Record<string, unknown>][] = [
  ['whom no admin has made', { sub: 's', email: 'eve@ops.example', email_verified: true }],
  ['whose e-mail is not verified', { sub: 's', email: 'admin@ops.example', email_verified: false }],
  ['whose e-mail is not said to be verified', { sub: 's', email: 'admin@ops.example' }],
  ['whose token is for another client', { sub: 's', email: 'admin@ops.example', email_verified: true, aud: 'other' }],
  ['whose token is of another login', { sub: 's', email: 'admin@ops.example', email_verified: true, nonce: 'other' }],
  [
    'whose token is of another issuer',
    { sub: 's', email: 'admin@ops.example', email_verified: true, iss: 'https://x' },
  ],
  ['whose token has expired', { sub: 's', email: 'admin@ops.example', email_verified: true, exp: 1 }],
];
test.each(strangers)('a person %s does not get in', async (_, claims) => {
  provider.claims = claims;
  expect(await logIn()).toEqual({ status: 401, cookie: '' });
});

test('the page of the login offers the provider only where there is one', async () => {
  const pages = await Promise.all([app, running.operator].map((each) => each.inject('/dashboard/')));
  expect(pages.map(({ body }) => /name="oidc" content="(\w+)"/.exec(body)?.[1])).toEqual(['true', 'false']);
});

test('a token that the provider has not signed lets nobody in', async () => {
  provider.forge = true;
  expect(await logIn()).toEqual({ status: 401, cookie: '' });
});

test('a disabled operator does not get in, bound or not', async () => {
  await running.context.db.operator.update({ where: { id: 'op_viewer' }, data: { disabledAt: clock } });
  expect((await logIn()).status).toBe(401);
  await running.context.db.operator.update({ where: { id: 'op_viewer' }, data: { disabledAt: null } });
  expect((await logIn()).status).toBe(200);
  await running.context.db.operator.update({ where: { id: 'op_viewer' }, data: { disabledAt: clock } });
  expect((await logIn()).status).toBe(401);
});

test('a login can be finished only by the browser that began it, and once', async () => {
  const [mine, theirs] = [await begin(), await begin()];
  const query = provider.authorize(theirs.url);
  expect((await comeBack(query, mine.cookie)).statusCode).toBe(401);
  expect((await comeBack(query, '')).statusCode).toBe(401);
  expect((await comeBack(query, theirs.cookie)).statusCode).toBe(200);
  expect((await comeBack(query, theirs.cookie)).statusCode).toBe(401);
  expect((await comeBack('?error=access_denied', (await begin()).cookie)).statusCode).toBe(401);
});

test('an admin can unbind an identity, which ends its sessions', async () => {
  const { cookie } = await logIn();
  const admin = withToken(app, tokens.admin);
  const unbind = () => admin('POST', '/operator/v1/operators/op_viewer/unbind-identity');
  expect((await unbind()).json()).toMatchObject({ logins: [] });
  expect((await app.inject({ url: '/session', headers: { cookie } })).statusCode).toBe(401);
  expect((await unbind()).statusCode).toBe(409);
  provider.claims = { sub: 'subject-9', email: 'viewer@ops.example', email_verified: true };
  expect((await logIn()).status).toBe(200);
});

test('made-up logins are slowed down before the provider is asked, and those who get in are not', async () => {
  for (let i = 0; i < 12; i += 1) expect((await logIn()).status).toBe(200);
  const { cookie } = await begin();
  const made = Array.from({ length: 20 }, () => comeBack('?code=x&state=y', cookie));
  const statuses = (await Promise.all(made)).map((reply) => reply.statusCode);
  expect(statuses.filter((status) => status === 401)).toHaveLength(6);
  expect(statuses.filter((status) => status === 429)).toHaveLength(14);
});

test('a provider that does not answer is told, asked once in 5 s however many ask, and asked again then', async () => {
  let asked = 0;
  const server = createServer((_request, reply) => {
    asked += 1;
    reply.writeHead(503).end();
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const away = appWith(`http://127.0.0.1:${(server.address() as AddressInfo).port}`);
  const begun = clock;
  const ask = async () => {
    const replies = await Promise.all(Array.from({ length: 20 }, () => away.inject('/session/oidc')));
    return new Set(replies.map((reply) => `${reply.statusCode} ${reply.json().error.code}`));
  };
  try {
    for (let i = 0; i < 3; i += 1) expect(await ask()).toEqual(new Set(['502 identity_provider_unavailable']));
    expect(asked).toBe(1);
    clock = new Date(begun.getTime() + 5000);
    await ask();
    expect(asked).toBe(2);
  } finally {
    clock = begun;
    await away.close();
    server.close();
  }
});

test('logins that fail with the provider keep nobody at that address from a credential', async () => {
  const begun = clock;
  let last = 0;
  // Each as soon as it is heard.
  for (let i = 0; i < 20; i += 1) {
    clock = new Date(clock.getTime() + 31_000);
    last = (await comeBack('?code=x&state=y', (await begin()).cookie)).statusCode;
  }
  expect(last).toBe(429);
  const credentialHash = await openCredentials(testCost).hash('the credential of the admin');
  await running.context.db.operator.update({ where: { id: 'op_admin' }, data: { credentialHash } });
  const payload = { email: 'admin@ops.example', credential: 'the credential of the admin' };
  expect((await app.inject({ method: 'POST', url: '/session', payload })).statusCode).toBe(200);
  clock = begun;
});

test.each([
  ['disabled', { disabledAt: clock }],
  ['unbound', { oidcIssuer: null, oidcSubject: null }],
])('a login while the operator is being %s leaves no session behind', async (_, data) => {
  const { db } = running.context;
  await logIn();
  await db.session.deleteMany();
  const { cookie, url } = await begin();
  const query = provider.authorize(url);
  provider.claims = { sub: 'subject-1', email: 'viewer@ops.example', email_verified: false };
  let reply: ReturnType<typeof comeBack> | undefined;
  await db.$transaction(async (tx) => {
    await tx.operator.update({ where: { id: 'op_viewer' }, data });
    reply = comeBack(query, cookie);
    // Until the login waits for the row that is held here.
    for (let waits = 0; waits === 0; ) {
      const [found] = await db.$queryRaw<{ waits: number }[]>`
        SELECT count(*)::int AS waits FROM pg_stat_activity WHERE wait_event_type = 'Lock' AND datname = current_database()`;
      waits = found?.waits ?? 0;
    }
    await tx.session.deleteMany({ where: { subjectId: 'op_viewer' } });
  });
  expect((await reply)?.statusCode).toBe(401);
  expect(await db.session.count()).toBe(0);
});

test('without a provider there is no such route', async () => {
  expect((await running.operator.inject('/session/oidc')).statusCode).toBe(404);
});
