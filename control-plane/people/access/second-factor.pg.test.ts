import { Browser, seedOperators, withToken } from '@gw/testing/control-plane/access';
import { startTestApp, type TestApp } from '@gw/testing/control-plane/app';
import type { FastifyInstance } from 'fastify';
import { type TOTP, URI } from 'otpauth';
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest';
import { buildOperatorApp } from '../../operator-app.ts';
import { createVault, type Vault } from '../../shared/vault.ts';
import { readAudit } from '../audit/read.ts';
import { openAccess } from './services.ts';

const credential = 'a credential of the tests';
const email = 'viewer@ops.example';
const path = '/session/second-factor';
let running: TestApp;
let app: FastifyInstance;
let tokens: Awaited<ReturnType<typeof seedOperators>>;
let clock = new Date('2026-11-21T09:00:00.000Z');
let credentialHash: string;
let address = 0;

const wait = (s: number): void => {
  clock = new Date(clock.getTime() + s * 1000);
};
const browser = (of = app) => {
  address += 1;
  return new Browser(of, `198.51.100.${address}`);
};
const codeOf = (totp: TOTP, afterS = 0): string => totp.generate({ timestamp: clock.getTime() + afterS * 1000 });
const logIn = (who: Browser, more: object = {}) => who.call('POST', '/session', { email, credential, ...more });
const codesOf = ({ statusCode, json }: Awaited<ReturnType<typeof logIn>>): unknown[] => [
  statusCode,
  json().error?.code,
];
/** The control plane as another key of the vault makes it. */
const appWith = (vault: Vault | null): FastifyInstance => {
  const access = openAccess(running.context, running.services.people.access.settings, vault);
  return buildOperatorApp(running.context, { ...running.services, people: { ...running.services.people, access } });
};

/** Logs in and sets a second factor; its first code is taken with it. */
async function setFactor(of = app): Promise<TOTP> {
  const here = browser(of);
  expect((await logIn(here)).statusCode).toBe(200);
  const made = (await here.call('POST', path, { credential })).json();
  const totp = URI.parse(made.uri) as TOTP;
  expect((await here.call('PUT', path, { code: codeOf(totp) })).statusCode).toBe(204);
  wait(30);
  return totp;
}

beforeAll(async () => {
  running = await startTestApp(() => clock);
  app = running.operator;
  tokens = await seedOperators(running.context);
  credentialHash = await running.services.people.access.credentials.hash(credential);
}, 120_000);
afterAll(() => running?.stop());
beforeEach(async () => {
  const { db, redis } = running.context;
  await db.session.deleteMany();
  await db.secondFactor.deleteMany();
  await db.operator.updateMany({ data: { credentialHash, disabledAt: null } });
  await redis.flushall();
});

test('a second factor counts once its person has shown a code of it, and ends all sessions', async () => {
  const here = browser();
  await logIn(here);
  expect((await here.call('GET', path)).json()).toEqual({ object: 'second_factor', set_at: null, can_be_set: true });
  const made = (await here.call('POST', path, { credential })).json();
  const totp = URI.parse(made.uri) as TOTP;
  expect([totp.issuer, totp.label, totp.digits, totp.period]).toEqual(['127.0.0.1', email, 6, 30]);
  expect(made.secret).toBe(totp.secret.base32);
  // Not shown, it is not asked for.
  expect((await logIn(browser())).statusCode).toBe(200);
  expect(codesOf(await here.call('PUT', path, { code: codeOf(totp, 600) }))).toEqual([401, 'invalid_second_factor']);
  expect((await here.call('PUT', path, { code: codeOf(totp) })).statusCode).toBe(204);
  expect(await running.context.db.session.count()).toBe(0);
  wait(30);
  expect(codesOf(await logIn(here))).toEqual([401, 'second_factor_needed']);
  expect((await logIn(here, { code: codeOf(totp) })).statusCode).toBe(200);
  expect((await here.call('GET', path)).json()).toMatchObject({ set_at: '2026-11-21T09:00:00.000Z' });
  const { sealed } = await running.context.db.secondFactor.findFirstOrThrow();
  const log = JSON.stringify(await readAudit(running.context.db, 'operators', { order: 'asc', limit: 1000 }));
  for (const secret of [made.secret, totp.secret.hex]) expect(log).not.toContain(secret);
  expect(Buffer.from(sealed).includes(made.secret)).toBe(false);
  expect(log).toContain('operator.second_factor_set');
});

