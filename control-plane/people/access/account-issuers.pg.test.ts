/** Admins of an organisation log in with the identity provider of their own account, and nowhere else. */
import { seedOperators, storedPerson, withToken } from '@gw/testing/control-plane/access';
import { startTestApp } from '@gw/testing/control-plane/app';
import { startTestProvider, type TestProvider } from '@gw/testing/control-plane/identity-provider';
import { forFile } from '@gw/testing/for-file';
import type { FastifyInstance } from 'fastify';
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest';
import { buildOperatorApp } from '../../operator-app.ts';
import { createVault } from '../../shared/vault.ts';
import { readAudit } from '../audit/read.ts';
import { sealIssuersAgain } from './account-issuers.ts';
import { defaultAccessSettings } from './config.ts';
import { openAccess } from './services.ts';

const running = forFile(startTestApp);
const key = Buffer.alloc(32, 1);
const [own, other] = ['acct_demo_audit', 'acct_demo_audit_plus'];
let provider: TestProvider;
let ofOperators: TestProvider;
let app: FastifyInstance;
let tokens: Awaited<ReturnType<typeof seedOperators>>;
/** The texts that DNS has, by name. */
let records: Record<string, string[][]> = {};

beforeAll(async () => {
  [provider, ofOperators] = await Promise.all([startTestProvider(), startTestProvider()]);
  const { clientId, clientSecret, issuer } = ofOperators;
  const settings = {
    ...defaultAccessSettings,
    oidc: { issuer, clientId, clientSecret, claim: 'email' as const, domain: null },
  };
  const lookUp = async (name: string) => {
    const found = records[name];
    if (found === undefined) throw Object.assign(new Error('no such name'), { code: 'ENOTFOUND' });
    return found;
  };
  const access = openAccess(
    { ...running.context, db: running.context.databases.people },
    settings,
    createVault([key]),
    lookUp,
  );
  app = buildOperatorApp(running.context, { ...running.services, people: { ...running.services.people, access } });
  tokens = await seedOperators(running.context);
});
afterAll(async () => {
  await app?.close();
  await Promise.all([provider?.stop(), ofOperators?.stop()]);
});
beforeEach(async () => {
  const { redis } = running.context;
  const db = running.context.databases.people;
  await redis.flushall();
  await db.session.deleteMany();
  await db.accountIssuer.deleteMany();
  records = {};
  for (const [accountId, name] of [
    [own, 'lin'],
    [other, 'eve'],
  ] as const) {
    const id = `oadm_${name}`;
    const person = await storedPerson(db, `organisation_admin:${id}`, { name, email: `${name}@customer.example` });
    const data = { ...person, accountId, oidcIssuer: null, oidcSubject: null, disabledAt: null };
    await db.organisationAdmin.upsert({ where: { id }, create: { id, ...data }, update: data });
  }
  provider.claims = { sub: 'subject-1', email: 'lin@customer.example', email_verified: true };
});

const ask = (...[method, path, body]: [Parameters<ReturnType<typeof withToken>>[0], string, object?]) =>
  withToken(app, tokens.admin)(method, `/operator/v1/accounts/${path}`, body);
const set = (account: string, more: object = {}) => {
  const { clientId, clientSecret, issuer } = provider;
  const body = { issuer, client_id: clientId, client_secret: clientSecret, domain: 'customer.example', ...more };
  return ask('PUT', `${account}/issuer`, body);
};
const verified = async (account: string, more: object = {}) => {
  const { dns_record: record } = (await set(account, more)).json();
  records[record.name] = [['v=spf1'], [record.value.slice(0, 10), record.value.slice(10)]];
  const reply = await ask('POST', `${account}/issuer/verify`);
  expect(reply.json()).toMatchObject({ verified_by: 'dns' });
};

type Reply = Awaited<ReturnType<FastifyInstance['inject']>>;
const cookieOf = ({ headers }: Reply, name: string): string =>
  [headers['set-cookie']]
    .flat()
    .find((each) => each?.startsWith(`${name}=`))
    ?.split(';', 1)[0] ?? '';
const begin = (domain = 'customer.example', headers: Record<string, string> = {}) =>
  app.inject({ url: `/session/oidc?domain=${domain}`, headers });
const failedOf = ({ headers }: Reply): string | null =>
  new URL(String(headers.location), 'http://page').searchParams.get('login_failed');

