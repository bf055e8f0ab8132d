/** Batches: what the owner of the database does to receipts is named, from the moment of their commit. */
import { readFileSync } from 'node:fs';
import { signingKeyOf } from '@gw/contract/internal/evidence-keys';
import { checkBatchProof } from '@gw/evidence/batch-proof';
import { openDatabase, Prisma } from '@gw/prisma/client';
import { inCheckout } from '@gw/stack/checkout';
import { callAt, type Entry, entryFrom, unattended } from '@gw/testing/control-plane/calls';
import { roundAtOnce, silentLog, startStores } from '@gw/testing/control-plane/fixtures';
import { storeEntries } from '@gw/testing/control-plane/store-entries';
import { forFile } from '@gw/testing/for-file';
import { beforeEach, describe, expect, test } from 'vitest';
import { batchProof, sealOpen, signHeads } from '../log/heads.ts';
import { trustIn } from '../log/sign.ts';
import { pinHeads, pinnedHeads } from '../receipts/batches.ts';
import { refusalOf } from '../receipts/store-batch.ts';
import { checkBatches, checkNewestBatches } from './check-batches.ts';
import { isCheckOverdue } from './faults.ts';
import { readProgress } from './progress.ts';

const stores = forFile(startStores);
const key = signingKeyOf('e1'.repeat(32));
beforeEach(async () => {
  await stores.empty('receipts', 'receipt_replacements', 'receipt_batches', 'receipt_heads', 'integrity_faults');
  await stores.tamper(
    `UPDATE integrity_checks SET claimed_until = NULL, begun_at = NULL, after_id = '', finished_at = NULL, moved_at = NULL`,
  );
  await stores.redis.flushdb();
});

const trust = trustIn(key);
const options = () => ({ ...stores, trust, log: silentLog });
let clock = 0;
const sign = () => signHeads({ ...options(), key, now: () => new Date(Date.now() + clock) });
const round = () => checkBatches({ ...options(), ...roundAtOnce });
const faults = async () =>
  (
    await stores.db.integrityFault.findMany({
      where: { mendedAt: null },
      orderBy: [{ name: 'asc' }, { number: 'asc' }],
    })
  ).map(({ fault, kind, name, number }) => `${kind} ${name} ${number} ${fault}`);
/** First the job of each minute runs, then the round through everything. */
async function found(): Promise<string[]> {
  await checkNewestBatches(options());
  await round();
  return faults();
}
/** Calls of the last hour, which may still be settled. */
const minute = (n: number): Entry => entryFrom(callAt(new Date(Date.now() - n * 60_000).toISOString()));
/** Each list is a batch. */
async function stored(...batches: readonly (readonly Entry[])[]): Promise<void> {
  for (const entries of batches) {
    await storeEntries(stores.db, entries, stores.seals);
  }
}
const three = async () => {
  const entries = Array.from({ length: 6 }, (_, n) => minute(n));
  await stored(entries.slice(0, 2), entries.slice(2, 5), entries.slice(5));
  return entries;
};
const idOf = (entry: Entry | undefined): string => entry?.receipt.id ?? expect.fail();

test('batches that nobody touched are sound: added, settled, made by jobs, signed, and again after that', async () => {
  const [first] = await three();
  await stored([unattended(minute(10), { shown: false })]);
  const late = minute(11);
  await stored([unattended(late, { shown: false })]);
  await stored([late]);
  await sealOpen(options(), 0);
  expect(await found()).toEqual([]);
  const batches = await stores.db.receiptBatch.findMany({ orderBy: { number: 'asc' } });
  expect(batches.map(({ count, kind, number, total }) => [Number(number), kind, count, Number(total)])).toEqual([
    [1, 'added', 2, 2],
    [2, 'added', 3, 5],
    [3, 'added', 1, 6],
    [4, 'added', 1, 7],
    [5, 'added', 1, 8],
    [6, 'settled', 1, 9],
  ]);
  expect(batches.every(({ seal }) => seal !== null)).toBe(true);
  await sign();
  expect(await found()).toEqual([]);
  expect(idOf(first)).toBeTruthy();
});

