/** The log of receipts: that each receipt comes into it once, and that nobody can take one out unseen. */
import { KeyAwayError, signingKeyOf } from '@gw/contract/internal/evidence-keys';
import { canonicalText } from '@gw/contract/internal/ledger-entry';
import { type Checkpoint, checkCheckpoint, signedCheckpoint } from '@gw/evidence/checkpoint';
import { isConsistent, isIncluded, leafHash } from '@gw/evidence/merkle';
import { openDatabase } from '@gw/prisma/client';
import { cases } from '@gw/testing/cases';
import { callAt, type Entry, entryFrom, ingest } from '@gw/testing/control-plane/calls';
import { addresses, startStores, testSeals } from '@gw/testing/control-plane/fixtures';
import { forgeAudit } from '@gw/testing/control-plane/forge-audit';
import { registerOf } from '@gw/testing/evidence/made-packs';
import { forFile } from '@gw/testing/for-file';
import fc from 'fast-check';
import { beforeEach, expect, test } from 'vitest';
import { readAudit } from '../../people/audit/read.ts';
import { appendReceipts } from './append.ts';
import { consistencyPath, inclusionPaths, LogBrokenError, logSize, rootOf } from './tree.ts';

const stores = forFile(startStores);
beforeEach(() =>
  stores.empty(
    'receipts',
    'receipt_log',
    'receipt_log_nodes',
    'receipt_log_hours',
    'receipt_log_checkpoints',
    'receipt_log_changes',
    'receipt_log_set_aside',
    'integrity_faults',
    'audit',
    'audit_heads',
  ),
);

const accountId = 'acct_log';
const key = signingKeyOf('e1'.repeat(32));
/** Whoever signs with it dies between the entries and their checkpoint. */
const dying = {
  ...key,
  sign: async (): Promise<never> => {
    throw new Error('Killed here.');
  },
};
const clock = new Date('2026-11-22T00:00:00Z');
const append = (by = key, db = stores.db, seals = testSeals) =>
  appendReceipts({ addresses, db, now: () => clock, key: by, seals });
const at = (minute: number) => new Date(Date.parse('2026-11-20T10:00:00Z') + minute * 60_000).toISOString();
const receipt = (minute: number, account = accountId, changes: object = {}): Entry =>
  entryFrom(callAt(at(minute)), { accountId: account, changes });
const logged = (account = accountId) =>
  stores.db.receiptLogEntry.findMany({ where: { accountId: account }, orderBy: { index: 'asc' } });
const hex = (bytes: Uint8Array) => Buffer.from(bytes).toString('hex');
const marks = () => stores.db.receiptLogChange.count();
const checkpoints = async (account = accountId) =>
  (await stores.db.receiptLogCheckpoint.findMany({ where: { accountId: account }, orderBy: { treeSize: 'asc' } })).map(
    ({ checkpoint }) => checkpoint as unknown as Checkpoint,
  );

/** Every entry proves that it is in the log of the newest checkpoint, and each earlier checkpoint that the log goes on from it. */
async function expectProven(account = accountId): Promise<void> {
  const signed = await checkpoints(account);
  const newest = signed.at(-1);
  if (newest === undefined) throw new Error('There is no checkpoint.');
  const { root_hash: root, tree_size: size } = newest;
  const entries = await logged(account);
  expect(entries.map(({ index }) => Number(index))).toEqual(entries.map((_, index) => index));
  expect(entries).toHaveLength(size);
  const paths = await inclusionPaths(stores.db, account, [...entries.keys()], size);
  for (const [index, { leafHash: leaf }] of entries.entries())
    expect(isIncluded(hex(leaf), { index, size, path: paths[index], root })).toBe(true);
  const times = entries.map(({ archived, createdAt }) => (archived === null ? createdAt.toISOString() : null));
  for (const each of signed) {
    expect(each.hours_root).toBe(registerOf(times.slice(0, each.tree_size)).root);
    expect(await checkCheckpoint(each, { thumbprint: key.publicJwk.kid })).toBe('trusted');
    const path = await consistencyPath(stores.db, account, each.tree_size, size);
    expect(isConsistent({ size: each.tree_size, root: each.root_hash }, { size, root }, path)).toBe(true);
  }
}