/** Who is logged in then, or why nobody is. */
async function logIn(): Promise<string> {
  const begun = await begin();
  if (failedOf(begun) !== null) return String(failedOf(begun));
  const url = new URL(String(begun.headers.location));
  const back = new URL(String(url.searchParams.get('redirect_uri'))).pathname;
  const cookie = cookieOf(begun, 'gw_oidc');
  const reply = await app.inject({ url: `${back}${provider.authorize(url.href)}`, headers: { cookie } });
  if (reply.statusCode !== 200) return String(failedOf(reply));
  return whoIs(cookieOf(reply, 'gw_session'));
}
async function whoIs(cookie: string): Promise<string> {
  const { account_id, id } = (await app.inject({ url: '/session', headers: { cookie } })).json();
  return `${id} of ${account_id}`;
}

test('nobody gets in before the domain is verified, and then those whom somebody has made', async () => {
  expect((await set(own)).json()).toMatchObject({
    callback_url: `http://127.0.0.1:8081/session/oidc/callback/${own}`,
    dns_record: { name: '_gw-verification.customer.example', type: 'TXT' },
    verified_at: null,
    readable: true,
  });
  expect(await logIn()).toBe('no_provider');
  const refused = await ask('POST', `${own}/issuer/verify`);
  expect([refused.statusCode, refused.json().error.message]).toEqual([
    409,
    expect.stringMatching(/^There is no TXT record _gw-verification.customer.example yet. Set it to gw-verification=/),
  ]);
  await verified(own);
  expect(await logIn()).toBe('oadm_lin of acct_demo_audit');
  // From then on by the subject alone.
  provider.claims = { sub: 'subject-1', email: 'renamed@customer.example' };
  expect(await logIn()).toBe('oadm_lin of acct_demo_audit');
  provider.claims = { sub: 'subject-2', email: 'lin@customer.example', email_verified: true };
  expect(await logIn()).toBe('bound_otherwise');
  const actions = (await readAudit(running.context.db, own, { order: 'asc', limit: 100 })).map(({ action }) => action);
  expect(actions.slice(-5)).toEqual([
    ...['account_issuer.set', 'account_issuer.verified', 'organisation_admin.identity_bound'],
    ...['session.started', 'session.started'],
  ]);
});

test.each([
  ['an operator', 'admin@ops.example', 'wrong_domain'],
  ['an admin of another account', 'eve@customer.example', 'unknown_person'],
  ['somebody whom nobody has made', 'new@customer.example', 'unknown_person'],
])('an issuer of an account that names %s lets nobody in', async (_, email, reason) => {
  await verified(own);
  provider.claims = { sub: 'op_admin', email, email_verified: true };
  expect(await logIn()).toBe(reason);
  expect(await running.context.databases.people.session.count()).toBe(0);
});

test('an issuer of an account lets no operator in, whatever its domain is', async () => {
  const db = running.context.databases.people;
  await verified(own, { domain: 'ops.example' });
  await db.operator.update({
    where: { id: 'op_admin' },
    data: { oidcIssuer: provider.issuer, oidcSubject: 'subject-1' },
  });
  records = {};
  provider.claims = { sub: 'subject-1', email: 'admin@ops.example', email_verified: true };
  const begun = await begin('ops.example');
  const query = provider.authorize(String(begun.headers.location));
  const cookie = cookieOf(begun, 'gw_oidc');
  const reply = await app.inject({ url: `/session/oidc/callback/${own}${query}`, headers: { cookie } });
  expect(failedOf(reply)).toBe('unknown_person');
});

test('what came back at the callback of another issuer goes to nobody', async () => {
  await verified(own);
  const begun = await begin();
  const query = provider.authorize(String(begun.headers.location));
  const cookie = cookieOf(begun, 'gw_oidc');
  for (const path of ['callback', `callback/${other}`]) {
    const reply = await app.inject({ url: `/session/oidc/${path}${query}`, headers: { cookie } });
    expect(failedOf(reply)).toBe('expired');
  }
  // It was sent nowhere, so that it is still good where it belongs.
  const reply = await app.inject({ url: `/session/oidc/callback/${own}${query}`, headers: { cookie } });
  expect(await whoIs(cookieOf(reply, 'gw_session'))).toBe('oadm_lin of acct_demo_audit');
});

test('another site cannot begin such a login', async () => {
  await verified(own);
  for (const site of ['cross-site', 'same-site']) {
    const reply = await begin('customer.example', { 'sec-fetch-site': site });
    expect(reply.headers.location).toBe('/dashboard/');
  }
  const reply = await begin('customer.example', { 'sec-fetch-site': 'same-origin' });
  expect(reply.headers.location).toContain(provider.issuer);
});