describe('what the owner does', () => {
  const where = (entry: Entry | undefined) => `WHERE id = '${idOf(entry)}'`;
  type Attack = readonly [
    what: string,
    statements: (entries: readonly Entry[]) => readonly string[],
    expected: RegExp[],
  ];
  const attacks: Attack[] = [
    [
      'a receipt taken out',
      ([, , third]) => [`DELETE FROM receipts ${where(third)}`],
      [/^batch batches 2 1 of its 3 receipts, of .*Z, are missing$/],
    ],
    [
      'a receipt and its batch taken out',
      ([, , , , , last]) => [`DELETE FROM receipts ${where(last)}`, 'DELETE FROM receipt_batches WHERE number = 3'],
      [/^batch heads 3 cut off, or another took its place$/],
    ],
    [
      'the middle batch taken out with its receipts',
      (entries) => [
        `DELETE FROM receipts WHERE id IN (${entries
          .slice(2, 5)
          .map((each) => `'${idOf(each)}'`)
          .join()})`,
        'DELETE FROM receipt_batches WHERE number = 2',
      ],
      [/^batch batches 2 missing$/, /^batch heads 2 cut off/],
    ],
    [
      'a receipt put back outside of any batch',
      ([, , third]) => [`UPDATE receipts SET arrived = 3 ${where(third)}`],
      [/^batch batches 2 1 of its 3 receipts/, /^batch rcpt_\S+ 1 in no batch$/],
    ],
    [
      'a receipt in a place of the future',
      ([, , third]) => [`UPDATE receipts SET arrived = 9e15 ${where(third)}`],
      [/^batch batches 2 1 of its 3 receipts/, /^batch rcpt_\S+ 1 in no batch$/],
    ],
    [
      'a receipt moved into another batch',
      ([, , third]) => [
        `UPDATE receipts SET arrived = (SELECT arrived FROM receipt_batches WHERE number = 1) ${where(third)}`,
      ],
      [/^batch batches 1 1 receipts more than the 2/, /^batch batches 2 1 of its 3 receipts/],
    ],
    [
      'two digests exchanged',
      ([, , third, fourth]) => [
        `UPDATE receipts r SET content_sha256 = o.content_sha256 FROM receipts o
          WHERE (r.id, o.id) IN (('${idOf(third)}', '${idOf(fourth)}'), ('${idOf(fourth)}', '${idOf(third)}'))`,
      ],
      [/^batch batches 2 other receipts or digests than the 3/],
    ],
    [
      'the time of a batch',
      () => [`UPDATE receipt_batches SET at = 'infinity' WHERE number = 2`],
      [/^batch batches 2 altered$/],
    ],
    [
      'the place of a batch',
      () => ['UPDATE receipt_batches SET at = NULL, count = 4 WHERE number = 2'],
      [/^batch batches 2 altered$/],
    ],
    [
      'the seal of a batch',
      () => [`UPDATE receipt_batches SET seal = repeat('0', 64) WHERE number = 2`],
      [/^batch batches 2 forged$/],
    ],
    [
      'a receipt taken out, and its batch and all behind it made anew without seals',
      ([, , third]) => [`DELETE FROM receipts ${where(third)}`, ...remade(2), ...remade(3)],
      [/^batch heads 2 cut off, or another/, /^batch heads 3 cut off, or another/],
    ],
  ];
  /** Makes a batch again from the rows that are there, as the trigger would. */
  const remade = (number: number): string[] => [
    `UPDATE receipt_batches b SET seal = NULL, seal_key = NULL, count = n.count, root_hash = n.root,
      total = n.count + p.total, previous = p.head,
      head = sha256(convert_to(concat_ws(E'\\n', 'gw.batch', b.number, b.kind, (extract(epoch FROM b.at) * 1000)::bigint,
        n.count, n.count + p.total, encode(n.root, 'hex'), encode(p.head, 'hex')), 'UTF8'))
    FROM receipt_batches p, (SELECT arrived, count(*)::int AS count, merkle_root(array_agg(sha256('\\x00'::bytea ||
      convert_to(id || ' ' || version || ' ' || content_sha256, 'UTF8')) ORDER BY id COLLATE "C", version)) AS root
      FROM receipts GROUP BY arrived) n
    WHERE b.number = ${number} AND p.number = ${number - 1} AND n.arrived = b.arrived`,
  ];

  test.each(attacks)('%s is named by the next check', async (_, statements, expected) => {
    const entries = await three();
    await pinAll();
    expect(await found()).toEqual([]);
    for (const statement of statements(entries)) await stores.tamper(statement);
    await sealOpen(options(), 0);
    await checkNewestBatches(options());
    expect(await faults()).not.toEqual([]);
    const names = await found();
    expect(names).toHaveLength(expected.length);
    for (const [at, pattern] of expected.entries()) expect(names[at]).toMatch(pattern);
  });

  test.each(attacks)('%s is named once it is signed, too', async (_, statements) => {
    const entries = await three();
    await pinAll();
    await sign();
    await stores.redis.flushdb();
    for (const statement of statements(entries)) await stores.tamper(statement);
    await sealOpen(options(), 0);
    expect(await found()).not.toEqual([]);
  });

  test('a settled receipt taken out, or put back to what it was, is named', async () => {
    const late = minute(11);
    await stored([unattended(late, { shown: false })]);
    await stored([late]);
    await sealOpen(options(), 0);
    expect(await found()).toEqual([]);
    await stores.tamper(`CREATE TABLE kept AS SELECT * FROM receipts`);
    await stores.tamper(`DELETE FROM receipts ${where(late)}`);
    expect(await found()).toEqual([`batch ${idOf(late)} 1 not as it was settled`]);
    await stores.tamper(`INSERT INTO receipts SELECT * FROM kept`);
    await stores.tamper(`DROP TABLE kept`);
    expect(await found()).toEqual([]);
    await stores.tamper(
      `UPDATE receipts r SET content_sha256 = replaced ->> 'content_sha256' FROM receipt_replacements`,
    );
    expect(await found()).toEqual([`batch ${idOf(late)} 1 not as it was settled`]);
    await stores.tamper(`DELETE FROM receipt_replacements`);
    expect(await found()).toEqual([
      expect.stringMatching(/^batch batches 1 1 of its 1 receipts/),
      expect.stringMatching(/^batch batches 2 1 of its 1 receipts/),
      `batch ${idOf(late)} 1 in no batch`,
    ]);
  });

  test('once the end is cut off and other receipts took its place, the head that was there is still missed', async () => {
    const entries = await three();
    await pinAll();
    await stores.tamper(`DELETE FROM receipts ${where(entries[5])}`);
    await stores.tamper('DELETE FROM receipt_batches WHERE number = 3');
    await stored([minute(20)]);
    await pinAll();
    expect(await found()).toEqual(['batch heads 3 cut off, or another took its place']);
    // A signature meanwhile does not hide it.
    await sign();
    expect(await found()).toEqual(['batch heads 3 cut off, or another took its place']);
  });

  test('an end that was cut off with its signatures is missed by the last head that was signed', async () => {
    const entries = await three();
    await pinAll();
    await sign();
    expect((await pinnedHeads(stores.redis, stores.seals)).map(({ number }) => number)).toEqual([3]);
    await stores.tamper(
      `DELETE FROM receipts WHERE id IN (${entries
        .slice(2)
        .map((each) => `'${idOf(each)}'`)
        .join()})`,
    );
    await stores.tamper('DELETE FROM receipt_batches WHERE number > 1');
    await stores.tamper('DELETE FROM receipt_heads');
    await stored([minute(20)], [minute(21)]);
    await sign();
    expect(await found()).toEqual(['batch heads 3 cut off, or another took its place']);
  });

  test('what is signed is signed once: a chain that does not go on from it gets no signature', async () => {
    await three();
    await sign();
    await stores.tamper('DELETE FROM receipt_batches WHERE number = 3');
    await stored([minute(20)]);
    await expect(sign()).rejects.toThrow('Batch 3 is not what was signed.');
    expect(await found()).toEqual([
      'batch heads 3 signed, and missing or another',
      expect.stringMatching(/^batch rcpt_\S+ 1 in no batch$/),
    ]);
  });

  test('a signed head that nobody had signed stops signing until the owner sets it aside, as the documents say', async () => {
    await three();
    await sign();
    await stored([minute(20)]);
    const page = readFileSync(inCheckout('docs', 'operators.md'), 'utf8');
    const statement = /`(SELECT set_aside_receipt_head\()<number>(\))`/.exec(page)?.slice(1).join('9') ?? expect.fail();
    const { ledger } = stores.databases;
    await ledger.$executeRaw`INSERT INTO receipt_heads (last, first, signed) VALUES (9, 4, '{"head":"made up"}')`;
    await expect(sign()).rejects.toThrow('up to batch 9, is not what was signed');
    expect(await found()).toEqual(['batch heads 9 signed, and missing or another']);
    await expect(ledger.$queryRawUnsafe(statement)).rejects.toThrow('permission denied');
    const owner = openDatabase(stores.postgres.url, { connections: 1 });
    await expect(owner.$executeRaw`DELETE FROM receipt_heads`).rejects.toThrow('append-only');
    expect(await owner.$queryRawUnsafe(statement)).toEqual([{ set_aside_receipt_head: true }]);
    await owner.$disconnect();
    await sign();
    expect(await stores.db.receiptHead.findMany()).toMatchObject([{ last: 3n }, { first: 4n, last: 4n }]);
    expect(await found()).toEqual([]);
    expect(await stores.db.receiptLogSetAside.findMany()).toMatchObject([{ entry: { last: 9, first: 4 } }]);
  });
});

