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

async function opened() {
  const account = await newAccount();
  const patch = (role: 'support' | 'admin', keyId: string, body: object) =>
    withToken(running.operator, tokens[role])('PATCH', `/operator/v1/accounts/${account.id}/keys/${keyId}`, body);
  const create = async (fields: object) =>
    issuedKeySchema.parse((await account.ask('POST', '/v1/keys', { name: 'k', ...fields })).body);
  const newest = async () => (await readAudit(running.stores.db, account.id, { order: 'desc', limit: 1 }))[0];
  return { ...account, create, patch, newest };
}

test('a key is issued for a project, and its successors are for the same', async () => {
  const { ask, create, newest } = await opened();
  const first = await create({ project: ' Köln 1 ' });
  expect(first.project).toBe('Köln 1');
  expect((await newest())?.after).toMatchObject({ project: 'Köln 1' });
  expect((await findKey(running.stores.db, first.id))?.project).toBe('Köln 1');
  const heir = issuedKeySchema.parse((await ask('POST', `/v1/keys/${first.id}/rotate`)).body);
  expect(heir.project).toBe('Köln 1');
  expect(keySchema.parse((await ask('GET', `/v1/keys/${heir.id}`)).body).project).toBe('Köln 1');
  for (const project of [undefined, null]) expect((await create({ project })).project).toBeNull();
});

test('a project has 1 to 64 characters, and none that controls a terminal', async () => {
  const { create, refusal } = await opened();
  for (const project of ['', ' ', 'x'.repeat(65), 'a\u0007', 'a\nb', 5])
    expect(await refusal('POST', '/v1/keys', { name: 'k', project })).toEqual([400, 'invalid_project', 'project']);
  expect((await create({ project: 'ü'.repeat(64) })).project).toBe('ü'.repeat(64));
});

test('a key that is for a project issues keys for that project alone, and no successor of one that is for another', async () => {
  const { create, ask, refusal, keyId } = await opened();
  const [free, other] = [await create({}), await create({ project: 'other' })];
  await running.stores.db.apiKey.update({ where: { publicId: keyId }, data: { project: 'own' } });
  expect((await create({})).project).toBe('own');
  expect((await create({ project: 'own' })).project).toBe('own');
  const refused = [400, 'invalid_project', 'project'];
  expect(await refusal('POST', '/v1/keys', { name: 'k', project: 'other' })).toEqual(refused);
  for (const { id } of [free, other]) expect(await refusal('POST', `/v1/keys/${id}/rotate`)).toEqual(refused);
  expect((await ask('POST', `/v1/keys/${keyId}/rotate`)).status).toBe(400); // its scope admin:keys is not inherited
});

test('an admin changes the project of a key; the log tells it, and every instance reads that key again', async () => {
  const { create, newest, patch } = await opened();
  const { id } = await create({});
  expect((await patch('support', id, { project: 'a' })).statusCode).toBe(403);
  const generation = await keyGeneration(running.stores.db);
  expect((await patch('admin', id, { project: 'a' })).json()).toMatchObject({ id, project: 'a' });
  expect(await newest()).toMatchObject({
    action: 'key.project_changed',
    target: `key:${id}`,
    before: { project: null },
    after: { project: 'a' },
  });
  expect(await keyGeneration(running.stores.db)).toBe(generation + 1);
  const before = await newest();
  expect((await patch('admin', id, { project: 'a' })).statusCode).toBe(200);
  expect([await newest(), await keyGeneration(running.stores.db)]).toEqual([before, generation + 1]);
  expect((await patch('admin', id, { project: '' })).json().error.code).toBe('invalid_project');
  expect((await patch('admin', id, { project: null })).json().project).toBeNull();
});

test('limits and project are changed together, and what is not named stays', async () => {
  const { create, id: account, patch } = await opened();
  const data = { tier: 'enterprise', limitPerS: 10, limitBurst: 20, limitPerDay: 300, limitStreams: 20 } as const;
  await running.stores.db.account.update({ where: { id: account }, data });
  const { id } = await create({});
  const limits = {
    per_s: null,
    burst: null,
    per_day: 5,
    streams: null,
    tokens_per_minute: null,
    tokens_per_day: null,
  };
  expect((await patch('admin', id, { limits, project: 'a' })).json()).toMatchObject({ limits, project: 'a' });
  expect((await patch('admin', id, { project: 'b' })).json()).toMatchObject({ limits, project: 'b' });
  expect((await patch('admin', id, { limits: null })).json()).toMatchObject({ limits: null, project: 'b' });
  expect((await patch('admin', id, {})).statusCode).toBe(400);
});