test('the receipts of an hour that is over come into the log of their account, and a checkpoint is signed', async () => {
  const [first, second, other] = [receipt(1), receipt(2), receipt(2, 'acct_other')];
  await ingest(stores.db, second, first, other);
  await append();
  const entries = await logged();
  expect(entries.map(({ receiptId }) => receiptId)).toEqual([first.receipt.id, second.receipt.id]);
  expect(entries.map(({ leafHash: leaf }) => hex(leaf))).toEqual(
    [first, second].map((each) => leafHash(canonicalText(each.receipt))),
  );
  expect(await logged('acct_other')).toHaveLength(1);
  expect(await marks()).toBe(0);
  await expectProven();
  await expectProven('acct_other');
  const [checkpoint] = await checkpoints();
  expect(checkpoint).toMatchObject({ account: accountId, tree_size: 2, issued: clock.toISOString() });
  const [audit] = await readAudit(stores.db, accountId, { order: 'desc', limit: 1 });
  expect(audit).toMatchObject({
    action: 'receipt_log.signed',
    actor: { kind: 'system', id: 'receipt_log' },
    after: { tree_size: 2, root_hash: checkpoint?.root_hash },
  });
});

test('an audit entry about a checkpoint that was never signed does not stop the log', async () => {
  const never = { action: 'receipt_log.signed', after: { tree_size: 7, root_hash: '0'.repeat(64) } };
  await forgeAudit(stores.db, accountId, never);
  await ingest(stores.db, receipt(1));
  await append();
  for (let n = 0; n < 3; n += 1) await forgeAudit(stores.db, accountId, never);
  await ingest(stores.db, receipt(2));
  await append();
  expect((await checkpoints()).map(({ tree_size }) => tree_size)).toEqual([1, 2]);
  await expectProven();
});

/** Adds entries of receipts that never were, as somebody can who has the rights of the services and no key. */
const plant = (indexes: readonly number[], account = accountId): Promise<unknown> =>
  stores.db.$executeRaw`
    INSERT INTO receipt_log (account_id, index, receipt_id, version, created_at, leaf_hash, content_sha256, seal, seal_key)
    SELECT ${account}, n, 'rcpt_never_' || n, 1, ${at(1)}::timestamptz, sha256('x'), 'x', sha256('x'), 1
    FROM unnest(${indexes}::bigint[]) n`;
const plantNode = (level: number, index: number): Promise<unknown> => stores.db.$executeRaw`
  INSERT INTO receipt_log_nodes (account_id, level, index, hash) VALUES (${accountId}, ${level}::smallint, ${index}, sha256('x'))`;
const range = (from: number, to: number) => Array.from({ length: to - from }, (_, n) => from + n);
const setAside = async () => (await stores.db.receiptLogSetAside.findMany()).map(({ entry }) => entry);

