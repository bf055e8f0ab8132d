/** The check finds every change to the log of an account by somebody with the rights of the owner, and names its place. */
import { signingKeyOf } from '@gw/contract/internal/evidence-keys';
import { signedCheckpoint } from '@gw/evidence/checkpoint';
import { callAt, type Entry, entryFrom, ingest, unattended } from '@gw/testing/control-plane/calls';
import {
  addresses,
  keepTables,
  ledgerTables,
  roundAtOnce,
  silentLog,
  startStores,
  testSeals,
} from '@gw/testing/control-plane/fixtures';
import { forgeAudit } from '@gw/testing/control-plane/forge-audit';
import { forFile } from '@gw/testing/for-file';
import { afterEach, beforeAll, expect, test } from 'vitest';
import { appendReceipts } from '../log/append.ts';
import { trustIn } from '../log/sign.ts';
import { checkLogs } from './check-log.ts';
import { checkPage } from './check-receipts.ts';

const stores = forFile(startStores);

const accountId = 'acct_log';
const key = signingKeyOf('e1'.repeat(32));
const clock = new Date();
/** Some hours ago, so that receipts can still be settled. */
const start = Math.floor((clock.getTime() - 40 * 3_600_000) / 3_600_000) * 3_600_000;
const receipt = (minute: number, account = accountId): Entry =>
  entryFrom(callAt(new Date(start + minute * 60_000).toISOString()), { accountId: account });
const append = () => appendReceipts({ addresses, db: stores.db, now: () => clock, key, seals: testSeals });

const entries = Array.from({ length: 600 }, (_, minute) => receipt(minute));
let putBack: () => Promise<void>;
beforeAll(async () => {
  await ingest(stores.db, ...entries, receipt(1, 'acct_before'), receipt(1, 'acct_later'));
  await append();
  await ingest(stores.db, receipt(700), receipt(701));
  await append();
  putBack = await keepTables(stores, ...ledgerTables, 'integrity_checks');
}, 120_000);
afterEach(() => putBack());

const check = async (): Promise<string[]> => {
  const { db } = stores;
  await checkLogs({ db, seals: testSeals, trust: trustIn(key), log: silentLog, ...roundAtOnce });
  const found = await db.integrityFault.findMany({
    where: { kind: 'log', mendedAt: null },
    orderBy: [{ name: 'asc' }, { number: 'asc' }],
  });
  return found.map(({ fault, name, number }) => `${name} ${number} ${fault}`);
};

/** Replaces a receipt, as only somebody with the key of the ledger can. */
async function replace(entry: Entry, changes: object): Promise<void> {
  await stores.tamper(`DELETE FROM receipts WHERE id = '${entry.receipt.id}'`);
  await ingest(stores.db, { ...entry, receipt: { ...entry.receipt, ...changes } } as Entry);
}

test('a log that is what it was has no faults, also of receipts that were settled since', async () => {
  await ingest(stores.db, unattended(entries[3] as Entry, { shown: true }));
  expect(await check()).toEqual([]);
  await append();
  expect(await check()).toEqual([]);
});

const forge = async () => {
  const issued = clock;
  const forged = await signedCheckpoint(
    {
      account: accountId,
      baseUrl: addresses.baseUrl,
      size: 600,
      root: 'ab'.repeat(32),
      hoursRoot: 'ab'.repeat(32),
      completeUntil: issued,
      issued,
    },
    signingKeyOf('02'.repeat(32)),
  );
  await stores.tamper(
    `UPDATE receipt_log_checkpoints SET checkpoint = '${JSON.stringify(forged)}'::json WHERE tree_size = 600`,
  );
};

