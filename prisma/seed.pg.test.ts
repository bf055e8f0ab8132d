import { randomBytes } from 'node:crypto';
import { scopes, tierLimits } from '@gw/contract/access';
import { hashApiKey, parseApiKey } from '@gw/contract/internal/api-key';
import { forFile } from '@gw/testing/for-file';
import { createDatabase } from '@gw/testing/prisma/postgres';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { type Database, openDatabase } from './client.ts';
import { findKey, keyGeneration } from './find-key.ts';
import { type SeededKeys, seed } from './seed.ts';

const pepper = { version: 3, secret: randomBytes(32) };
const simulatorUrl = 'http://127.0.0.1:9000';
const postgres = forFile(() => createDatabase('migrated'));
let db: Database;
let keys: SeededKeys;

const publicIdOf = (plaintext: string): string => parseApiKey(plaintext)?.publicId ?? '';
const versionOf = async () => (await db.catalogueVersion.findFirstOrThrow()).version;

beforeAll(async () => {
  db = openDatabase(postgres.url);
  keys = await seed(db, { pepper, simulatorUrl });
});

afterAll(async () => {
  await db?.$disconnect();
});

test('a seeded key is found by its public id with hash, scopes and the limits of its tier', async () => {
  const found = await findKey(db, publicIdOf(keys.audit));
  expect(found).toMatchObject({
    publicId: publicIdOf(keys.audit),
    accountId: 'acct_demo_audit',
    state: 'active',
    expiresAt: null,
    scopes: ['inference:read', 'inference:write', 'gw:read'],
    account: { tier: 'audit', state: 'active', models: null, limits: tierLimits.audit },
  });
  expect(found?.pepperVersion).toBe(3);
  expect(found?.hash).toEqual(hashApiKey(keys.audit, pepper.secret));
  expect((await findKey(db, publicIdOf(keys.auditPlus)))?.account.limits).toEqual(tierLimits.audit_plus);
});

test('enterprise keys carry the negotiated limits, and only the admin key may administer keys', async () => {
  const [enterprise, admin] = await Promise.all([
    findKey(db, publicIdOf(keys.enterprise)),
    findKey(db, publicIdOf(keys.admin)),
  ]);
  expect(enterprise?.account.limits).toEqual({
    ratePerS: 1_000_000,
    burst: 1_000_000,
    perDay: 1_000_000_000,
    streams: 1_000_000,
  });
  expect(enterprise?.scopes).toEqual(scopes.filter((scope) => scope !== 'admin:keys'));
  expect(admin?.scopes).toEqual(scopes);
});

test('an unknown public id, or one padded with spaces, finds nothing', async () => {
  expect(await findKey(db, '000000000000')).toBeNull();
  expect(await findKey(db, '')).toBeNull();
});

test('revoked wins over expired, an expiry is told, and each change raises the key generation', async () => {
  const publicId = publicIdOf((await seed(db, { pepper, simulatorUrl })).enterprise);
  const before = await keyGeneration(db);
  const expiresAt = new Date(Date.now() - 1000);
  await db.apiKey.update({ where: { publicId }, data: { expiresAt } });
  expect(await findKey(db, publicId)).toMatchObject({ state: 'expired', expiresAt });
  await db.apiKey.update({ where: { publicId }, data: { revokedAt: new Date() } });
  expect(await findKey(db, publicId)).toMatchObject({ state: 'revoked' });
  await db.apiKey.update({ where: { publicId }, data: { hash: null } });
  expect(await findKey(db, publicId)).toMatchObject({ state: 'revoked', hash: null });
  expect(await keyGeneration(db)).toBe(before + 3);
});

test('the model allow-list and the suspension of an account are told', async () => {
  const data = { models: ['sim-small'], state: 'suspended' } as const;
  await db.account.update({ where: { id: 'acct_demo_audit_plus' }, data });
  const found = await findKey(db, publicIdOf(keys.auditPlus));
  expect(found?.account).toMatchObject({ models: ['sim-small'], state: 'suspended' });
});

