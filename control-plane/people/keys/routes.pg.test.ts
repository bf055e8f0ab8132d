import { hashApiKey, parseApiKey } from '@gw/contract/internal/api-key';
import { ChainCheck } from '@gw/contract/internal/audit-chain';
import { dayMs } from '@gw/contract/internal/durations';
import { keyChangedChannel } from '@gw/contract/internal/redis';
import { issuedKeySchema, keyListSchema, keySchema } from '@gw/contract/keys';
import { openAccounts } from '@gw/testing/control-plane/account';
import { startTestApp, type TestApp, testPepper } from '@gw/testing/control-plane/app';
import { silentLog } from '@gw/testing/control-plane/fixtures';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { readAudit, readHead } from '../audit/read.ts';
import { deleteOldHashes } from './delete-hashes.ts';

let nowMs = Date.parse('2026-11-21T09:00:00.000Z');
let running: TestApp;
let newAccount: ReturnType<typeof openAccounts>;
beforeAll(async () => {
  running = await startTestApp(() => new Date(nowMs));
  newAccount = openAccounts(running);
});
afterAll(() => running.stop());

test('a new key is shown once, works with its pepper, and only its hash is stored', async () => {
  const { ask, id } = await newAccount();
  const { status, body, headers } = await ask('POST', '/v1/keys', { name: '  build server ' });
  expect(status).toBe(200);
  expect(headers['cache-control']).toBe('no-store');
  const { key, ...shown } = issuedKeySchema.parse(body);
  expect(parseApiKey(key)?.publicId).toBe(shown.id);
  expect(shown).toMatchObject({
    name: 'build server',
    state: 'active',
    scopes: ['inference:read', 'inference:write', 'gw:read'],
    created_at: '2026-11-21T09:00:00.000Z',
    expires_at: null,
    last_used_on: null,
    project: null,
  });
  const row = await running.stores.db.apiKey.findUniqueOrThrow({ where: { publicId: shown.id } });
  expect(Buffer.from(row.hash ?? [])).toEqual(hashApiKey(key, testPepper));
  expect((await ask('GET', `/v1/keys/${shown.id}`)).body).toEqual(keySchema.parse(shown));
  const secret = key.slice(16);
  const entries = JSON.stringify(await readAudit(running.stores.db, id, { order: 'asc', limit: 10 }));
  expect(entries).toContain(shown.id);
  expect(entries).not.toContain(secret);
});

test('scopes and expiry are what the tier allows, and admin:keys is never granted by a key', async () => {
  const plus = await newAccount();
  const expires_at = '2027-01-01T00:00:00Z';
  const create = (extra: object) => ['POST', '/v1/keys', { name: 'k', ...extra }] as const;
  // There no key holds admin:keys, so that people alone can ask.
  const audit = await newAccount('audit');
  const by = { actor: { kind: 'operator', id: 'op', name: 'Ada' }, requestId: null } as const;
  const people = (extra: object) => running.services.people.keys.create(audit.id, { name: 'k', ...extra }, by);
  expect(await people({ scopes: ['gw:lineage'] })).toMatchObject({ error: { why: 'scope_not_granted' } });
  expect(await people({ expires_at })).toMatchObject({ error: { why: 'expiry_not_offered' } });
  expect(await audit.refusal(...create({}))).toEqual([403, 'insufficient_scope', null]);
  expect(await plus.refusal(...create({ scopes: ['admin:keys'] }))).toEqual([400, 'invalid_scopes', 'scopes']);
  expect(await plus.refusal(...create({ expires_at: '2026-11-21T09:00:00Z' }))).toEqual([
    400,
    'invalid_expires_at',
    'expires_at',
  ]);
  const made = await plus.issue({ scopes: ['gw:export', 'gw:lineage'], expires_at });
  expect(made).toMatchObject({ scopes: ['gw:lineage', 'gw:export'], expires_at: '2027-01-01T00:00:00.000Z' });
});

test('a body that is not what it should be is refused by the field at fault', async () => {
  const { refusal } = await newAccount();
  const post = (body: unknown) => refusal('POST', '/v1/keys', body);
  expect(await post({})).toEqual([400, 'missing_required_parameter', 'name']);
  expect(await post({ name: '' })).toEqual([400, 'invalid_name', 'name']);
  expect(await post({ name: 'a\u0007b' })).toEqual([400, 'invalid_name', 'name']);
  expect(await post({ name: 'k', scopes: ['gw:read', 'root'] })).toEqual([400, 'invalid_scopes', 'scopes[1]']);
  expect(await post({ name: 'k', scopes: ['gw:read', 'gw:read'] })).toEqual([400, 'invalid_scopes', 'scopes']);
  expect(await post({ name: 'k', expiry: 1 })).toEqual([400, 'invalid_expiry', 'expiry']);
  expect(await post('{"name":"a","name":"b"}')).toEqual([400, 'invalid_json', null]);
  expect(await post('[]')).toEqual([400, 'invalid_json', null]);
  expect(await post('{')).toEqual([400, 'invalid_json', null]);
  expect(await refusal('POST', '/v1/keys')).toEqual([400, 'invalid_json', null]);
  expect(await refusal('GET', '/v1/keys?limit=0')).toEqual([400, 'invalid_limit', 'limit']);
  expect(await refusal('GET', '/v1/keys?after=zzzzzzzzzzzz')).toEqual([400, 'invalid_after', 'after']);
});