test.each<[string, () => Promise<unknown>, number[]]>([
  ['at its beginning', () => plant([0]), [0]],
  [
    'at its beginning, with the node over them',
    () => Promise.all([plant(range(0, 16)), plantNode(4, 0)]),
    range(0, 16),
  ],
  ['in front of a gap', () => plant([0, 7]), [0, 7]],
  ['far away', () => plant([2 ** 52]), [2 ** 52]],
  [
    'as its last possible entry',
    () => stores.db.$executeRaw`
    INSERT INTO receipt_log (account_id, index, receipt_id, version, created_at, leaf_hash, content_sha256, seal, seal_key)
    VALUES (${accountId}, 9223372036854775807, 'rcpt_never', 1, 'infinity', sha256('x'), 'x', '', 1)`,
    [Number.MAX_SAFE_INTEGER],
  ],
  ['as a node alone', () => Promise.all([plantNode(4, 0), plantNode(4, 1), plantNode(52, 0), plantNode(3, 0)]), []],
])(
  'what somebody has put into a log %s is taken out and named, and neither built upon nor signed',
  async (_, how, planted) => {
    await ingest(stores.db, ...Array.from({ length: 40 }, (__, minute) => receipt(minute)));
    await how();
    await append(key, stores.db, stores.seals);
    await expectProven();
    expect(await checkpoints()).toMatchObject([{ tree_size: 40 }]);
    expect(await marks()).toBe(0);
    expect(await setAside()).toHaveLength(planted.length);
    const faults = await stores.db.integrityFault.findMany({ orderBy: { number: 'asc' } });
    expect(faults).toMatchObject(
      planted.map((index) => ({ kind: 'log', name: accountId, number: BigInt(index), fault: 'forged' })),
    );
    // The next hour goes on from it.
    await plant([40, 41, 43]);
    await ingest(stores.db, receipt(61), receipt(62));
    await append();
    await expectProven();
    expect((await checkpoints()).at(-1)).toMatchObject({ tree_size: 42 });
  },
);

test('what is put there between the entries and their checkpoint is not signed, and moves nothing that is genuine', async () => {
  await ingest(stores.db, receipt(1), receipt(2));
  await expect(append(dying)).rejects.toThrow('cannot go on');
  await plant([2, 3]);
  await append();
  await expectProven();
  expect(await checkpoints()).toMatchObject([{ tree_size: 2 }]);
});

test('nobody keeps a receipt out of its log by naming it in another one', async () => {
  const entry = receipt(1);
  await ingest(stores.db, entry);
  await stores.db.$executeRaw`
    INSERT INTO receipt_log (account_id, index, receipt_id, version, created_at, leaf_hash, content_sha256, seal, seal_key)
    SELECT 'acct_other', 0, id, version, created_at, sha256('x'), content_sha256, sha256('x'), 1 FROM receipts`;
  await append();
  await expectProven();
  expect((await logged()).map(({ receiptId }) => receiptId)).toEqual([entry.receipt.id]);
});

test('what is signed cannot be set aside, by the services or by the owner', async () => {
  await ingest(stores.db, ...Array.from({ length: 40 }, (_, minute) => receipt(minute)));
  await append();
  const owner = openDatabase(stores.postgres.url, { connections: 1 });
  for (const [db, statement] of [
    [stores.db, `SELECT set_aside_receipt_log('${accountId}', 39)`],
    [owner, `SELECT set_aside_receipt_log('${accountId}', 0)`],
    [owner, 'DELETE FROM receipt_log WHERE index = 39'],
    [owner, 'DELETE FROM receipt_log_nodes WHERE level = 4 AND index = 1'],
  ] as const)
    await expect(db.$executeRawUnsafe(statement)).rejects.toThrow('append-only');
  await owner.$disconnect();
  await expectProven();
});

test('an hour that is not over stays out, and nothing new gives no checkpoint', async () => {
  await ingest(stores.db, entryFrom(callAt(new Date().toISOString()), { accountId }));
  await append();
  expect([await logSize(stores.db, accountId), await marks(), await checkpoints()]).toEqual([0, 1, []]);
  await ingest(stores.db, receipt(1));
  await append();
  await append();
  expect(await checkpoints()).toHaveLength(1);
});

