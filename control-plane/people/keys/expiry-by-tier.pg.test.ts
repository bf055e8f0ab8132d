/** Keys of the tier Audit do not expire by themselves; an expiry waits until the account has a tier that offers one. */

import { randomBytes } from 'node:crypto';
import { generateApiKey, hashApiKey } from '@gw/contract/internal/api-key';
import { keySchema } from '@gw/contract/keys';
import { seedOperators, withToken } from '@gw/testing/control-plane/access';
import { startTestApp } from '@gw/testing/control-plane/app';
import { type Instance, pepper, startInstance } from '@gw/testing/control-plane/instance';
import { forFile } from '@gw/testing/for-file';
import { afterAll, beforeAll, expect, test } from 'vitest';

const stops: (() => unknown)[] = [];
const running = forFile(startTestApp);
let operator: ReturnType<typeof withToken>;
const instances: Instance[] = [];
beforeAll(async () => {
  operator = withToken(running.operator, (await seedOperators(running.stores)).admin);
  for (const told of [true, false]) instances.push(await startInstance(running.stores, stops, { told }));
});
afterAll(async () => {
  for (const stop of stops) await stop();
});

const account = 'acct_expiry';
const become = async (tier: 'audit' | 'audit_plus') => {
  const reply = await operator('PATCH', `/operator/v1/accounts/${account}`, { tier });
  expect(reply.statusCode, reply.body).toBe(200);
};
const shown = async (id: string) =>
  keySchema.parse((await operator('GET', `/operator/v1/accounts/${account}/keys/${id}`)).json());

test('an expiry does not hold while the account is on Audit, and holds again when it comes back, on every instance', async () => {
  const { db } = running.stores;
  await db.account.create({ data: { id: account, name: 'Test', tier: 'audit_plus' } });
  const { plaintext, publicId } = generateApiKey(randomBytes);
  const expiresAt = new Date(Date.now() - 60_000);
  const hash = new Uint8Array(hashApiKey(plaintext, pepper.secret));
  const data = { publicId, accountId: account, name: 'k', hash, scopes: ['inference:write'], expiresAt };
  await db.apiKey.create({ data });
  const everywhere = (answer: string) =>
    expect
      .poll(() => Promise.all(instances.map((each) => each.ask(plaintext))), { interval: 20 })
      .toEqual(instances.map(() => answer));
  await everywhere('expired_api_key');
  expect(await shown(publicId)).toMatchObject({ state: 'expired', expires_at: expiresAt.toISOString() });
  await become('audit');
  await everywhere('ok');
  expect(await shown(publicId)).toMatchObject({ state: 'active', expires_at: null });
  await become('audit_plus');
  await everywhere('expired_api_key');
  expect(await shown(publicId)).toMatchObject({ state: 'expired', expires_at: expiresAt.toISOString() });
});

test('a key of Audit whose expiry waits counts among the keys that the account holds', async () => {
  const { db } = running.stores;
  const accountId = 'acct_expiry_many';
  await db.account.create({ data: { id: accountId, name: 'Test', tier: 'audit' } });
  const [expiresAt, hash] = [new Date(0), new Uint8Array(32)];
  const key = (at: number) => ({ publicId: `waits${String(at).padStart(7, '0')}`, accountId, name: 'k', scopes: [] });
  const many = Array.from({ length: 2000 }, (_, at) => ({ ...key(at), hash, expiresAt }));
  await db.apiKey.createMany({ data: many });
  const create = () => operator('POST', `/operator/v1/accounts/${accountId}/keys`, { name: 'one more' });
  expect((await create()).json().error?.code).toBe('too_many_keys');
  await db.account.update({ where: { id: accountId }, data: { tier: 'audit_plus' } });
  expect((await create()).statusCode).toBe(200);
});
