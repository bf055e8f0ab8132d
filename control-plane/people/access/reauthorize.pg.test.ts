/** Somebody who loses the right while a change waits cannot make it any more. */
import type { Queryable } from '@gw/prisma/client';
import { Browser, type Method, seedOperators, withToken } from '@gw/testing/control-plane/access';
import { startTestApp, type TestApp, testCost } from '@gw/testing/control-plane/app';
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest';
import { openCredentials } from './credential.ts';

const operators = '/operator/v1/operators';
const admins = '/operator/v1/accounts/acct_demo_audit/admins';
const clock = new Date('2026-11-21T09:00:00.000Z');
const credential = 'the credential of the viewer';
let running: TestApp;
let tokens: Awaited<ReturnType<typeof seedOperators>>;

beforeAll(async () => {
  running = await startTestApp(() => clock);
}, 120_000);
afterAll(() => running?.stop());
beforeEach(async () => {
  const { db } = running.context;
  await db.session.deleteMany();
  await db.operatorToken.deleteMany();
  await db.operator.deleteMany();
  await db.organisationAdmin.deleteMany();
  tokens = await seedOperators(running.context);
  await db.account.update({ where: { id: 'acct_demo_audit' }, data: { state: 'suspended' } });
  const credentialHash = await openCredentials(testCost).hash(credential);
  await db.operator.updateMany({ data: { credentialHash } });
  await db.organisationAdmin.create({
    data: { id: 'oadm_1', accountId: 'acct_demo_audit', name: 'Bo', email: 'bo@a.example', disabledAt: clock },
  });
});

/** Begins to end the right, and only when `asked` waits for it, ends it. */
async function whileWaiting<T>(end: (tx: Queryable) => Promise<unknown>, asked: () => Promise<T>): Promise<T> {
  const waiting = await running.context.db.$transaction(async (tx) => {
    await end(tx);
    const reply = asked();
    await expect
      .poll(
        () => running.context.db.$queryRaw<unknown[]>`
          SELECT 1 FROM pg_stat_activity WHERE datname = current_database() AND wait_event_type = 'Lock'`,
      )
      .toHaveLength(1);
    return { reply };
  });
  return waiting.reply;
}

const reset = (id: string) => async (tx: Queryable) => {
  await tx.$executeRaw`UPDATE operators SET credential_hash = NULL WHERE id = ${id}`;
  await tx.$executeRaw`DELETE FROM operator_tokens WHERE operator_id = ${id}`;
  await tx.$executeRaw`DELETE FROM sessions WHERE subject_id = ${id}`;
};
const disable = (id: string) => (tx: Queryable) =>
  tx.$executeRaw`UPDATE operators SET disabled_at = ${clock} WHERE id = ${id}`;
const demote = (id: string) => (tx: Queryable) =>
  tx.$executeRaw`UPDATE operators SET role = 'support' WHERE id = ${id}`;
const revoke = (id: string) => (tx: Queryable) => tx.$executeRaw`DELETE FROM operator_tokens WHERE id = ${id}`;
const logOut = (id: string) => (tx: Queryable) => tx.$executeRaw`DELETE FROM sessions WHERE subject_id = ${id}`;

const ownTokens = `${operators}/op_viewer/tokens`;
test.each([
  ['the credential is reset', 'token', reset('op_viewer')],
  ['the credential is reset', 'session', reset('op_viewer')],
  ['the operator is disabled', 'token', disable('op_viewer')],
  ['that token is revoked', 'token', revoke('optk_viewer')],
  ['that session is ended', 'session', logOut('op_viewer')],
] as const)('no token is made when %s while it is asked for with a %s', async (_, by, end) => {
  const { db } = running.context;
  const browser = new Browser(running.operator);
  expect((await browser.logIn('viewer@ops.example', credential)).statusCode).toBe(200);
  const ask = {
    token: () => withToken(running.operator, tokens.viewer)('POST', ownTokens, { name: 'heir' }),
    session: () => browser.call('POST', ownTokens, { name: 'heir' }),
  }[by];
  const reply = await whileWaiting(end, ask);
  expect([reply.statusCode, reply.json().error.code]).toEqual([401, 'invalid_session']);
  expect(await db.operatorToken.count({ where: { name: 'heir' } })).toBe(0);
});