test('only whoever has the credential learns that a code is needed', async () => {
  await setFactor();
  const wrong = await logIn(browser(), { credential: 'a guess' });
  const withCode = await logIn(browser(), { credential: 'a guess', code: '123456' });
  expect([codesOf(wrong), codesOf(withCode)]).toEqual([
    [401, 'invalid_login'],
    [401, 'invalid_login'],
  ]);
});

test.each([
  ['one step late', -30, 200],
  ['one step early', 30, 200],
  ['two steps late', -60, 401],
  ['two steps early', 60, 401],
])('a code that comes %s', async (_, afterS, status) => {
  const totp = await setFactor();
  wait(90);
  expect((await logIn(browser(), { code: codeOf(totp, afterS) })).statusCode).toBe(status);
});

test('a code is taken once, also by two logins at the same moment, and no earlier one after it', async () => {
  const totp = await setFactor();
  const code = codeOf(totp);
  const replies = await Promise.all([browser(), browser(), browser()].map((each) => logIn(each, { code })));
  expect(replies.map(({ statusCode }) => statusCode).sort()).toEqual([200, 401, 401]);
  wait(90);
  expect((await logIn(browser(), { code: codeOf(totp) })).statusCode).toBe(200);
  expect(codesOf(await logIn(browser(), { code: codeOf(totp, -30) }))).toEqual([401, 'invalid_second_factor']);
});

test('guessing at codes is slowed down as guessing at credentials is, and being asked for one is no failure', async () => {
  await setFactor();
  const here = browser();
  for (let i = 0; i < 8; i += 1) expect(codesOf(await logIn(here))).toEqual([401, 'second_factor_needed']);
  const replies = [];
  for (let i = 0; i < 8; i += 1) replies.push(codesOf(await logIn(here, { code: '000000' })));
  expect(replies.at(0)).toEqual([401, 'invalid_second_factor']);
  expect(replies.at(-1)).toEqual([429, 'too_many_logins']);
});

test('changing the credential and removing the second factor need a code', async () => {
  const totp = await setFactor();
  const here = browser();
  await logIn(here, { code: codeOf(totp) });
  const next = 'another credential';
  expect(codesOf(await here.call('PUT', '/session/credential', { current: credential, next }))).toEqual([
    401,
    'second_factor_needed',
  ]);
  expect(codesOf(await here.call('POST', path, { credential }))).toEqual([409, 'invalid_transition']);
  const remove = (code: string) => here.call('POST', `${path}/remove`, { credential, code });
  expect(codesOf(await remove('000000'))).toEqual([401, 'invalid_second_factor']);
  wait(30);
  expect((await remove(codeOf(totp))).statusCode).toBe(204);
  expect((await logIn(browser())).statusCode).toBe(200);
  expect((await here.call('PUT', '/session/credential', { current: credential, next })).statusCode).toBe(204);
});

test('a second one cannot take the place of the first, nor one that was never made be set', async () => {
  const here = browser();
  await logIn(here);
  expect(codesOf(await here.call('PUT', path, { code: '123456' }))).toEqual([409, 'invalid_transition']);
  const [first, second] = await Promise.all(
    [1, 2].map(async () => (await here.call('POST', path, { credential })).json()),
  );
  const codes = [first, second].map(({ uri }) => codeOf(URI.parse(uri) as TOTP));
  const replies = [];
  for (const code of codes) replies.push((await here.call('PUT', path, { code })).statusCode);
  // The one that was made last counts; with it the session ends.
  expect(replies).toContain(204);
  expect(await running.context.db.secondFactor.count()).toBe(1);
});