test.each<[string, string | (() => Promise<void>), string[]]>([
  [
    'an entry taken out',
    `DELETE FROM receipt_log WHERE account_id = '${accountId}' AND index = 7`,
    [`${accountId} 7 missing`],
  ],
  [
    'the last entries taken out',
    `DELETE FROM receipt_log WHERE account_id = '${accountId}' AND index >= 600`,
    [`${accountId} 602 checkpoint of another log`],
  ],
  [
    'an entry altered',
    `UPDATE receipt_log SET leaf_hash = decode(repeat('00', 32), 'hex') WHERE account_id = '${accountId}' AND index = 300`,
    [`${accountId} 300 altered`, `${accountId} 288 node altered`],
  ],
  [
    'a node altered',
    `UPDATE receipt_log_nodes SET hash = decode(repeat('00', 32), 'hex') WHERE account_id = '${accountId}' AND level = 4 AND index = 20`,
    [`${accountId} 320 node altered`, `${accountId} 256 node altered`],
  ],
  [
    'a node taken out',
    `DELETE FROM receipt_log_nodes WHERE account_id = '${accountId}' AND level = 8 AND index = 1`,
    [`${accountId} 256 node missing`],
  ],
  ['a receipt sealed anew', () => replace(entries[9] as Entry, { carbon_g: 0.0001 }), [`${accountId} 9 replaced`]],
  [
    'a checkpoint that cannot be read',
    `UPDATE receipt_log_checkpoints SET checkpoint = '{}'::json WHERE account_id = '${accountId}' AND tree_size = 602`,
    [`${accountId} 602 checkpoint altered`],
  ],
  ['a checkpoint of another key', forge, [`${accountId} 600 checkpoint altered`]],
  [
    'a checkpoint taken out',
    `DELETE FROM receipt_log_checkpoints WHERE account_id = '${accountId}' AND tree_size = 600`,
    [`${accountId} 600 checkpoint missing`],
  ],
  [
    'an hour altered',
    `UPDATE receipt_log_hours SET ranges = '[[0,1]]' WHERE account_id = '${accountId}' AND level = 0`,
    [`${accountId} 0 hour altered`],
  ],
  [
    'an hour taken out',
    `DELETE FROM receipt_log_hours WHERE account_id = '${accountId}' AND level = 0`,
    [`${accountId} 0 hour altered`, `${accountId} 60 hour altered`],
  ],
  [
    'an hour put in',
    `INSERT INTO receipt_log_hours VALUES ('${accountId}', 0, 7, sha256('x'), '[[7,1]]', repeat('0', 64))`,
    [`${accountId} 0 hour without entries`],
  ],
  [
    'an entry moved to another hour',
    `UPDATE receipt_log SET created_at = created_at + INTERVAL '5 hours' WHERE account_id = '${accountId}' AND index = 7`,
    [`${accountId} 602 checkpoint of other hours`],
  ],
  [
    'the audit log says another root',
    `UPDATE audit SET after = json_build_object('tree_size', 600, 'root_hash', 'x') WHERE chain = '${accountId}' AND seq = 1`,
    [`${accountId} 600 checkpoint not in the audit log`],
  ],
])('the check names it: %s', async (_, how, expected) => {
  await (typeof how === 'string' ? stores.tamper(how) : how());
  const found = await check();
  for (const each of expected) expect(found).toContain(each);
  expect(found.every((each) => each.startsWith(accountId))).toBe(true);
});

test('a row that somebody with the database has put behind the others is forged, and misses no receipt that never was', async () => {
  await stores.db.$executeRaw`
    INSERT INTO receipt_log (account_id, index, receipt_id, version, created_at, leaf_hash, content_sha256, seal, seal_key)
    VALUES (${accountId}, 602, ${entries[0]?.receipt.id.replace(/.$/, 'z')}, 1, now(), sha256('x'), 'x', sha256('x'), 1)`;
  expect(await check()).toEqual([`${accountId} 602 forged`]);
  const { faults } = await checkPage({ db: stores.db, log: silentLog, seals: testSeals }, { id: '', version: 0 });
  expect(faults).toEqual([]);
  await ingest(stores.db, receipt(760));
  await append();
  expect(await check()).toEqual([]);
});

test('an audit entry that somebody with the database has put there is no fault of the log', async () => {
  await forgeAudit(stores.db, accountId, {
    action: 'receipt_log.signed',
    after: { tree_size: 600, root_hash: '0'.repeat(64) },
  });
  await forgeAudit(stores.db, accountId, { action: 'receipt_log.signed', after: { tree_size: 7, root_hash: 'x' } });
  expect(await check()).toEqual([]);
});

test('an entry that was put far behind the others is found, and holds the check up for no time', async () => {
  for (const index of ['4000000000000000', '9223372036854775807'])
    await stores.tamper(`INSERT INTO receipt_log SELECT account_id, ${index}, receipt_id || ${index}, version, created_at, leaf_hash, content_sha256, archived,
      seal, seal_key FROM receipt_log WHERE account_id = '${accountId}' AND index = 3`);
  expect(await check()).toEqual(expect.arrayContaining([`${accountId} 602 missing`, `${accountId} 768 missing`]));
});

test('an altered receipt alone is no fault of the log', async () => {
  await stores.tamper(`UPDATE receipts SET energy_wh = energy_wh + 1 WHERE id = '${entries[5]?.receipt.id}'`);
  expect(await check()).toEqual([]);
});

test('what was mended is no fault any more', async () => {
  await stores.tamper(
    `UPDATE receipt_log SET content_sha256 = content_sha256 || 'x' WHERE index = 3 AND account_id = '${accountId}'`,
  );
  expect(await check()).toEqual([`${accountId} 3 replaced`]);
  await stores.tamper(
    `UPDATE receipt_log SET content_sha256 = rtrim(content_sha256, 'x') WHERE index = 3 AND account_id = '${accountId}'`,
  );
  expect(await check()).toEqual([]);
});

test('however many receipts in a row were taken out, the check of the ledger names each', async () => {
  await stores.tamper(`DELETE FROM receipts WHERE account_id = '${accountId}'`);
  const seals = testSeals;
  const names = new Set<string>();
  for (let at: { id: string; version: number } | null = { id: '', version: 0 }; at !== null; ) {
    const { faults, next } = await checkPage({ db: stores.db, log: silentLog, seals }, at);
    for (const { fault, name } of faults) if (fault === 'missing') names.add(name);
    at = next;
  }
  expect(names.size).toBe(602);
});