test('a domain belongs to one account; an operator can vouch for it with a reason', async () => {
  await verified(own);
  await set(other);
  const verify = () => ask('POST', `${other}/issuer/verify`, { reason: 'the contract names it' });
  expect((await verify()).json().error.message).toContain('another account');
  await ask('DELETE', `${own}/issuer`);
  expect((await verify()).json()).toMatchObject({ verified_by: 'operator' });
  const [newest] = await readAudit(running.context.db, other, { order: 'desc', limit: 1 });
  expect(newest?.after).toMatchObject({ reason: 'the contract names it' });
  expect(await logIn()).toBe('unknown_person');
});

test('a login page offers it once one is verified', async () => {
  const offered = async () => /name="oidc" content="([\w ]*)"/.exec((await app.inject('/dashboard/')).body)?.[1];
  await set(own);
  expect(await offered()).toBe('operator');
  await verified(own);
  expect(await offered()).toBe('operator organisation_admin');
});

test('who changes whose word counts unbinds its people and ends their sessions; a new secret changes nothing', async () => {
  const db = running.context.databases.people;
  const bound = async () => (await db.organisationAdmin.findUnique({ where: { id: 'oadm_lin' } }))?.oidcSubject;
  await verified(own);
  await logIn();
  await set(own);
  expect([await bound(), await db.session.count()]).toEqual(['subject-1', 1]);
  await set(own, { claim: 'sub' });
  expect([await bound(), await db.session.count()]).toEqual([null, 0]);
  expect(await logIn()).toBe('unknown_person');
  const bind = await ask('POST', `${own}/admins/oadm_lin/bind-identity`, { subject: 'subject-1' });
  expect(bind.json()).toMatchObject({ logins: ['oidc'] });
  expect(await logIn()).toBe('oadm_lin of acct_demo_audit');
  await ask('POST', `${own}/admins/oadm_lin/unbind-identity`);
  expect(await db.session.count()).toBe(0);
  await ask('POST', `${own}/admins/oadm_lin/bind-identity`, { subject: 'subject-1' });
  await logIn();
  await ask('DELETE', `${own}/issuer`);
  expect([await bound(), await db.session.count()]).toEqual([null, 0]);
});

test('the secret is encrypted, for its account and issuer alone, and again with the next key', async () => {
  const db = running.context.databases.people;
  const reply = await set(own);
  expect(reply.body).not.toContain(provider.clientSecret);
  const row = await db.accountIssuer.findUniqueOrThrow({ where: { accountId: own } });
  expect(Buffer.from(row.sealed).toString('latin1')).not.toContain(provider.clientSecret);
  const readable = async () => (await ask('GET', `${own}/issuer`)).json().readable;
  await db.accountIssuer.update({ where: { accountId: own }, data: { issuer: 'https://evil.example' } });
  expect(await readable()).toBe(false);
  await db.accountIssuer.update({ where: { accountId: own }, data: { issuer: row.issuer } });
  expect(await readable()).toBe(true);
  await sealIssuersAgain(db, createVault([Buffer.alloc(32, 2), key]));
  expect(await readable()).toBe(false);
});

test.each([
  [{ issuer: 'https://login.microsoftonline.com/common/v2.0' }, 'issuer', 'every tenant of Entra ID'],
  [{ issuer: 'http://login.example' }, 'issuer', 'https'],
  [{ issuer: 'https://169.254.169.254' }, 'issuer', 'not allowed'],
  [{ domain: 'localhost' }, 'domain', 'must be a domain'],
  [{ domain: '*.example.com' }, 'domain', 'must be a domain'],
  [{ claim: 'upn' }, 'claim', ''],
])('an issuer with %j is refused by its field', async (more, param, message) => {
  const { error } = (await set(own, more)).json();
  expect(error).toMatchObject({ param, message: expect.stringContaining(message) });
});

test('only admins of the platform change it, and only of an account that exists', async () => {
  const body = { issuer: 'https://x.example', client_id: 'a', client_secret: 'b', domain: 'x.example' };
  const support = withToken(app, tokens.support);
  expect((await support('PUT', `/operator/v1/accounts/${own}/issuer`, body)).statusCode).toBe(403);
  expect((await ask('GET', `${own}/issuer`)).json().error.code).toBe('invalid_account_issuer');
  expect((await ask('PUT', 'acct_nobody/issuer', body)).statusCode).toBe(404);
});