test('whatever the order and the pieces in which receipts come, all are in the log once, behind what was there', async () => {
  let account = 0;
  const batches = fc.array(fc.array(fc.nat(300), { minLength: 1, maxLength: 30 }), { minLength: 1, maxLength: 6 });
  await fc.assert(
    fc.asyncProperty(batches, fc.infiniteStream(fc.boolean()), async (minutes, appends) => {
      const name = `acct_random_${account++}`;
      const all: string[] = [];
      for (const batch of minutes) {
        const entries = batch.map((minute) => receipt(minute, name));
        all.push(...entries.map(({ receipt: { id } }) => id));
        await ingest(stores.db, ...entries);
        const before = (await logged(name)).map(({ receiptId }) => receiptId);
        if (appends.next().value) await append();
        expect((await logged(name)).map(({ receiptId }) => receiptId).slice(0, before.length)).toEqual(before);
      }
      await append();
      expect((await logged(name)).map(({ receiptId }) => receiptId).toSorted()).toEqual(all.toSorted());
      await expectProven(name);
    }),
    { numRuns: cases(20, 5) },
  );
}, 120_000);

test('two instances at once beside a writer log each receipt once', async () => {
  const minutes = Array.from({ length: 700 }, (_, minute) => receipt(minute % 240));
  const writing = (async () => {
    for (let from = 0; from < minutes.length; from += 70) await ingest(stores.db, ...minutes.slice(from, from + 70));
  })();
  for (let round = 0; round < 4; round += 1) await Promise.all([append(), append()]);
  await writing;
  await Promise.all([append(), append()]);
  expect((await logged()).map(({ receiptId }) => receiptId).toSorted()).toEqual(
    minutes.map(({ receipt: { id } }) => id).toSorted(),
  );
  expect(await marks()).toBe(0);
  await expectProven();
}, 120_000);

test('a receipt that comes while its hour is being logged is logged in the next round', async () => {
  const [first, second] = [receipt(1), receipt(2)];
  await ingest(stores.db, first);
  // Between the last page and the end of the marks.
  const db = new Proxy(stores.db, {
    get: (target, name) => {
      if (name !== '$executeRaw') return Reflect.get(target, name);
      return async (...args: Parameters<typeof target.$executeRaw>) => {
        await ingest(stores.db, second);
        return target.$executeRaw(...args);
      };
    },
  });
  await append(key, db);
  expect(await logged()).toHaveLength(1);
  await append();
  expect((await logged()).map(({ receiptId }) => receiptId)).toEqual([first.receipt.id, second.receipt.id]);
});

test('a later version comes into the log when it is made, and is another entry', async () => {
  const first = receipt(1);
  await ingest(stores.db, first, receipt(2));
  await append();
  await ingest(stores.db, receipt(1, accountId, { id: first.receipt.id, version: 2, supersedes: 1 }));
  await append();
  expect((await logged()).map(({ receiptId, version }) => [receiptId, version])[2]).toEqual([first.receipt.id, 2]);
  expect(await checkpoints()).toHaveLength(2);
  await expectProven();
});

test('a row that was altered is not logged; it is when it is mended', async () => {
  const [altered, other] = [receipt(1), receipt(2)];
  await ingest(stores.db, altered, other);
  const where = `WHERE id = '${altered.receipt.id}'`;
  await stores.tamper(`UPDATE receipts SET energy_wh = energy_wh + 1 ${where}`);
  await append();
  expect((await logged()).map(({ receiptId }) => receiptId)).toEqual([other.receipt.id]);
  expect(await marks()).toBeGreaterThan(0);
  await stores.tamper(`UPDATE receipts SET energy_wh = energy_wh - 1 ${where}`);
  await append();
  expect((await logged()).map(({ receiptId }) => receiptId)).toEqual([other.receipt.id, altered.receipt.id]);
  expect(await marks()).toBe(0);
  await expectProven();
});

test('a checkpoint says before which time the log has all that was stored, and never less than the one before', async () => {
  await ingest(stores.db, receipt(1), receipt(70));
  await append();
  expect(await checkpoints()).toMatchObject([{ complete_until: '2026-11-21T23:00:00.000Z' }]);
  // One that was held up, and an instance whose clock is behind.
  await ingest(stores.db, receipt(3));
  await appendReceipts({
    addresses,
    db: stores.db,
    now: () => new Date('2026-11-20T13:00:00Z'),
    key,
    seals: testSeals,
  });
  expect((await checkpoints()).map(({ complete_until }) => complete_until)).toEqual(
    Array.from({ length: 2 }, () => '2026-11-21T23:00:00.000Z'),
  );
});

