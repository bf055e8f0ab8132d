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
import { type OidcReason, oidcReasons } from './oidc-failure.ts';
import { openAccess } from './services.ts';

const running = forFile(() => startTestApp(() => clock));
let provider: TestProvider;
let app: FastifyInstance;
let tokens: Awaited<ReturnType<typeof seedOperators>>;
let clock = new Date('2026-11-21T09:00:00.000Z');

const appWith = (issuer: string): FastifyInstance => {
  const { clientId, clientSecret } = provider;
  const settings = {
    ...defaultAccessSettings,
    oidc: { issuer, clientId, clientSecret, claim: 'email' as const, domain: null },
  };
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

/** Why it failed, as the page of the login is told; null: it did not. */
const reasonOf = ({ headers, statusCode }: Awaited<ReturnType<typeof comeBack>>): string | null => {
  if (statusCode === 200) return null;
  const at = new URL(String(headers.location), 'http://page');
  expect([statusCode, at.pathname, at.searchParams.get('as')]).toEqual([302, '/dashboard/', 'operator']);
  return at.searchParams.get('login_failed');
};

/** The reason of a login that failed, and the session's cookie. */
async function logIn() {
  const { cookie, url } = await begin();
  const reply = await comeBack(provider.authorize(url), cookie);
  return { reason: reasonOf(reply), cookie: cookieOf(reply.headers['set-cookie'], 'gw_session') };
}
const whoIs = async (cookie: string) => (await app.inject({ url: '/session', headers: { cookie } })).json().id;

test('an operator with that verified e-mail gets in, and from then on by the subject alone', async () => {
  const first = await logIn();
  expect([first.reason, await whoIs(first.cookie)]).toEqual([null, 'op_viewer']);
  provider.claims = { sub: 'subject-1', email: 'renamed@elsewhere.example', email_verified: false };
  expect(await whoIs((await logIn()).cookie)).toBe('op_viewer');
  // Somebody else who is given the old address at the provider is not the operator.
  provider.claims = { sub: 'subject-2', email: 'viewer@ops.example', email_verified: true };
  expect(await logIn()).toEqual({ reason: 'bound_otherwise', cookie: '' });
  const entries = await readAudit(running.context.db, 'operators', { order: 'asc', limit: 100 });
  const actions = entries.map(({ action }) => action);
  expect(actions).toEqual(['operator.identity_bound', 'session.started', 'session.started']);
  expect(entries.at(-1)?.after).toEqual({ by: 'oidc', address: '127.0.0.1' });
});

const admin = { sub: 's', email: 'admin@ops.example', email_verified: true };
test.each([
  ['whom no admin has made', { ...admin, email: 'eve@ops.example' }, 'unknown_person'],
  ['whose e-mail is not verified', { ...admin, email_verified: false }, 'not_verified'],
  ['whose e-mail is not said to be verified', { sub: 's', email: 'admin@ops.example' }, 'not_verified'],
  ['without an e-mail', { sub: 's' }, 'claim_missing'],
  ['whose token is for another client', { ...admin, aud: 'other' }, 'token_invalid'],
  ['whose token is of another login', { ...admin, nonce: 'other' }, 'token_invalid'],
  ['whose token is of another issuer', { ...admin, iss: 'https://x' }, 'token_invalid'],
  ['whose token has expired', { ...admin, exp: 1 }, 'clock'],
])('a person %s does not get in, and is told why', async (_, claims, reason) => {
  provider.claims = claims;
  expect(await logIn()).toEqual({ reason, cookie: '' });
  const page = await app.inject(`/dashboard/?login_failed=${reason}&as=operator`);
  expect(page.body).toContain(`name="login-failed" content="${oidcReasons[reason as OidcReason]}"`);
  const { body: metrics } = await app.inject('/metrics');
  expect(metrics).toMatch(new RegExp(`^gw_oidc_logins_total{kind="operator",outcome="${reason}",.* [1-9]`, 'm'));
});

test('the page of the login says nothing but its own sentences', async () => {
  for (const query of [
    '',
    '?login_failed=',
    '?login_failed=<b>',
    '?login_failed=constructor',
    '?login_failed=a&login_failed=b',
  ])
    expect((await app.inject(`/dashboard/${query}`)).body).toContain('name="login-failed" content=""');
  for (const text of Object.values(oidcReasons)) expect(text).not.toMatch(/[<>"&]/);
});

test('the page of the login offers the provider only where there is one', async () => {
  const pages = await Promise.all([app, running.operator].map((each) => each.inject('/dashboard/')));
  expect(pages.map(({ body }) => /name="oidc" content="([\w ]*)"/.exec(body)?.[1])).toEqual(['operator', '']);
});

test('a token that the provider has not signed lets nobody in', async () => {
  provider.forge = true;
  expect(await logIn()).toEqual({ reason: 'token_invalid', cookie: '' });
});

test('a disabled operator does not get in, bound or not', async () => {
  await running.context.db.operator.update({ where: { id: 'op_viewer' }, data: { disabledAt: clock } });
  expect((await logIn()).reason).toBe('disabled');
  await running.context.db.operator.update({ where: { id: 'op_viewer' }, data: { disabledAt: null } });
  expect((await logIn()).reason).toBeNull();
  await running.context.db.operator.update({ where: { id: 'op_viewer' }, data: { disabledAt: clock } });
  expect((await logIn()).reason).toBe('disabled');
});

test('a login can be finished only by the browser that began it, and once', async () => {
  const [mine, theirs] = [await begin(), await begin()];
  const query = provider.authorize(theirs.url);
  expect(reasonOf(await comeBack(query, mine.cookie))).toBe('expired');
  expect(reasonOf(await comeBack(query, ''))).toBe('expired');
  expect(reasonOf(await comeBack(query, theirs.cookie))).toBeNull();
  expect(reasonOf(await comeBack(query, theirs.cookie))).toBe('expired');
  expect(reasonOf(await comeBack('?error=access_denied', (await begin()).cookie))).toBe('denied');
  expect(reasonOf(await comeBack('?error=access_denied', ''))).toBe('expired');
});

test('an admin can unbind an identity, which ends its sessions', async () => {
  const { cookie } = await logIn();
  const admin = withToken(app, tokens.admin);
  const unbind = () => admin('POST', '/operator/v1/operators/op_viewer/unbind-identity');
  expect((await unbind()).json()).toMatchObject({ logins: [] });
  expect((await app.inject({ url: '/session', headers: { cookie } })).statusCode).toBe(401);
  expect((await unbind()).statusCode).toBe(409);
  provider.claims = { sub: 'subject-9', email: 'viewer@ops.example', email_verified: true };
  expect((await logIn()).reason).toBeNull();
});

test('made-up logins are slowed down before the provider is asked, and those who get in are not', async () => {
  for (let i = 0; i < 12; i += 1) expect((await logIn()).reason).toBeNull();
  const { cookie } = await begin();
  const made = Array.from({ length: 20 }, () => comeBack('?code=x&state=y', cookie));
  const reasons = (await Promise.all(made)).map(reasonOf);
  expect(reasons.filter((reason) => reason === 'expired')).toHaveLength(6);
  expect(reasons.filter((reason) => reason === 'too_many_logins')).toHaveLength(14);
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
    return new Set(replies.map(reasonOf));
  };
  try {
    for (let i = 0; i < 3; i += 1) expect(await ask()).toEqual(new Set(['provider_away']));
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
  let last: string | null = null;
  // Each as soon as it is heard.
  for (let i = 0; i < 20; i += 1) {
    clock = new Date(clock.getTime() + 31_000);
    last = reasonOf(await comeBack('?code=x&state=y', (await begin()).cookie));
  }
  expect(last).toBe('too_many_logins');
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
  expect(reply && reasonOf(await reply)).not.toBeNull();
  expect(await db.session.count()).toBe(0);
});

test('without a provider the page of the login says so', async () => {
  expect(reasonOf(await running.operator.inject('/session/oidc'))).toBe('no_provider');
  const unbegun = await running.operator.inject('/session/oidc/callback?code=x');
  expect(reasonOf(unbegun)).toBe('expired');
});

test('a store that does not answer leads back to the page of the login too', async () => {
  const access = openAccess(running.context, defaultAccessSettings, null);
  const away = () => Promise.reject(new Error('Postgres is away'));
  const accountIssuers = { ...access.accountIssuers, ofDomain: away, any: away };
  const broken = buildOperatorApp(running.context, {
    ...running.services,
    people: { ...running.services.people, access: { ...access, accountIssuers } },
  });
  const reply = await broken.inject('/session/oidc?domain=customer.example');
  expect(reply.headers.location).toBe('/dashboard/?login_failed=unavailable&as=organisation_admin');
  expect((await broken.inject('/dashboard/')).body).toContain('name="oidc" content=""');
  await broken.close();
});

test('an admin can bind an identity before its first login, which no e-mail takes', async () => {
  const ask = withToken(app, tokens.admin);
  const bind = (id: string) => ask('POST', `/operator/v1/operators/${id}/bind-identity`, { subject: 'subject-7' });
  expect((await bind('op_support')).json()).toMatchObject({ logins: ['oidc'] });
  expect((await bind('op_support')).statusCode).toBe(409);
  expect((await bind('op_viewer')).json().error).toMatchObject({ param: 'subject' });
  provider.claims = { sub: 'subject-7' };
  provider.claims.email = 'viewer@ops.example';
  provider.claims.email_verified = true;
  expect(await whoIs((await logIn()).cookie)).toBe('op_support');
});
