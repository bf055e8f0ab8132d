import { issuedKeySchema, keySchema } from '@gw/contract/keys';
import { findKey, keyGeneration } from '@gw/prisma/find-key';
import { seedOperators, withToken } from '@gw/testing/control-plane/access';
import { openAccounts } from '@gw/testing/control-plane/account';
import { startTestApp } from '@gw/testing/control-plane/app';
import { forFile } from '@gw/testing/for-file';
import { beforeAll, expect, test } from 'vitest';
import { readAudit } from '../audit/read.ts';

const running = forFile(startTestApp);
const newAccount = openAccounts(running);
let tokens: Awaited<ReturnType<typeof seedOperators>>;
beforeAll(async () => {
  tokens = await seedOperators(running.stores);
});

/** With 100 a second, 200 at once, 3000 a day and 20 streams. */
async function enterprise() {
  const account = await newAccount();
  await running.stores.db.account.update({
    where: { id: account.id },
    data: { tier: 'enterprise', limitPerS: 100, limitBurst: 200, limitPerDay: 3000, limitStreams: 20 },
  });
  const patch = (role: 'viewer' | 'support' | 'admin', keyId: string, body: unknown) =>
    withToken(running.operator, tokens[role])(
      'PATCH',
      `/operator/v1/accounts/${account.id}/keys/${keyId}`,
      body as object,
    );
  const newest = async () => (await readAudit(running.stores.db, account.id, { order: 'desc', limit: 1 }))[0];
  return { ...account, patch, newest };
}
const noTokens = { tokens_per_minute: null, tokens_per_day: null };
const none = { per_s: null, burst: null, per_day: null, streams: null, ...noTokens };

test('a key is issued with limits of its own, and its successors take them over', async () => {
  const { ask, newest } = await enterprise();
  const tokens = { tokens_per_minute: 500, tokens_per_day: 9000 };
  const limits = { per_s: 10, burst: 20, per_day: 300, streams: 4, ...tokens };
  const { key: _, ...first } = issuedKeySchema.parse((await ask('POST', '/v1/keys', { name: 'k', limits })).body);
  expect(first.limits).toEqual(limits);
  expect((await newest())?.after).toMatchObject({ limits });
  const kept = { ratePerS: 10, burst: 20, perDay: 300, streams: 4, tokensPerMinute: 500, tokensPerDay: 9000 };
  expect((await findKey(running.stores.db, first.id))?.limits).toEqual(kept);
  const heir = issuedKeySchema.parse((await ask('POST', `/v1/keys/${first.id}/rotate`)).body);
  expect(heir.limits).toEqual(limits);
  expect(keySchema.parse((await ask('GET', `/v1/keys/${first.id}`)).body).limits).toEqual(limits);
  const day = issuedKeySchema.parse((await ask('POST', '/v1/keys', { name: 'k', limits: { per_day: 5 } })).body);
  expect(day.limits).toEqual({ ...none, per_day: 5 });
  for (const empty of [undefined, null, {}, none])
    expect((await ask('POST', '/v1/keys', { name: 'k', limits: empty })).body.limits).toBeNull();
});

test('a key that has limits gives none above them: by no new key and by no successor of another', async () => {
  const { ask, refusal, keyId } = await enterprise();
  const free = issuedKeySchema.parse((await ask('POST', '/v1/keys', { name: 'free' })).body);
  await running.stores.db.apiKey.update({ where: { publicId: keyId }, data: { limitPerDay: 300, limitStreams: 4 } });
  for (const limits of [undefined, { per_day: 300 }, { streams: 4 }, { per_day: 301, streams: 4 }])
    expect(await refusal('POST', '/v1/keys', { name: 'k', limits })).toEqual([400, 'invalid_limits', 'limits']);
  expect(await refusal('POST', `/v1/keys/${free.id}/rotate`)).toEqual([400, 'invalid_limits', 'limits']);
  const limits = { per_day: 300, streams: 4 };
  const given = issuedKeySchema.parse((await ask('POST', '/v1/keys', { name: 'k', limits })).body);
  expect(given.limits).toEqual({ ...none, ...limits });
  expect((await ask('POST', `/v1/keys/${given.id}/rotate`)).status).toBe(200);
});