test('an active key cannot lose its hash, and an enterprise account cannot lack limits', async () => {
  const where = { publicId: publicIdOf(keys.enterprise) };
  await expect(db.apiKey.update({ where, data: { hash: null } })).rejects.toThrow();
  const account = { id: 'x', name: 'x', tier: 'enterprise' } as const;
  await expect(db.account.create({ data: account })).rejects.toThrow();
});

test('a second seed with the known plaintexts changes nothing at all', async () => {
  const state = async () => ({
    keys: await db.apiKey.findMany({ orderBy: { publicId: 'asc' } }),
    catalogue: await versionOf(),
    generation: await keyGeneration(db),
  });
  const before = await state();
  expect(await seed(db, { pepper, simulatorUrl, existing: keys })).toEqual(keys);
  expect(await state()).toEqual(before);
});

test('a known plaintext works again after the database or the pepper was replaced, a revoked one does not come back', async () => {
  const newPepper = { version: 4, secret: randomBytes(32) };
  await db.apiKey.delete({ where: { publicId: publicIdOf(keys.enterprise) } });
  await db.apiKey.update({ where: { publicId: publicIdOf(keys.audit) }, data: { revokedAt: new Date() } });
  const again = await seed(db, { pepper: newPepper, simulatorUrl, existing: keys });
  expect(again).toMatchObject({ enterprise: keys.enterprise, admin: keys.admin });
  expect(again.audit).not.toBe(keys.audit);
  expect(await findKey(db, publicIdOf(keys.admin))).toMatchObject({
    hash: hashApiKey(keys.admin, newPepper.secret),
    pepperVersion: 4,
  });
  expect((await findKey(db, publicIdOf(keys.audit)))?.state).toBe('revoked');
});

test('the catalogue follows the providers that the seed is asked for', async () => {
  const provider = { url: 'http://llm/v1', credentialRef: 'CUSTOM', models: ['acme/chat', 'acme/embed'] };
  await seed(db, { pepper, provider, existing: keys });
  expect((await db.deployment.findMany()).map((d) => d.models)).toEqual([
    { 'acme/chat': 'acme/chat', 'acme/embed': 'acme/embed' },
  ]);
  // Who starts it by hand with such an address has said so.
  expect(await db.provider.findMany()).toMatchObject([{ id: 'custom', baseUrl: 'http://llm/v1', local: true }]);
  expect(await db.region.findMany()).toMatchObject([{ code: 'default', gridZone: 'WOR' }]);
  expect(await db.model.findMany({ orderBy: { id: 'asc' } })).toMatchObject([
    { id: 'acme/chat', kind: 'chat', modelClass: 'unknown', activeParametersMinB: null, parametersSource: null },
    { id: 'acme/embed', kind: 'embedding', modelClass: 'embedding' },
  ]);
  await seed(db, { pepper, provider: { ...provider, url: 'https://llm/v1' }, existing: keys });
  expect(await db.provider.findMany()).toMatchObject([{ baseUrl: 'https://llm/v1', local: false }]);
  await seed(db, { pepper, simulatorUrl: 'http://simulator:9000/v1', existing: keys });
  expect(await db.provider.findMany()).toMatchObject([{ id: 'simulator', local: true }]);
  await seed(db, { pepper, simulatorUrl, existing: keys });
  expect(await db.provider.findMany()).toMatchObject([{ id: 'simulator', local: false }]);
  expect((await db.model.findMany({ orderBy: { id: 'asc' } })).map((m) => m.id)).toEqual([
    'sim-embed',
    'sim-large',
    'sim-measured',
    'sim-small',
  ]);
  expect((await db.region.findMany({ orderBy: { preference: 'asc' } })).map((r) => r.code)).toEqual([
    'us-east',
    'eu-north',
    'eu-west',
  ]);
});
