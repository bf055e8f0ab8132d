/** A key that is revoked, expired or weaker after its request was let in loses the right to what it asked for. */
import type { Scope } from '@gw/contract/access';
import { keySchema } from '@gw/contract/keys';
import { seedOperators, withToken } from '@gw/testing/control-plane/access';
import { openAccounts } from '@gw/testing/control-plane/account';
import { startTestApp, type TestApp } from '@gw/testing/control-plane/app';
import { afterAll, beforeAll, expect, test } from 'vitest';

const nowMs = Date.parse('2026-11-21T09:00:00.000Z');
let running: TestApp;
let newAccount: ReturnType<typeof openAccounts>;
beforeAll(async () => {
  running = await startTestApp(() => new Date(nowMs));
  newAccount = openAccounts(running);
});
afterAll(() => running.stop());

/** Who waits for a lock in this database. */
const waiters = () => running.stores.db.$queryRaw<unknown[]>`
  SELECT 1 FROM pg_stat_activity WHERE datname = current_database() AND wait_event_type = 'Lock'`;

type Account = Awaited<ReturnType<typeof newAccount>>;

/** One that is there and one that is revoked, each for the account to do something with. */
async function victims({ ask, issue }: Account) {
  const [key, gone] = [await issue(), await issue()];
  await ask('POST', `/v1/keys/${gone.id}/revoke`);
  return { key: key.id, gone: gone.id };
}

const changes = ({ key, gone }: { key: string; gone: string }) =>
  [
    ['create', '/v1/keys', { name: 'heir' }],
    ['rotate', `/v1/keys/${key}/rotate`, undefined],
    ['restore', `/v1/keys/${gone}/restore`, undefined],
    ['revoke', `/v1/keys/${key}/revoke`, undefined],
  ] as const;

const losses: readonly (readonly [string, (account: Account) => Promise<unknown>, number, string])[] = [
  [
    'revoked',
    ({ keyId }) =>
      running.stores.db.apiKey.update({ where: { publicId: keyId }, data: { revokedAt: new Date(nowMs) } }),
    401,
    'revoked_api_key',
  ],
  [
    'expired',
    ({ keyId }) =>
      running.stores.db.apiKey.update({ where: { publicId: keyId }, data: { expiresAt: new Date(nowMs) } }),
    401,
    'expired_api_key',
  ],
  [
    'without its scope, which went with the tier',
    ({ id }) => running.stores.db.account.update({ where: { id }, data: { tier: 'audit' } }),
    403,
    'insufficient_scope',
  ],
  [
    'of another account',
    ({ keyId }) =>
      running.stores.db.apiKey.update({ where: { publicId: keyId }, data: { accountId: 'acct_demo_audit' } }),
    401,
    'invalid_api_key',
  ],
];

test.each(losses)('a key that is %s by now changes nothing, though it was let in', async (_, lose, status, code) => {
  const account = await newAccount();
  const targets = await victims(account);
  const { db } = running.stores;
  const before = await db.apiKey.findMany({ where: { accountId: account.id, publicId: { not: account.keyId } } });
  await lose(account);
  for (const [name, url, body] of changes(targets))
    expect([name, ...(await account.refusal('POST', url, body))]).toEqual([name, status, code, null]);
  expect(await db.apiKey.findMany({ where: { accountId: account.id, publicId: { not: account.keyId } } })).toEqual(
    before,
  );
});

test('a change that waits for the revocation of its key is refused when it is through', async () => {
  const account = await newAccount();
  const targets = await victims(account);
  const { db } = running.stores;
  const asked = await db.$transaction(async (tx) => {
    await tx.apiKey.update({ where: { publicId: account.keyId }, data: { revokedAt: new Date(nowMs) } });
    const waiting = changes(targets).map(([, url, body]) => account.refusal('POST', url, body));
    // All of them wait for a lock: the first of the account, the others behind it or for the key itself.
    await expect.poll(() => waiters()).toHaveLength(waiting.length);
    return waiting;
  });
  for (const refusal of await Promise.all(asked)) expect(refusal).toEqual([401, 'revoked_api_key', null]);
});

test('keys that revoke each other at the same time never block each other, and one of them is left', async () => {
  const account = await newAccount();
  const { db } = running.stores;
  for (let round = 0; round < 10; round++) {
    const pair = ['a', 'b'].map((side) => `${side}Pair${String(round).padStart(7, '0')}`) as [string, string];
    const scopes: Scope[] = ['admin:keys'];
    for (const publicId of pair)
      await db.apiKey.create({
        data: { publicId, accountId: account.id, name: 'pair', hash: new Uint8Array(32), scopes },
      });
    const { keys } = running.services.people;
    const by = (id: string) => ({ actor: { kind: 'api_key', id, name: null }, requestId: null }) as const;
    const results = await Promise.all([
      keys.revoke(account.id, pair[0], by(pair[1])),
      keys.revoke(account.id, pair[1], by(pair[0])),
    ]);
    expect(results.map(({ ok }) => ok).sort()).toEqual([false, true]);
  }
});

test('a key revokes itself, as often as it likes', async () => {
  const { ask, keyId } = await newAccount();
  const once = keySchema.parse((await ask('POST', `/v1/keys/${keyId}/revoke`)).body);
  expect(once.state).toBe('revoked');
  expect((await ask('POST', `/v1/keys/${keyId}/revoke`)).body).toEqual(once);
});

test('an operator who is disabled while a change waits issues no key', async () => {
  const { id } = await newAccount();
  const tokens = await seedOperators(running.stores);
  const { db } = running.stores;
  const waiting = await db.$transaction(async (tx) => {
    await tx.$executeRaw`SELECT 1 FROM accounts WHERE id = ${id} FOR NO KEY UPDATE`;
    const asked = withToken(running.operator, tokens.admin)('POST', `/operator/v1/accounts/${id}/keys`, { name: 'k' });
    const late = asked.then((reply) => [reply.statusCode, reply.json().error?.code]);
    await expect.poll(() => waiters()).toHaveLength(1);
    await db.operator.update({ where: { id: 'op_admin' }, data: { disabledAt: new Date(nowMs) } });
    return { late };
  });
  expect(await waiting.late).toEqual([401, 'invalid_session']);
  expect(await db.apiKey.count({ where: { accountId: id, name: 'k' } })).toBe(0);
});
