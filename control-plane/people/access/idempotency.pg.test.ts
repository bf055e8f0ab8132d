/** Changes of operators and of admins of organisations that are sent again with their idempotency key. */

import { randomUUID } from 'node:crypto';
import { setTimeout } from 'node:timers/promises';
import { hourMs } from '@gw/contract/internal/durations';
import { type Method, seedOperators } from '@gw/testing/control-plane/access';
import { startTestApp, type TestApp } from '@gw/testing/control-plane/app';
import { codeOf, type Reply, reexecuted, replayed, shown } from '@gw/testing/control-plane/idempotency';
import { afterAll, beforeAll, beforeEach, expect, test, vi } from 'vitest';
import { emailDigestOf } from './hidden-person.ts';
import { hashToken, makeOperatorToken } from './token-hash.ts';

let running: TestApp;
let tokens: Awaited<ReturnType<typeof seedOperators>>;
beforeAll(async () => {
  running = await startTestApp();
}, 120_000);
afterAll(() => running?.stop());
beforeEach(async () => {
  const { db } = running.context;
  await db.operatorToken.deleteMany();
  await db.operator.deleteMany();
  tokens = await seedOperators(running.context);
});

type Change = readonly [method: Method, url: string, body?: object];
const ask = (headers: Record<string, string>, key: string, [method, url, payload]: Change): Promise<Reply> =>
  running.operator.inject({
    method,
    url,
    headers: { ...headers, 'idempotency-key': key },
    ...(payload && { payload }),
  });
const by = (token: string) => ({ authorization: `Bearer ${token}` });
const as = (role: keyof typeof tokens, key: string, ...change: Change) => ask(by(tokens[role]), key, change);

async function sessionOf(kind: 'operator' | 'organisation_admin', id: string) {
  const token = randomUUID().padEnd(43, 'x');
  const at = new Date();
  const times = { createdAt: at, lastSeenAt: at, expiresAt: new Date(at.getTime() + hourMs) };
  await running.context.db.session.create({
    data: { tokenHash: hashToken(token), subjectKind: kind, subjectId: id, ...times },
  });
  return { cookie: `gw_session=${token}`, 'x-gw-csrf': '1' };
}

const newPerson = () => ({ name: 'Ada', email: `${randomUUID()}@ops.example`, role: 'viewer' });
const operators = '/operator/v1/operators';

/** Sent twice: one change, and the same reply. */
async function once(change: Change, role: keyof typeof tokens = 'admin') {
  const key = randomUUID();
  const first = await as(role, key, ...change);
  expect([first.statusCode, replayed(first)], first.body).toEqual([200, undefined]);
  const again = await as(role, key, ...change);
  expect([...shown(again), replayed(again)]).toEqual([...shown(first), 'true']);
  expect(again.headers['x-request-id']).not.toBe(first.headers['x-request-id']);
  return first.json();
}

test('what operators add, change and remove is done once, and confirmed as it was', async () => {
  const { db } = running.context;
  const person = newPerson();
  const made = await once(['POST', operators, person]);
  expect(made.credential).toBeDefined();
  expect(await db.operator.count({ where: { emailDigest: await emailDigestOf(db, person.email) } })).toBe(1);
  await once(['PATCH', `${operators}/${made.id}`, { role: 'support' }]);
  await once(['POST', `${operators}/op_admin/tokens`, { name: 'nightly' }]);
  expect(await db.operatorToken.count({ where: { operatorId: 'op_admin' } })).toBe(2);
  const id = `acme/${randomUUID()}`;
  await once(['POST', '/operator/v1/models', { id, owned_by: 'acme', kind: 'chat' }]);
  // Without its key a second removal finds nothing.
  const removal = ['DELETE', `/operator/v1/models/${id}`] as const;
  await once(removal);
  expect((await as('admin', randomUUID(), ...removal)).statusCode).toBe(404);
  await once(['PUT', '/operator/v1/credentials/ONCE', { value: 'sk', base_url: 'https://llm.acme.example' }]);
});

