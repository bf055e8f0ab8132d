import { type Actor, type AuditEntry, auditHash, ChainCheck } from '@gw/contract/internal/audit-chain';
import { type Database, openDatabase } from '@gw/prisma/client';
import { forFile } from '@gw/testing/for-file';
import { createDatabase } from '@gw/testing/prisma/postgres';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { appendAudit } from './append.ts';
import { readAudit, readHead } from './read.ts';

const postgres = forFile(() => createDatabase('migrated'));
let db: Database;
let owner: Database;
beforeAll(() => {
  db = openDatabase(postgres.serviceUrl);
  owner = openDatabase(postgres.url);
});
afterAll(async () => {
  await Promise.all([db.$disconnect(), owner.$disconnect()]);
});

const actor: Actor = { kind: 'operator', id: 'op_1', name: 'Ada' };
const at = new Date('2026-11-21T09:00:00.123Z');
const append = (
  accountId: string | null,
  action: string,
  after: unknown = { n: 1.5, text: 'ä\u{1F512}', none: undefined },
) =>
  db.$transaction((tx) => appendAudit(tx, at, { accountId, actor, action, target: 'key:x', requestId: 'r', after }), {
    maxWait: 20_000,
    timeout: 20_000,
  });

async function faultsOf(chain: string) {
  const check = new ChainCheck();
  for (const entry of await readAudit(db, chain, { order: 'asc', limit: 1000 })) check.next(entry);
  return check.end(await readHead(db, chain));
}

test('entries written at once form one chain without gaps that verifies after the way through the database', async () => {
  await Promise.all(Array.from({ length: 20 }, (_, i) => append('acct_many', `did.${i}`)));
  const entries = await readAudit(db, 'acct_many', { order: 'asc', limit: 100 });
  expect(entries.map(({ seq }) => seq)).toEqual(Array.from({ length: 20 }, (_, i) => i + 1));
  expect(await faultsOf('acct_many')).toEqual([]);
});

test('an entry of a change that was rolled back is not there, and the next one takes its place', async () => {
  const undone = db.$transaction(async (tx) => {
    await appendAudit(tx, at, { accountId: 'acct_undo', actor, action: 'x', target: 'y', requestId: null });
    throw new Error('undone');
  });
  await expect(undone).rejects.toThrow('undone');
  expect((await append('acct_undo', 'z')).seq).toBe(1);
  expect(await faultsOf('acct_undo')).toEqual([]);
});

const tampering: [string, string, (entries: AuditEntry[]) => unknown][] = [
  [
    'a changed value',
    `UPDATE audit SET after = '{"n":2}' WHERE chain = $1 AND seq = 2`,
    () => [{ seq: 2, fault: 'altered' }],
  ],
  [
    'a changed actor',
    `UPDATE audit SET actor_id = 'op_2' WHERE chain = $1 AND seq = 2`,
    () => [{ seq: 2, fault: 'altered' }],
  ],
  [
    'a changed time',
    `UPDATE audit SET at = at + interval '1 ms' WHERE chain = $1 AND seq = 2`,
    () => [{ seq: 2, fault: 'altered' }],
  ],
  ['an entry taken out', 'DELETE FROM audit WHERE chain = $1 AND seq = 2', () => [{ seq: 2, fault: 'missing' }]],
  ['the end cut off', 'DELETE FROM audit WHERE chain = $1 AND seq = 3', () => [{ seq: 3, fault: 'missing' }]],
];

test.each(tampering)(
  '%s is found, even if done by the owner, who may switch off the trigger',
  async (what, change, expected) => {
    const chain = `acct_${what.replaceAll(' ', '_')}`;
    for (const action of ['a', 'b', 'c']) await append(chain, action);
    const entries = await readAudit(db, chain, { order: 'asc', limit: 10 });
    await owner.$transaction([
      owner.$executeRawUnsafe('SET LOCAL session_replication_role = replica'),
      owner.$executeRawUnsafe(change, chain),
    ]);
    expect(await faultsOf(chain)).toEqual(expected(entries));
  },
);

test('an entry that was altered and hashed again is found by the next one', async () => {
  const chain = 'acct_rehashed';
  for (const action of ['a', 'b', 'c']) await append(chain, action);
  const [first, second, third] = await readAudit(db, chain, { order: 'asc', limit: 10 });
  const forged = { ...(second as AuditEntry), action: 'forged' };
  const check = new ChainCheck();
  for (const entry of [first, { ...forged, hash: auditHash(forged) }, third]) check.next(entry as AuditEntry);
  expect(check.faults).toEqual([{ seq: 3, fault: 'not_linked' }]);
});