/** Pins the heads in Redis, as the ingester does after each batch. */
async function pinAll(): Promise<void> {
  const all = await stores.db.$queryRaw<{ text: string }[]>(
    Prisma.sql`SELECT concat_ws(' ', number, encode(head, 'hex'), seal, seal_key) AS text FROM receipt_batches WHERE seal IS NOT NULL`,
  );
  await pinHeads(
    stores.redis,
    all.map(({ text }) => text),
  );
}

test('a database that swallows a receipt is named, and the entry is not given up', async () => {
  const [first, second] = [minute(1), minute(2)];
  await stores.tamper(`CREATE FUNCTION swallow() RETURNS TRIGGER LANGUAGE plpgsql AS 'BEGIN RETURN NULL; END'`);
  await stores.tamper(`CREATE TRIGGER swallowed BEFORE INSERT ON receipts FOR EACH ROW
    WHEN (NEW.id = '${idOf(second)}') EXECUTE FUNCTION swallow()`);
  const storing = stored([first, second]);
  await expect(storing).rejects.toThrow('the database does not keep it');
  expect(refusalOf(await storing.catch((error: unknown) => error))).toBe('the database does not keep it');
  expect(await faults()).toEqual([`receipt ${idOf(second)} 1 not kept`]);
  await stores.tamper('DROP FUNCTION swallow CASCADE');
  await stored([first, second]);
  expect(await stores.db.receipt.count()).toBe(2);
});

