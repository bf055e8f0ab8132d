import { type Actor, type AuditEntry, auditHash, ChainCheck } from '@gw/contract/internal/audit-chain';
import { type Database, openDatabase } from '@gw/prisma/client';
import { forgeAudit } from '@gw/testing/control-plane/forge-audit';
import { forFile } from '@gw/testing/for-file';
import { createDatabase } from '@gw/testing/prisma/postgres';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { setNameKeys } from '../../shared/names/names.ts';
import { appendAudit } from './append.ts';
import { auditFault, readAudit, readHead } from './read.ts';
import { setAuditKeys } from './seal.ts';

const key = (id: number) => ({ id, secret: Buffer.alloc(32, id) });
const keys = { current: key(1), others: [] };
const postgres = forFile(() => createDatabase('migrated'));
let db: Database;
let owner: Database;
beforeAll(() => {
  db = openDatabase(postgres.serviceUrl);
  setAuditKeys(db, keys);
  setNameKeys(db, keys);
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
  for (const entry of await readAudit(db, chain, { order: 'asc', limit: 1000 })) check.next(entry, entry.sealFault);
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

test('an entry that somebody with the database chains has a hash that fits, and is forged; what is written behind it is genuine', async () => {
  const chain = 'acct_forged';
  await append(chain, 'a');
  await forgeAudit(db, chain);
  await append(chain, 'c');
  expect(await faultsOf(chain)).toEqual([{ seq: 2, fault: 'forged' }]);
  const entries = await readAudit(db, chain, { order: 'asc', limit: 10 });
  expect(entries.map(auditFault)).toEqual([null, 'forged', null]);
});

test('the seal of another entry does not fit', async () => {
  const chain = 'acct_copied_seal';
  await append(chain, 'a');
  const forged = await forgeAudit(db, chain);
  await owner.$transaction([
    owner.$executeRaw`SET LOCAL session_replication_role = replica`,
    owner.$executeRaw`UPDATE audit SET seal = (SELECT seal FROM audit WHERE chain = ${chain} AND seq = 1)
      WHERE chain = ${chain} AND seq = ${forged.seq}`,
  ]);
  expect(await faultsOf(chain)).toEqual([{ seq: 2, fault: 'forged' }]);
});

test('an older key verifies what it has sealed, a new one seals what comes; without the older one nothing of it passes', async () => {
  const chain = 'acct_rotated';
  await append(chain, 'a');
  setAuditKeys(db, { current: key(2), others: [key(1)] });
  await append(chain, 'b');
  expect(await faultsOf(chain)).toEqual([]);
  setAuditKeys(db, { current: key(2), others: [] });
  expect(await faultsOf(chain)).toEqual([{ seq: 1, fault: 'unknown key' }]);
  setAuditKeys(db, { current: key(2), others: [{ ...key(7), id: 1 }] });
  expect(await faultsOf(chain)).toEqual([{ seq: 1, fault: 'forged' }]);
  setAuditKeys(db, keys);
});

test('over a connection without the keys no entry is written, and none that is read is genuine', async () => {
  await append('acct_keyless', 'a');
  const [entry] = await readAudit(owner, 'acct_keyless', { order: 'asc', limit: 1 });
  expect(entry?.sealFault).toBe('unknown key');
  const fact = { accountId: 'acct_keyless', actor, action: 'b', target: 'x', requestId: null };
  await expect(owner.$transaction((tx) => appendAudit(tx, at, fact))).rejects.toThrow('without the keys');
});