test('limits of a key are never above those of its account, and belong to Enterprise alone', async () => {
  const { refusal } = await enterprise();
  const create = (limits: unknown) => refusal('POST', '/v1/keys', { name: 'k', limits });
  for (const tooWide of [{ per_s: 101, burst: 200 }, { per_s: 1, burst: 201 }, { per_day: 3001 }, { streams: 21 }])
    expect(await create(tooWide)).toEqual([400, 'invalid_limits', 'limits']);
  for (const half of [{ per_s: 1 }, { burst: 1 }])
    expect(await create(half)).toEqual([400, 'invalid_limits', 'limits']);
  expect(await create({ per_day: 0 })).toEqual([400, 'invalid_per_day', 'limits.per_day']);
  expect(await create({ hourly: 1 })).toEqual([400, 'invalid_hourly', 'limits.hourly']);
  expect(await create({ per_s: 100, burst: 200, per_day: 3000, streams: 20 })).toEqual([200, undefined, undefined]);
  for (const tier of ['audit', 'audit_plus'] as const) {
    const { id, keyId } = await newAccount(tier);
    const admin = withToken(running.operator, tokens.admin);
    const keys = `/operator/v1/accounts/${id}/keys`;
    const limits = { per_day: 1 };
    const codes = [
      (await admin('POST', keys, { name: 'k', limits })).json().error,
      (await admin('PATCH', `${keys}/${keyId}`, { limits })).json().error,
    ];
    for (const error of codes) expect(error).toMatchObject({ code: 'invalid_limits', param: 'limits' });
  }
});

test('an admin changes the limits of a key; the log tells it, and every instance reads that key again', async () => {
  const { id, ask, newest, patch } = await enterprise();
  const key = issuedKeySchema.parse((await ask('POST', '/v1/keys', { name: 'k' })).body);
  const limits = { per_s: 10, burst: 20, per_day: null, streams: 4, ...noTokens };
  expect((await patch('support', key.id, { limits })).statusCode).toBe(403);
  const generation = await keyGeneration(running.stores.db);
  expect((await patch('admin', key.id, { limits })).json()).toMatchObject({ id: key.id, limits });
  expect(await newest()).toMatchObject({
    action: 'key.limits_changed',
    target: `key:${key.id}`,
    before: { limits: null },
    after: { limits },
  });
  expect(await keyGeneration(running.stores.db)).toBe(generation + 1);
  const before = await newest();
  expect((await patch('admin', key.id, { limits })).statusCode).toBe(200);
  expect([await newest(), await keyGeneration(running.stores.db)]).toEqual([before, generation + 1]);
  expect((await patch('admin', key.id, { limits: { per_day: 3001 } })).json().error.code).toBe('invalid_limits');
  expect((await patch('admin', key.id, {})).statusCode).toBe(400);
  expect((await patch('admin', key.id, { limits: null, name: 'x' })).statusCode).toBe(400);
  expect((await patch('admin', key.id, { limits: null })).json().limits).toBeNull();
  await ask('POST', `/v1/keys/${key.id}/revoke`);
  expect((await patch('admin', key.id, { limits })).statusCode).toBe(409);
  expect((await patch('admin', 'zzzzzzzzzzzz', { limits })).statusCode).toBe(404);
  await running.stores.db.account.update({ where: { id }, data: { state: 'suspended' } });
  expect((await patch('admin', key.id, { limits })).json().error.code).toBe('invalid_transition');
});

test('a successor takes limits over that are above what the account has by now: the account binds first', async () => {
  const { id, ask } = await enterprise();
  const key = issuedKeySchema.parse((await ask('POST', '/v1/keys', { name: 'k', limits: { per_day: 3000 } })).body);
  await running.stores.db.account.update({ where: { id }, data: { limitPerDay: 100 } });
  const heir = issuedKeySchema.parse((await ask('POST', `/v1/keys/${key.id}/rotate`)).body);
  expect(heir.limits).toEqual({ ...none, per_day: 3000 });
});