test('an id that is written in another way is the same, and another query is another request', async () => {
  const id = `acme/${randomUUID()}`;
  await as('admin', randomUUID(), 'POST', '/operator/v1/models', { id, owned_by: 'acme', kind: 'chat' });
  const key = randomUUID();
  expect((await as('admin', key, 'DELETE', `/operator/v1/models/${id}`)).statusCode).toBe(200);
  expect(replayed(await as('admin', key, 'DELETE', `/operator/v1/models/${encodeURIComponent(id)}`))).toBe('true');
  const catalogue = await running.operator.inject({ url: '/operator/v1/catalogue', headers: by(tokens.admin) });
  const path = '/operator/v1/catalogue?dry_run';
  const document = catalogue.json();
  const dry = randomUUID();
  expect((await as('admin', dry, 'PUT', `${path}=true`, document)).statusCode).toBe(200);
  const other = await as('admin', dry, 'PUT', `${path}=false`, document);
  expect(codeOf(other)).toEqual([400, 'idempotency_key_reused', 'Idempotency-Key']);
});

test('everybody has keys of their own: those of others are neither seen nor in the way', async () => {
  await running.context.db.operator.update({ where: { id: 'op_support' }, data: { role: 'admin' } });
  const key = randomUUID();
  const [one, two] = [newPerson(), newPerson()];
  const first = await as('admin', key, 'POST', operators, one);
  const second = await as('support', key, 'POST', operators, two);
  expect([first, second].map((reply) => [reply.statusCode, replayed(reply)])).toEqual([
    [200, undefined],
    [200, undefined],
  ]);
});

test('whoever may no longer do it gets no reply of before', async () => {
  const { db } = running.context;
  const set = (data: object) => db.operator.update({ where: { id: 'op_admin' }, data });
  const key = randomUUID();
  const change: Change = ['POST', operators, newPerson()];
  const first = await as('admin', key, ...change);
  // Each may look after tokens of their own, and only an admin after those of others.
  const others: Change = ['DELETE', `${operators}/op_viewer/tokens/optk_viewer`];
  const ended = await as('admin', key, ...others);
  await set({ role: 'support' });
  for (const [reply, wanted] of [
    [first, change],
    [ended, others],
  ] as const) {
    expect(reply.statusCode).toBe(200);
    expect(codeOf(await as('admin', key, ...wanted))).toEqual([403, 'insufficient_scope', null]);
  }
  await set({ role: 'admin', disabledAt: new Date() });
  expect(codeOf(await as('admin', key, ...change))).toEqual([401, 'invalid_session', null]);
  await set({ disabledAt: null });
  expect(shown(await as('admin', key, ...change))).toEqual(shown(first));
});

test('one whose session ends while it waits for the first gets no reply', async () => {
  const { db } = running.context;
  const id = `acct_${randomUUID()}`;
  await db.account.create({ data: { id, name: 'Test', tier: 'audit_plus' } });
  const [session, ending] = [await sessionOf('operator', 'op_admin'), await sessionOf('operator', 'op_admin')];
  const key = randomUUID();
  const change: Change = ['POST', `/operator/v1/accounts/${id}/keys`, { name: 'k' }];
  const { first, second } = await db.$transaction(async (tx) => {
    await tx.$queryRaw`SELECT 1 FROM accounts WHERE id = ${id} FOR UPDATE`;
    const first = ask(session, key, change);
    // Not in this transaction: what it has seen of others once stays as it was until its end.
    await vi.waitFor(async () =>
      expect(
        await db.$queryRaw<unknown[]>`
        SELECT 1 FROM pg_stat_activity WHERE datname = current_database() AND wait_event_type = 'Lock'`,
      ).not.toEqual([]),
    );
    const second = ask(ending, key, change);
    // It has been let in, and waits.
    await setTimeout(300);
    const token = ending.cookie.replace('gw_session=', '');
    await db.session.delete({ where: { tokenHash: hashToken(token) } });
    return { first, second };
  });
  expect((await first).statusCode).toBe(200);
  expect(codeOf(await second)).toEqual([401, 'invalid_session', null]);
});