test('two ingesters at once leave one chain without gaps', async () => {
  const lots = Array.from({ length: 2 }, () =>
    Array.from({ length: 10 }, () => Array.from({ length: 20 }, (_, n) => minute(n % 60))),
  );
  await Promise.all(lots.map((batches) => stored(...batches)));
  const numbers = await stores.db.receiptBatch.findMany({ orderBy: { number: 'asc' } });
  expect(numbers.map(({ number }) => Number(number))).toEqual(Array.from({ length: 20 }, (_, n) => n + 1));
  expect(Number(numbers.at(-1)?.total)).toBe(400);
  expect(await found()).toEqual([]);
});

test('a batch whose maker died before it was sealed is sealed by the next, unless it is not what it was', async () => {
  await three();
  await stores.tamper('UPDATE receipt_batches SET seal = NULL, seal_key = NULL WHERE number > 1');
  await stores.tamper(`DELETE FROM receipts WHERE arrived = (SELECT arrived FROM receipt_batches WHERE number = 3)`);
  await sealOpen(options(), 0);
  const sealed = await stores.db.receiptBatch.findMany({ where: { seal: { not: null } }, orderBy: { number: 'asc' } });
  expect(sealed.map(({ number }) => Number(number))).toEqual([1, 2]);
  expect((await pinnedHeads(stores.redis, stores.seals)).map(({ number }) => number)).toEqual([2]);
  expect(await found()).toEqual([expect.stringMatching(/^batch batches 3 1 of its 1 receipts/)]);
  // It does not hold up the others for ever.
  await sign();
  expect(await stores.db.receiptHead.findMany()).toMatchObject([{ first: 1n, last: 2n }]);
  clock = 120_000;
  await sign();
  clock = 0;
  expect(await stores.db.receiptHead.findMany()).toMatchObject([{ last: 2n }, { first: 3n, last: 3n }]);
  expect(await found()).toHaveLength(1);
});

test('a head that somebody without the key has put into Redis says nothing', async () => {
  await three();
  const forged = ['ab', 'cd'].map((byte) => byte.repeat(32)).join(' ');
  await stores.redis.sadd('{gw:ledger}:heads', `4 ${forged} 1`, `4 ${forged} 99`, '4', 'x y z u v', '');
  expect(await found()).toEqual([]);
  expect(await pinnedHeads(stores.redis, stores.seals)).toEqual([]);
});