test('rotation makes a successor with the same scopes, or with others, and leaves the predecessor alone', async () => {
  const { ask, issue, refusal, keyId } = await newAccount();
  const old = await issue({ name: 'old', scopes: ['gw:lineage'] });
  const heir = issuedKeySchema.parse((await ask('POST', `/v1/keys/${old.id}/rotate`)).body);
  expect(heir).toMatchObject({ name: 'old', scopes: ['gw:lineage'], predecessor: old.id, state: 'active' });
  await ask('POST', `/v1/keys/${heir.id}/revoke`);
  const other = await ask('POST', `/v1/keys/${old.id}/rotate`, { name: 'new', scopes: ['gw:read'] });
  expect(other.body).toMatchObject({ name: 'new', scopes: ['gw:read'], predecessor: old.id });
  expect((await ask('GET', `/v1/keys/${old.id}`)).body.state).toBe('active');
  // A key cannot inherit a scope that it may not grant.
  expect(await refusal('POST', `/v1/keys/${keyId}/rotate`)).toEqual([400, 'invalid_scopes', 'scopes']);
  await ask('POST', `/v1/keys/${old.id}/revoke`);
  expect(await refusal('POST', `/v1/keys/${old.id}/rotate`)).toEqual([400, 'key_is_revoked', 'key_id']);
});

test('a revocation is told to the instances, can be taken back for 90 days, and then the hash is gone', async () => {
  const { ask, issue, refusal, actions, id } = await newAccount();
  const { db } = running.stores;
  const listener = running.stores.connect();
  await new Promise((resolve) => listener.once('ready', resolve));
  await listener.subscribe(keyChangedChannel);
  const told = new Promise((resolve) => listener.once('message', (_channel, message) => resolve(message)));
  const key = await issue();
  expect(await told).toBe(key.id);
  const start = nowMs;
  const revoked = keySchema.parse((await ask('POST', `/v1/keys/${key.id}/revoke`)).body);
  expect(revoked).toMatchObject({ state: 'revoked', restorable_until: '2027-02-19T09:00:00.000Z' });
  nowMs += 90 * dayMs - 1;
  expect((await ask('POST', `/v1/keys/${key.id}/revoke`)).body).toEqual(revoked);
  expect((await ask('POST', `/v1/keys/${key.id}/restore`)).body.state).toBe('active');
  await ask('POST', `/v1/keys/${key.id}/revoke`);
  nowMs += 90 * dayMs - 1;
  await deleteOldHashes({ db, log: silentLog, now: () => new Date(nowMs) });
  expect((await db.apiKey.findUniqueOrThrow({ where: { publicId: key.id } })).hash).not.toBeNull();
  nowMs += 1;
  expect(await refusal('POST', `/v1/keys/${key.id}/restore`)).toEqual([400, 'key_not_restorable', 'key_id']);
  const once = () => deleteOldHashes({ db, log: silentLog, now: () => new Date(nowMs) });
  await Promise.all([once(), once(), once()]);
  expect((await db.apiKey.findUniqueOrThrow({ where: { publicId: key.id } })).hash).toBeNull();
  nowMs = start;
  expect(await refusal('POST', `/v1/keys/${key.id}/restore`)).toEqual([400, 'key_not_restorable', 'key_id']);
  const did = ['created', 'revoked', 'restored', 'revoked', 'hash_deleted'];
  expect(await actions()).toEqual(did.map((verb) => `key.${verb} key:${key.id}`));
  const check = new ChainCheck();
  for (const entry of await readAudit(db, id, { order: 'asc', limit: 100 })) check.next(entry);
  expect(check.end(await readHead(db, id))).toEqual([]);
});

test('many revocations and restorings at once have one result, with one entry for each change', async () => {
  const { ask, issue, actions } = await newAccount();
  const key = await issue();
  const replies = await Promise.all(Array.from({ length: 8 }, () => ask('POST', `/v1/keys/${key.id}/revoke`)));
  expect(new Set(replies.map(({ status, body }) => `${status} ${body.state} ${body.revoked_at}`)).size).toBe(1);
  await Promise.all(Array.from({ length: 8 }, () => ask('POST', `/v1/keys/${key.id}/restore`)));
  expect(await actions()).toEqual(['created', 'revoked', 'restored'].map((verb) => `key.${verb} key:${key.id}`));
});