test('an admin sees who has one, and a reset of the credential removes it, for operators and for people of a customer', async () => {
  await setFactor();
  const admin = withToken(app, tokens.admin);
  const factors = (await admin('GET', '/operator/v1/operators')).json().data;
  expect(factors.filter((each: { second_factor: boolean }) => each.second_factor)).toMatchObject([{ id: 'op_viewer' }]);
  const made = (await admin('POST', '/operator/v1/operators/op_viewer/reset-credential')).json();
  expect((await logIn(browser(), { credential: made.credential })).statusCode).toBe(200);
  const [newest] = (await readAudit(running.context.db, 'operators', { order: 'desc', limit: 2 })).slice(1);
  expect(newest).toMatchObject({ action: 'operator.credential_reset', after: { second_factor_removed: true } });

  const people = '/operator/v1/accounts/acct_demo_audit/admins';
  const bo = (await admin('POST', people, { name: 'Bo', email: 'bo@demo.example' })).json();
  const who = { email: bo.email, as: 'organisation_admin' };
  const there = browser();
  await logIn(there, { ...who, credential: bo.credential });
  const totp = URI.parse((await there.call('POST', path, { credential: bo.credential })).json().uri) as TOTP;
  await there.call('PUT', path, { code: codeOf(totp) });
  expect(codesOf(await logIn(there, { ...who, credential: bo.credential }))).toEqual([401, 'second_factor_needed']);
  const listed = async (list: string) =>
    (await admin('GET', list)).json().data.filter((each: { second_factor: boolean }) => each.second_factor);
  expect([await listed(people), await listed('/operator/v1/operators')]).toMatchObject([[{ id: bo.id }], []]);
  const reset = (await admin('POST', `${people}/${bo.id}/reset-credential`)).json();
  expect((await logIn(there, { ...who, credential: reset.credential })).statusCode).toBe(200);
});

test('without the key nothing can be set, and whoever has one is kept out, not let in without a code', async () => {
  const totp = await setFactor();
  const without = appWith(null);
  const other = appWith(createVault([Buffer.alloc(32, 1)]));
  for (const each of [without, other]) {
    expect(codesOf(await logIn(browser(each)))).toEqual([401, 'second_factor_needed']);
    const reply = await logIn(browser(each), { code: codeOf(totp) });
    expect(codesOf(reply)).toEqual([401, 'invalid_second_factor']);
    expect(reply.json().error.message).toContain('GW_CREDENTIALS_KEY');
  }
  await running.context.db.secondFactor.deleteMany();
  const here = browser(without);
  await logIn(here);
  expect((await here.call('GET', path)).json()).toMatchObject({ can_be_set: false });
  expect(codesOf(await here.call('POST', path, { credential }))).toEqual([409, 'invalid_transition']);
  await Promise.all([without.close(), other.close()]);
});

test('what the key before has sealed is sealed again, so that it can be taken away', async () => {
  const [old, next] = [Buffer.alloc(32, 2), Buffer.alloc(32, 3)];
  const before = appWith(createVault([old]));
  const totp = await setFactor(before);
  const both = openAccess(running.context, running.services.people.access.settings, createVault([next, old]));
  await both.secondFactors.sealAgain(running.context.db);
  const after = appWith(createVault([next]));
  expect((await logIn(browser(after), { code: codeOf(totp) })).statusCode).toBe(200);
  await Promise.all([before.close(), after.close()]);
});

test('a secret that is copied to another person opens nothing', async () => {
  const totp = await setFactor();
  const { db } = running.context;
  const row = await db.secondFactor.findFirstOrThrow();
  await db.secondFactor.create({ data: { ...row, sealed: new Uint8Array(row.sealed), subjectId: 'op_admin' } });
  const reply = await logIn(browser(), { email: 'admin@ops.example', code: codeOf(totp) });
  expect(codesOf(reply)).toEqual([401, 'invalid_second_factor']);
});