test('while hours wait to be logged, a checkpoint says that it is complete up to the first of them', async () => {
  const hours = 130;
  await ingest(stores.db, ...Array.from({ length: hours }, (_, hour) => receipt(-60 * hour)));
  await append();
  const signed = await checkpoints();
  expect(signed.map(({ complete_until, tree_size }) => [tree_size, complete_until])).toEqual([
    [100, new Date(Date.parse(at(-60 * (hours - 1))) + 100 * 3_600_000).toISOString()],
    [hours, '2026-11-21T23:00:00.000Z'],
  ]);
  // One that nobody could log keeps it back, and one whose seal is wrong does not.
  const [failing, altered] = [receipt(-60 * 200), receipt(-60 * 300)];
  await ingest(stores.db, failing, altered, receipt(1), receipt(1, 'acct_other'), receipt(-60 * 200, 'acct_other'));
  await stores.tamper(`UPDATE receipts SET energy_wh = energy_wh + 1 WHERE id = '${altered.receipt.id}'`);
  await append();
  expect((await checkpoints()).at(-1)).toMatchObject({
    tree_size: hours + 2,
    complete_until: '2026-11-21T23:00:00.000Z',
  });
});

test('a death between the entries and their checkpoint leaves it to the next round', async () => {
  await ingest(stores.db, receipt(1), receipt(2));
  await expect(append(dying)).rejects.toThrow('cannot go on');
  expect([await logSize(stores.db, accountId), await marks(), await checkpoints()]).toEqual([2, 1, []]);
  await append();
  expect(await marks()).toBe(0);
  expect(await checkpoints()).toMatchObject([{ tree_size: 2 }]);
  await expectProven();
});

test('a key service that is silent is asked for one account in a round, and a refusal of it for each', async () => {
  let asked = 0;
  const away = (isTemporary: boolean) => ({
    ...key,
    sign: async (): Promise<never> => {
      asked += 1;
      throw new KeyAwayError('Silence.', { isTemporary });
    },
  });
  await ingest(stores.db, ...['acct_a', 'acct_b', 'acct_c'].map((account) => receipt(1, account)));
  await expect(append(away(true))).rejects.toThrow('The logs of 1 accounts cannot go on.');
  expect([asked, await marks()]).toEqual([1, 3]);
  await expect(append(away(false))).rejects.toThrow('The logs of 3 accounts cannot go on.');
  expect(asked).toBe(4);
  await append();
  expect(await marks()).toBe(0);
  for (const account of ['acct_a', 'acct_b', 'acct_c']) await expectProven(account);
});