test('a key that is restored past its expiry is expired', async () => {
  const { ask, issue } = await newAccount();
  const key = await issue({ expires_at: new Date(nowMs + 1000).toISOString() });
  await ask('POST', `/v1/keys/${key.id}/revoke`);
  nowMs += 1000;
  expect((await ask('POST', `/v1/keys/${key.id}/restore`)).body).toMatchObject({ state: 'expired', revoked_at: null });
});

test('an expired key keeps its record and its hash for good', async () => {
  const { ask, issue } = await newAccount();
  const { db } = running.stores;
  const key = await issue({ expires_at: new Date(nowMs + 1000).toISOString() });
  const start = nowMs;
  nowMs += 400 * dayMs;
  await deleteOldHashes({ db, log: silentLog, now: () => new Date(nowMs) });
  expect((await ask('GET', `/v1/keys/${key.id}`)).body).toMatchObject({ state: 'expired', revoked_at: null });
  expect((await db.apiKey.findUniqueOrThrow({ where: { publicId: key.id } })).hash).not.toBeNull();
  nowMs = start;
});

test('a key may revoke itself, but what holds admin:keys is restored by people alone', async () => {
  const { ask, refusal, id, keyId } = await newAccount();
  expect((await ask('POST', `/v1/keys/${keyId}/revoke`)).body.state).toBe('revoked');
  expect(await refusal('POST', `/v1/keys/${keyId}/restore`)).toEqual([401, 'revoked_api_key', null]);
  const other = {
    publicId: 'OtherRoot001',
    accountId: id,
    name: 'other',
    hash: new Uint8Array(32),
    scopes: ['admin:keys'],
  };
  await running.stores.db.apiKey.create({ data: { ...other, revokedAt: new Date(nowMs) } });
  await running.stores.db.apiKey.update({ where: { publicId: keyId }, data: { revokedAt: null } });
  expect(await refusal('POST', `/v1/keys/${other.publicId}/restore`)).toEqual([400, 'key_not_restorable', 'key_id']);
});

test('a suspended account reads and revokes, but gets no new key, no rotation and nothing restored', async () => {
  const { id, ask, issue, refusal } = await newAccount();
  const key = await issue();
  const other = await issue();
  await ask('POST', `/v1/keys/${other.id}/revoke`);
  await running.stores.db.account.update({ where: { id }, data: { state: 'suspended' } });
  const suspended = [403, 'customer_suspended', null];
  expect(await refusal('POST', '/v1/keys', { name: 'k' })).toEqual(suspended);
  expect(await refusal('POST', `/v1/keys/${key.id}/rotate`)).toEqual(suspended);
  expect(await refusal('POST', `/v1/keys/${other.id}/restore`)).toEqual(suspended);
  expect((await ask('GET', '/v1/keys')).status).toBe(200);
  expect((await ask('GET', '/v1/audit-log')).status).toBe(200);
  expect((await ask('POST', `/v1/keys/${key.id}/revoke`)).body.state).toBe('revoked');
});

test('the keys of another account are as unknown as none, for every action', async () => {
  const mine = await newAccount();
  const theirs = await newAccount();
  const key = await theirs.issue();
  for (const id of [key.id, 'nonexistent0', 'x', '%00'])
    for (const [method, path] of [
      ['GET', ''],
      ['POST', '/rotate'],
      ['POST', '/revoke'],
      ['POST', '/restore'],
    ] as const)
      expect(await mine.refusal(method, `/v1/keys/${id}${path}`), `${method} ${id}${path}`).toEqual([
        404,
        'key_not_found',
        'key_id',
      ]);
  expect(await mine.refusal('GET', `/v1/keys?after=${key.id}`)).toEqual([400, 'invalid_after', 'after']);
  expect((await mine.ask('GET', '/v1/keys')).body.data.map(({ id }: { id: string }) => id)).toEqual([mine.keyId]);
  expect((await mine.ask('GET', '/v1/audit-log')).body.data).toEqual([]);
  expect((await theirs.ask('GET', `/v1/keys/${key.id}`)).body.state).toBe('active');
});

test('keys are listed page by page, each once, newest first', async () => {
  const { ask, issue, keyId } = await newAccount();
  const made = [keyId];
  for (let i = 0; i < 5; i++) {
    nowMs += 1000;
    made.unshift((await issue()).id);
  }
  const seen: string[] = [];
  for (let after = ''; ; ) {
    const page = keyListSchema.parse((await ask('GET', `/v1/keys?limit=2${after}`)).body);
    seen.push(...page.data.map(({ id }) => id));
    if (!page.has_more) break;
    after = `&after=${page.last_id}`;
  }
  // The first one was written by the database's clock, so its place is not known here.
  expect(seen.filter((id) => id !== keyId)).toEqual(made.filter((id) => id !== keyId));
  expect(seen).toHaveLength(made.length);
});

test('a method that a path does not take is refused with those that it takes', async () => {
  const { ask } = await newAccount();
  const { status, headers } = await ask('GET', '/v1/keys/abc/revoke');
  expect([status, headers.allow]).toEqual([405, 'POST']);
});
