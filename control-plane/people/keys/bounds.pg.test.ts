/** How many keys an account can have, and what is not restored or deleted. */
import { randomBytes } from 'node:crypto';
import { dayMs } from '@gw/contract/internal/durations';
import { openDatabase } from '@gw/prisma/client';
import { openAccounts } from '@gw/testing/control-plane/account';
import { startTestApp, type TestApp, testPepper } from '@gw/testing/control-plane/app';
import { pino } from 'pino';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { deleteOldHashes } from './delete-hashes.ts';
import { createKeys } from './keys.ts';

const nowMs = Date.parse('2026-11-21T09:00:00.000Z');
let running: TestApp;
let newAccount: ReturnType<typeof openAccounts>;
beforeAll(async () => {
  running = await startTestApp(() => new Date(nowMs));
  newAccount = openAccounts(running);
});
afterAll(() => running.stop());

test('a key whose account has a broken chain holds up the deletion of no other', async () => {
  const accounts = [await newAccount(), await newAccount(), await newAccount()];
  const made = await Promise.all(accounts.map(({ issue }) => issue()));
  for (const [i, { ask }] of accounts.entries()) await ask('POST', `/v1/keys/${made[i]?.id}/revoke`);
  const { postgres, db } = running.stores;
  // In whatever order they come, one behind the broken one is among them.
  const [first] = made.map(({ id }, i) => ({ id, chain: accounts[i]?.id })).sort((a, b) => (a.id < b.id ? -1 : 1));
  const owner = openDatabase(postgres.url, { connections: 1 });
  await owner.$transaction([
    owner.$executeRaw`SET LOCAL session_replication_role = replica`,
    owner.$executeRaw`DELETE FROM audit_heads WHERE chain = ${first?.chain}`,
  ]);
  await owner.$disconnect();
  const lines: unknown[] = [];
  const log = pino({}, { write: (line) => void lines.push(JSON.parse(line)) });
  await deleteOldHashes({ db, log, now: () => new Date(nowMs + 91 * dayMs) });
  expect(lines).toEqual([expect.objectContaining({ level: 50, key: first?.id })]);
  const left = await db.apiKey.findMany({ where: { publicId: { in: made.map(({ id }) => id) }, hash: { not: null } } });
  expect(left.map(({ publicId }) => publicId)).toEqual([first?.id]);
});

test('a key can issue up to a thousand keys that are valid, and those that are revoked or expired do not count', async () => {
  const { id, refusal } = await newAccount();
  await running.stores.db.$executeRaw`
    INSERT INTO api_keys (public_id, account_id, name, hash, scopes)
    SELECT 'many' || lpad(i::text, 8, '0'), ${id}, 'many', ${new Uint8Array(32)}, '{}' FROM generate_series(1, 999) i`;
  const more = () => refusal('POST', '/v1/keys', { name: 'one more' });
  expect(await more()).toEqual([400, 'too_many_keys', null]);
  // Long ago, so that they do not count for the day.
  await running.stores.db.$executeRaw`
    UPDATE api_keys SET created_at = ${new Date(nowMs - dayMs)} WHERE account_id = ${id} AND name = 'many'`;
  await running.stores.db.$executeRaw`
    UPDATE api_keys SET revoked_at = ${new Date(nowMs)} WHERE public_id = 'many00000001'`;
  expect(await more()).toEqual([200, undefined, undefined]);
  expect(await more()).toEqual([400, 'too_many_keys', null]);
  await running.stores.db.$executeRaw`
    UPDATE api_keys SET expires_at = ${new Date(nowMs)} WHERE public_id = 'many00000002'`;
  expect(await more()).toEqual([200, undefined, undefined]);
});

test('whoever creates and revokes with a key is stopped for the day, people are not, and the next day goes on', async () => {
  const { id, refusal } = await newAccount();
  await running.stores.db.$executeRaw`
    INSERT INTO api_keys (public_id, account_id, name, hash, scopes, created_at, revoked_at)
    SELECT 'spent' || lpad(i::text, 7, '0'), ${id}, 'spent', ${new Uint8Array(32)}, '{}', ${new Date(nowMs)}, ${new Date(nowMs)}
    FROM generate_series(1, 200) i`;
  expect(await refusal('POST', '/v1/keys', { name: 'one more' })).toEqual([400, 'too_many_keys', null]);
  const { keys } = running.services.people;
  for (const kind of ['operator', 'organisation_admin'] as const)
    expect(
      await keys.create(id, { name: 'by people' }, { actor: { kind, id: 'p', name: 'P' }, requestId: null }),
    ).toMatchObject({
      ok: true,
    });
  await running.stores.db
    .$executeRaw`UPDATE api_keys SET created_at = ${new Date(nowMs - dayMs)} WHERE account_id = ${id}`;
  expect(await refusal('POST', '/v1/keys', { name: 'one more' })).toEqual([200, undefined, undefined]);
});

test('a key whose pepper was taken out is not restored, as it could never be let in again', async () => {
  const { id } = await newAccount();
  const { db, redis } = running.stores;
  const by = { actor: { kind: 'operator', id: 'op', name: 'Ada' }, requestId: null } as const;
  const { context } = running;
  const keysWith = (version: number, other: number | null) =>
    createKeys({
      db,
      redis,
      log: context.log,
      now: context.now,
      random: randomBytes,
      pepper: { version, secret: testPepper },
      otherPepper: other === null ? null : { version: other, secret: testPepper },
    });
  const made = await keysWith(1, null).create(id, { name: 'old' }, by);
  if (!made.ok) throw new Error(made.error.why);
  await keysWith(1, null).revoke(id, made.value.id, by);
  expect(await keysWith(2, null).restore(id, made.value.id, by)).toEqual({
    ok: false,
    error: { why: 'pepper_retired' },
  });
  expect(await keysWith(2, 1).restore(id, made.value.id, by)).toMatchObject({ ok: true, value: { state: 'active' } });
});