test('a session makes a token that stays when the session ends later', async () => {
  const browser = new Browser(running.operator);
  await browser.logIn('viewer@ops.example', credential);
  const made = await browser.call('POST', ownTokens, { name: 'script' });
  expect(made.statusCode).toBe(200);
  await browser.call('DELETE', '/session');
  expect((await withToken(running.operator, made.json().token)('GET', '/session')).statusCode).toBe(200);
});

const changes: readonly [Method, string, object | undefined][] = [
  ['POST', operators, { name: 'Eve', email: 'eve@ops.example', role: 'admin' }],
  ['PATCH', `${operators}/op_viewer`, { role: 'admin' }],
  ['POST', `${operators}/op_viewer/disable`, undefined],
  ['POST', `${operators}/op_viewer/reset-credential`, undefined],
  ['DELETE', `${operators}/op_viewer/tokens/optk_viewer`, undefined],
  ['POST', admins, { name: 'Eve', email: 'eve@a.example' }],
  ['POST', `${admins}/oadm_1/enable`, undefined],
  ['POST', `${admins}/oadm_1/reset-credential`, undefined],
  ['POST', '/operator/v1/accounts/acct_demo_audit/reinstate', { reason: 'x' }],
  ['PATCH', '/operator/v1/accounts/acct_demo_audit', { models: ['sim-small'] }],
  ['POST', '/operator/v1/regions', { code: 'no-1', name: 'Oslo', country: 'NO', grid_zone: 'NO-NO1', preference: 9 }],
  ['PATCH', '/operator/v1/regions/eu-north-1', { status: 'decommissioned' }],
  ['DELETE', '/operator/v1/models/sim-small', undefined],
];
const people = async () => {
  const { db } = running.context;
  const of = { orderBy: { id: 'asc' } } as const;
  const others = { ...of, where: { id: { not: 'op_admin' } } };
  return [
    await db.operator.findMany(others),
    await db.operatorToken.findMany(of),
    await db.organisationAdmin.findMany(of),
    await db.account.findMany(of),
    await db.region.findMany({ orderBy: { code: 'asc' } }),
    await db.model.findMany(of),
  ];
};
for (const [what, end, status] of [
  ['disabled', disable('op_admin'), 401],
  ['demoted', demote('op_admin'), 403],
] as const)
  test.each(changes)(
    `an admin who is ${what} while a change waits does not make it: %s %s`,
    async (method, url, body) => {
      const before = await people();
      const ask = () => withToken(running.operator, tokens.admin)(method, url, body);
      expect((await whileWaiting(end, ask)).statusCode).toBe(status);
      expect(await people()).toEqual(before);
    },
  );

test('of many credentials that are asked for at once 16 are made, and a login that is known is heard in between', async () => {
  const browser = new Browser(running.operator);
  await browser.logIn('viewer@ops.example', credential);
  let made = 0;
  const ask = withToken(running.operator, tokens.admin);
  const asked = Array.from({ length: 40 }, async () => {
    const reply = await ask('POST', `${operators}/op_support/reset-credential`);
    if (reply.statusCode === 200) made += 1;
    return [reply.statusCode, reply.headers['retry-after']];
  });
  const madeBefore = browser.logIn('viewer@ops.example', credential).then((reply) => [reply.statusCode, made]);
  const [status, before] = await madeBefore;
  expect(status).toBe(200);
  expect(before).toBeLessThan(16);
  const replies = await Promise.all(asked);
  expect(replies.filter(([code]) => code === 200)).toHaveLength(16);
  expect(replies.filter(([code]) => code !== 200)).toEqual(Array(24).fill([429, '1']));
}, 30_000);