/** Wrong codes, each from an address of its own and when it is heard. */
async function guess(times: number, everyS: number): Promise<void> {
  for (let i = 0; i < times; i += 1) {
    wait(everyS);
    expect(codesOf(await logIn(browser(), { code: '000000' }))).toEqual([401, 'invalid_second_factor']);
  }
}

test('whoever has the credential has ten wrong codes, then one each 15 minutes, and after a hundred none', async () => {
  const totp = await setFactor();
  await guess(10, 31);
  wait(60);
  const early = await logIn(browser(), { code: codeOf(totp) });
  expect(codesOf(early)).toEqual([429, 'too_many_logins']);
  expect(Number(early.headers['retry-after'])).toBe(840);
  wait(840);
  expect((await logIn(browser(), { code: codeOf(totp) })).statusCode).toBe(200);
  // A right one begins anew.
  await guess(10, 31);
  await guess(90, 901);
  wait(901);
  const locked = await logIn(browser(), { code: codeOf(totp) });
  expect(codesOf(locked)).toEqual([401, 'invalid_second_factor']);
  expect(locked.json().error.message).toContain('Too many codes were wrong');
}, 60_000);

test('the audit log tells when a credential was right and its code was not', async () => {
  await setFactor();
  const { failedLogins } = running.services.people.access;
  await failedLogins.write(true);
  const last = async () => (await readAudit(running.context.db, 'operators', { order: 'desc', limit: 1 }))[0];
  await logIn(browser());
  await logIn(browser(), { code: '000000' });
  await failedLogins.write(true);
  expect(await last()).toMatchObject({
    action: 'login.second_factor_missed',
    target: 'operator:op_viewer',
    after: { failures: 2 },
  });
});

test('an admin cannot get rid of the own second factor by resetting the own credential', async () => {
  const here = browser();
  const who = { email: 'admin@ops.example' };
  await logIn(here, who);
  const totp = URI.parse((await here.call('POST', path, { credential })).json().uri) as TOTP;
  await here.call('PUT', path, { code: codeOf(totp) });
  wait(30);
  await logIn(here, { ...who, code: codeOf(totp) });
  const reset = '/operator/v1/operators/op_admin/reset-credential';
  for (const asked of [here.call('POST', reset), withToken(app, tokens.admin)('POST', reset)])
    expect(codesOf(await asked)).toEqual([409, 'invalid_transition']);
  expect(codesOf(await logIn(browser(), who))).toEqual([401, 'second_factor_needed']);
});

test('two who confirm at the same moment do not wait for each other', async () => {
  const [one, two] = [browser(), browser()];
  for (const each of [one, two]) await logIn(each);
  const totp = URI.parse((await one.call('POST', path, { credential })).json().uri) as TOTP;
  const code = codeOf(totp);
  const replies = await Promise.all([one, two, one, two].map((each) => each.call('PUT', path, { code })));
  const statuses = replies.map(({ statusCode }) => statusCode);
  expect(statuses.filter((status) => status === 204)).toHaveLength(1);
  expect(statuses.every((status) => status < 500)).toBe(true);
});

test('a secret that nobody confirms can be confirmed no more after a while, nor by guessing', async () => {
  const here = browser();
  await logIn(here);
  const make = async () => URI.parse((await here.call('POST', path, { credential })).json().uri) as TOTP;
  const old = await make();
  wait(15 * 60 + 1);
  expect(codesOf(await here.call('PUT', path, { code: codeOf(old) }))).toEqual([409, 'invalid_transition']);
  const totp = await make();
  for (let i = 0; i < 10; i += 1) await here.call('PUT', path, { code: '000000' });
  expect(codesOf(await here.call('PUT', path, { code: codeOf(totp) }))).toEqual([429, 'too_many_logins']);
});

test('who has no credential is offered none', async () => {
  const here = browser();
  await logIn(here);
  await running.context.db.operator.update({ where: { id: 'op_viewer' }, data: { credentialHash: null } });
  expect((await here.call('GET', path)).json()).toMatchObject({ can_be_set: false });
});