test('a token is not shown what was made in another way: it could outlive what it was made with', async () => {
  const { db } = running.context;
  const session = await sessionOf('operator', 'op_admin');
  const key = randomUUID();
  const change: Change = ['POST', `${operators}/op_admin/tokens`, { name: 'nightly' }];
  const first = await ask(session, key, change);
  const refused = await as('admin', key, ...change);
  expect([...codeOf(refused), refused.body.includes('gwop_')]).toEqual([403, 'insufficient_scope', null, false]);
  expect(shown(await ask(await sessionOf('operator', 'op_admin'), key, change))).toEqual(shown(first));

  const further = makeOperatorToken();
  const data = { id: 'optk_further', operatorId: 'op_admin', name: 'further', createdAt: new Date(0) };
  await db.operatorToken.create({ data: { ...data, tokenHash: hashToken(further) } });
  const person: Change = ['POST', operators, newPerson()];
  const made = await as('admin', key, ...person);
  expect(codeOf(await ask(by(further), key, person))).toEqual([403, 'insufficient_scope', null]);
  expect(shown(await ask(session, key, person))).toEqual(shown(made));
});

test('the admin of an organisation gets the keys that they made, and those of another account are not theirs', async () => {
  const { db } = running.context;
  const admins = await Promise.all(
    [1, 2].map(async () => {
      const account = `acct_${randomUUID()}`;
      await db.account.create({ data: { id: account, name: 'Test', tier: 'audit_plus' } });
      const id = `orgadm_${account}`;
      await db.organisationAdmin.create({ data: { id, accountId: account, name: 'Grace', email: `${id}@c.example` } });
      return { account, id, session: await sessionOf('organisation_admin', id) };
    }),
  );
  const [one, two] = admins;
  if (!one || !two) throw new Error('There are two.');
  const key = randomUUID();
  const change: Change = ['POST', '/organisation/v1/keys', { name: 'k' }];
  const first = await ask(one.session, key, change);
  expect(shown(await ask(one.session, key, change))).toEqual(shown(first));
  const other = await ask(two.session, key, change);
  expect([other.statusCode, replayed(other)]).toEqual([200, undefined]);
  for (const { account } of admins) expect(await db.apiKey.count({ where: { accountId: account } })).toBe(1);
  await db.organisationAdmin.update({ where: { id: one.id }, data: { disabledAt: new Date() } });
  expect(codeOf(await ask(one.session, key, change))).toEqual([401, 'invalid_session', null]);
});

test('strangers claim nothing, and a request that may not be made leaves the key free', async () => {
  const key = randomUUID();
  const change: Change = ['POST', operators, newPerson()];
  expect((await ask({}, key, change)).statusCode).toBe(401);
  expect((await as('viewer', key, ...change)).statusCode).toBe(403);
  expect(await running.context.redis.keys('gw:idempotency:*viewer*')).toEqual([]);
  const done = await as('admin', key, ...change);
  expect([done.statusCode, replayed(done), reexecuted(done)]).toEqual([200, undefined, undefined]);
});

test('logins and logouts take no key, and reads do not look at it', async () => {
  const session = await sessionOf('operator', 'op_admin');
  for (const [method, url] of [
    ['POST', '/session'],
    ['DELETE', '/session'],
    ['PUT', '/session/credential'],
  ] as const) {
    const change: Change = method === 'DELETE' ? [method, url] : [method, url, {}];
    expect(codeOf(await ask(session, randomUUID(), change))).toEqual([
      ...[400, 'invalid_idempotency_key', 'Idempotency-Key'],
    ]);
  }
  const read = await ask(session, 'two words', ['GET', operators]);
  expect([read.statusCode, replayed(read)]).toEqual([200, undefined]);
});