test('a batch whose maker died, and that nobody sealed for minutes, is sealed before it is signed', async () => {
  await three();
  await stores.tamper('UPDATE receipt_batches SET seal = NULL, seal_key = NULL WHERE number > 1');
  clock = 120_000;
  await sign();
  clock = 0;
  expect(await stores.db.receiptHead.findMany()).toMatchObject([{ first: 1n, last: 3n }]);
  expect(await stores.db.receiptBatch.count({ where: { seal: null } })).toBe(0);
});

test('a round that is under way tells how far it is and when it ends, and is not overdue while it comes on', async () => {
  await three();
  await sign();
  await stores.tamper(`UPDATE integrity_checks SET begun_at = now() - INTERVAL '10 seconds', checked = 3, moved_at = now(),
    finished_at = now() - INTERVAL '30 days', after_id = (SELECT arrived FROM receipt_batches WHERE number = 2)::text WHERE kind = 'batch'`);
  const { chain, rounds } = await readProgress(stores.db, { archive: 60, batch: 60, receipt: 3600 });
  expect(chain).toMatchObject({ batches: 3, receipts: 6, signed: 3, signed_at: expect.any(String) });
  const round = rounds.find(({ kind }) => kind === 'batch');
  expect(round).toMatchObject({ kind: 'batch', checked: 3, checked_until: expect.any(String) });
  const leftS = (Date.parse(round?.expected_end ?? '') - Date.now()) / 1000;
  expect(leftS).toBeGreaterThan(5);
  expect(leftS).toBeLessThan(15);
  expect(Date.parse(round?.next_begin ?? '') - Date.parse(round?.expected_end ?? '')).toBe(60_000);
  expect(await isCheckOverdue(stores.db, 60)).toBe(false);
  await stores.tamper(`UPDATE integrity_checks SET moved_at = now() - INTERVAL '10 minutes' WHERE kind = 'batch'`);
  expect(await isCheckOverdue(stores.db, 60)).toBe(true);
});

test('a receipt is proven to whoever has it, before it is in the log, and nothing else is', async () => {
  const entries = await three();
  await stored([unattended(minute(11), { shown: true })]);
  const of = async (entry: Entry | undefined, version = 1) => {
    const { accountId, receipt } = entry ?? expect.fail();
    return batchProof(stores, { accountId, id: receipt.id, version });
  };
  const trust = { keys: [key.publicJwk] };
  const before = await of(entries[3]);
  expect(await checkBatchProof({ ...entries[3]?.receipt }, before, trust)).toMatchObject({ number: 2, signed: null });
  await sign();
  for (const entry of entries)
    expect(await checkBatchProof({ ...entry.receipt }, await of(entry), trust)).toMatchObject({ signature: 'trusted' });
  const proof = (await of(entries[3])) ?? expect.fail();
  expect(JSON.stringify(proof).length).toBeLessThan(2000);
  expect(await checkBatchProof({ ...entries[3]?.receipt, carbon_g: 0 }, proof, trust)).toEqual(expect.any(String));
  for (const name of ['number', 'kind', 'at', 'count', 'total', 'previous', 'rest_sha256', 'index', 'path', 'replaces'])
    expect(
      await checkBatchProof(
        { ...entries[3]?.receipt },
        { ...proof, [name]: proof[name as 'path'] === null ? 'a'.repeat(64) : null },
        trust,
      ),
      name,
    ).toEqual(expect.any(String));
  expect(await of(minute(40))).toBeNull();
  await stores.tamper(`DELETE FROM receipts WHERE id = '${idOf(entries[2])}'`);
  await expect(of(entries[3])).rejects.toThrow('Batch 2 does not have the receipts that came with it.');
});

test('a proof of a receipt that was settled is of what it is now', async () => {
  const late = minute(11);
  await stored([unattended(late, { shown: false })], [late]);
  await sealOpen(options(), 0);
  await sign();
  const proof = await batchProof(stores, { accountId: late.accountId, id: idOf(late), version: 1 });
  expect(proof).toMatchObject({ kind: 'settled', replaces: expect.stringMatching(/^[0-9a-f]{64}$/) });
  expect(await checkBatchProof({ ...late.receipt }, proof, { keys: [key.publicJwk] })).toMatchObject({
    signature: 'trusted',
  });
});