test.each([
  ['cannot be read', `UPDATE receipt_log_checkpoints SET checkpoint = '{}'::json`],
  ['is gone', 'DELETE FROM receipt_log_checkpoints'],
  ['is another one, signed before', 'DELETE FROM receipt_log_checkpoints WHERE tree_size = 50'],
  [
    'says something else than was signed',
    `UPDATE receipt_log_checkpoints SET checkpoint = replace(checkpoint::text, '"root_hash":"', '"root_hash":"00')::json`,
  ],
  [
    'is signed by a key that is not ours',
    async () => {
      const issued = new Date('2026-11-20T12:00:00Z');
      const root = await rootOf(stores.db, accountId, 40);
      const forged = await signedCheckpoint(
        {
          account: accountId,
          baseUrl: addresses.baseUrl,
          size: 40,
          root,
          hoursRoot: root,
          completeUntil: issued,
          issued,
        },
        signingKeyOf('02'.repeat(32)),
      );
      await stores.tamper('DELETE FROM receipt_log_checkpoints WHERE tree_size > 40');
      await stores.tamper(`UPDATE receipt_log_checkpoints SET checkpoint = '${JSON.stringify(forged)}'::json`);
    },
  ],
])('no other, shorter log is signed, even if the last checkpoint %s', async (_, how) => {
  await ingest(stores.db, ...Array.from({ length: 40 }, (__, minute) => receipt(minute)));
  await append();
  await ingest(stores.db, ...Array.from({ length: 10 }, (__, minute) => receipt(60 + minute)));
  await append();
  await (typeof how === 'string' ? stores.tamper(how) : how());
  const before = await checkpoints();
  // Made anew without one.
  await stores.empty('receipt_log', 'receipt_log_nodes');
  await stores.tamper(`DELETE FROM receipts WHERE created_at = '${at(7)}'`);
  await stores.tamper(
    `INSERT INTO receipt_log_changes (account_id, hour) SELECT DISTINCT account_id, date_trunc('hour', created_at, 'UTC') FROM receipts`,
  );
  await expect(append()).rejects.toThrow('cannot go on');
  expect(await checkpoints()).toEqual(before);
});

test('a log that was cut back to an earlier checkpoint does not go on', async () => {
  await ingest(stores.db, ...Array.from({ length: 40 }, (_, minute) => receipt(minute)));
  await append();
  await ingest(stores.db, ...Array.from({ length: 10 }, (_, minute) => receipt(60 + minute)));
  await append();
  for (const where of ['receipt_log_checkpoints WHERE tree_size = 50', 'receipt_log WHERE index >= 40'])
    await stores.tamper(`DELETE FROM ${where}`);
  await stores.tamper(`DELETE FROM receipts WHERE created_at >= '${at(60)}'`);
  await ingest(stores.db, receipt(130));
  await expect(append()).rejects.toThrow('cannot go on');
  expect(await checkpoints()).toHaveLength(1);
});

test('the log goes on from a checkpoint that a key of before has signed', async () => {
  await ingest(stores.db, receipt(1));
  await append();
  await ingest(stores.db, receipt(2));
  const next = signingKeyOf('02'.repeat(32));
  await expect(append(next)).rejects.toThrow('cannot go on');
  await append({ ...next, former: [key.publicJwk] });
  expect(await checkpoints()).toHaveLength(2);
});

test('an account whose audit chain or log is broken holds up no other, and gets no checkpoint', async () => {
  const accounts = ['acct_chain', 'acct_cut', 'acct_filled', 'acct_gap', 'acct_sound'];
  const all = (minute: number) => accounts.map((name) => receipt(minute, name));
  await ingest(stores.db, ...all(1), ...all(2));
  await append();
  // The next entry of the chain would be one that is there.
  await stores.tamper(`UPDATE audit_heads SET seq = 0, hash = repeat('0', 64) WHERE chain = 'acct_chain'`);
  await stores.tamper(`DELETE FROM receipt_log WHERE account_id = 'acct_cut'`);
  // The entry that comes next takes its place.
  await stores.tamper(`DELETE FROM receipt_log WHERE account_id = 'acct_filled' AND index = 1`);
  await stores.tamper(`DELETE FROM receipt_log WHERE account_id = 'acct_gap' AND index = 0`);
  await stores.tamper(`DELETE FROM receipts WHERE account_id IN ('acct_cut', 'acct_filled', 'acct_gap')`);
  await ingest(stores.db, ...all(3));
  await expect(append()).rejects.toThrow('The logs of 4 accounts cannot go on.');
  for (const name of accounts) expect(await checkpoints(name)).toHaveLength(name === 'acct_sound' ? 2 : 1);
  await expectProven('acct_sound');
});

const hoursOf = async () => {
  const rows = await stores.db.receiptLogHour.findMany({ where: { level: 0 }, orderBy: { place: 'asc' } });
  return rows.map(({ place, ranges }) => [new Date(place * 3_600_000).toISOString().slice(0, 13), ranges]);
};

test('a checkpoint says which entries each hour has, also those that came late and later versions', async () => {
  const first = receipt(1);
  await ingest(stores.db, first, receipt(2), receipt(61));
  await append();
  const { id } = first.receipt;
  // One of an hour that had none, one that is late, and a version 2.
  await ingest(
    stores.db,
    receipt(-200),
    receipt(3),
    entryFrom(callAt(at(1)), { accountId, changes: { id, version: 2, supersedes: 1 } }),
  );
  await append();
  await ingest(stores.db, receipt(62));
  await append();
  expect(await hoursOf()).toEqual([
    ['2026-11-20T06', [[3, 1]]],
    [
      '2026-11-20T10',
      [
        [0, 2],
        [4, 2],
      ],
    ],
    [
      '2026-11-20T11',
      [
        [2, 1],
        [6, 1],
      ],
    ],
  ]);
  expect(await checkpoints()).toHaveLength(3);
  await expectProven();
});

test.each([
  ['altered', `UPDATE receipt_log_hours SET ranges = '[[0,1]]' WHERE level = 0`],
  ['altered with a hash that fits', `UPDATE receipt_log_hours SET hash = sha256('x') WHERE level = 0`],
  ['altered, as is the hash of many', `UPDATE receipt_log_hours SET hash = sha256('x')`],
  ['planted', `INSERT INTO receipt_log_hours VALUES ('${accountId}', 1, 7, sha256('x'), NULL, NULL)`],
  ['gone', 'DELETE FROM receipt_log_hours WHERE level = 0'],
  ['gone altogether', 'DELETE FROM receipt_log_hours'],
])('hours that are %s in the database are never signed: they are made anew from the log', async (_, how) => {
  await ingest(stores.db, receipt(1), receipt(61));
  await append();
  await stores.tamper(how);
  await ingest(stores.db, receipt(2), receipt(62));
  await append();
  expect(await hoursOf()).toEqual([
    [
      '2026-11-20T10',
      [
        [0, 1],
        [2, 1],
      ],
    ],
    [
      '2026-11-20T11',
      [
        [1, 1],
        [3, 1],
      ],
    ],
  ]);
  await expectProven();
});

test('entries of other times than the last checkpoint says are not signed', async () => {
  await ingest(stores.db, receipt(1), receipt(61));
  await append();
  await stores.tamper(`UPDATE receipt_log SET created_at = '${at(121)}' WHERE index = 1`);
  await stores.tamper('DELETE FROM receipt_log_hours');
  await ingest(stores.db, receipt(2));
  await expect(append()).rejects.toThrow('cannot go on');
  expect(await checkpoints()).toHaveLength(1);
});

test('the services cannot change the log, and without an entry there is no proof', async () => {
  await ingest(stores.db, ...Array.from({ length: 40 }, (_, minute) => receipt(minute)));
  await append();
  for (const table of ['receipt_log', 'receipt_log_nodes', 'receipt_log_checkpoints']) {
    await expect(stores.db.$executeRawUnsafe(`DELETE FROM ${table}`)).rejects.toThrow(/permission denied/);
    await expect(stores.db.$executeRawUnsafe(`UPDATE ${table} SET account_id = 'x'`)).rejects.toThrow(
      /permission denied/,
    );
  }
  const root = await rootOf(stores.db, accountId, 40);
  await stores.tamper(`DELETE FROM receipt_log WHERE index = 39`);
  await expect(rootOf(stores.db, accountId, 40)).rejects.toThrow(LogBrokenError);
  await stores.tamper(`UPDATE receipt_log SET leaf_hash = decode(repeat('00', 32), 'hex') WHERE index = 38`);
  expect(await rootOf(stores.db, accountId, 39)).not.toBe(root);
});
