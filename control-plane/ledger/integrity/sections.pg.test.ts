/** Days that are over are compared by the digests of their sections, and whatever the owner alters in them is still named. */
import type { Prisma } from '@gw/prisma/client';
import { callAt, type Entry, entryFrom, hourly, ingest } from '@gw/testing/control-plane/calls';
import { roundAtOnce, silentLog, startStores } from '@gw/testing/control-plane/fixtures';
import { forFile } from '@gw/testing/for-file';
import { beforeAll, beforeEach, expect, test } from 'vitest';
import { checkBatches } from './check-batches.ts';
import { checkAll } from './check-receipts.ts';
import { readProgress } from './progress.ts';
import { isUnchanged, nextSection, rowDigest, stateOf } from './sections.ts';

const stores = forFile(startStores);
beforeAll(async () => {
  for (const table of ['facts_parts', 'receipt_dictionaries'])
    await stores.tamper(`ALTER TABLE ${table} DROP CONSTRAINT ${table}_content_check`);
});
beforeEach(async () => {
  const tables = ['receipts', 'receipt_batches', 'receipt_sections', 'integrity_faults', 'facts_parts'];
  await stores.empty(...tables);
  await stores.tamper(
    `UPDATE integrity_checks SET claimed_until = NULL, begun_at = NULL, after_id = '', after_version = 0, finished_at = NULL`,
  );
});

/** So many months ago, at the second given of its tenth day. */
function timeAgo(months: number, second: number): string {
  const now = new Date();
  return new Date(Date.UTC(now.getUTCFullYear(), now.getUTCMonth() - months, 10, 9, 0, second)).toISOString();
}

const callIn = (months: number, second: number): Entry => {
  const at = timeAgo(months, second);
  return entryFrom(callAt(at, { grid: hourly(at.replace(/:\d\d:.*/, ':00:00.000Z'), { gPerKwh: 40 + months }) }));
};

/** Six receipts of each of two days that are over, and two of today. */
async function storeDays(): Promise<readonly Entry[]> {
  const past = [4, 3].flatMap((months) => Array.from({ length: 6 }, (_, second) => callIn(months, second)));
  const now = Array.from({ length: 2 }, () => entryFrom(callAt(new Date().toISOString())));
  await ingest(stores.db, ...past, ...now);
  return past;
}

/** One round. Returns how many rows were read one by one. */
async function round(isReadAnew = false, { db } = stores): Promise<number> {
  let read = 0;
  const seals: typeof stores.seals = {
    ...stores.seals,
    check: (rows) => {
      read += rows.length;
      return stores.seals.check(rows);
    },
  };
  await checkAll({ db, log: silentLog, seals, ...roundAtOnce }, () => isReadAnew);
  return read;
}
const faults = async () =>
  (await stores.db.integrityFault.findMany({ where: { mendedAt: null } })).map(
    ({ fault, kind, name, number }) => `${kind} ${name} ${number} ${fault}`,
  );
const sections = () => stores.db.receiptSection.findMany({ orderBy: { afterId: 'asc' } });
const idOf = (entry: Entry | undefined): string => String(entry?.receipt.id);

test('the first round seals the days that are over, and the next ones read what is newer', async () => {
  await storeDays();
  expect(await round()).toBe(14);
  const days = [4, 3].map((each) => timeAgo(each, 0).slice(0, 10));
  expect(await sections()).toMatchObject(days.map((day) => ({ day, rows: 6 })));
  expect(await round()).toBe(2);
  const { sealed } = await readProgress(stores.db, { archive: 60, batch: 60, receipt: 3600 });
  expect(sealed).toEqual({ receipts: 12, sections: 2, until: days[1] });
  // Some of them are read anew all the same.
  expect(await round(true)).toBe(14);
  expect(await sections()).toMatchObject(days.map((day) => ({ day, rows: 6 })));
  expect(await faults()).toEqual([]);
});

const ways: Readonly<Record<string, (where: string) => string>> = {
  'a number': (where) => `UPDATE receipts SET carbon_g = carbon_g / 2 ${where}`,
  'what was compressed': (where) =>
    `UPDATE receipts SET compressed = set_byte(compressed, 60, 255 - get_byte(compressed, 60)) ${where}`,
  'its digest': (where) => `UPDATE receipts SET content_sha256 = repeat('a', 64) ${where}`,
  'its seal': (where) => `UPDATE receipts SET seal = repeat('a', 64) ${where}`,
  'its place in the order of arrival': (where) => `UPDATE receipts SET arrived = 3 ${where}`,
  'that it was shown': (where) => `UPDATE receipts SET shown = NOT shown ${where}`,
  'its month': (where) => `UPDATE receipts SET created_at = created_at + INTERVAL '1 month' ${where}`,
  'that it is there': (where) => `DELETE FROM receipts ${where}`,
  'a copy under another id': (where) => `INSERT INTO receipts
    SELECT (json_populate_record(r, json_build_object('id', left(id, -4) || 'ffff'))).* FROM receipts r ${where}`,
};

test('a section is over every column of its receipts', async () => {
  const columns = await stores.db.$queryRaw<{ column_name: string }[]>`
    SELECT column_name::text AS column_name FROM information_schema.columns WHERE table_name = 'receipts' ORDER BY 1`;
  const digested = rowDigest.sql.match(/(?<=\br\.)\w+/g)?.sort();
  expect(digested).toEqual(columns.map(({ column_name }) => column_name).sort());
});

test('whatever is altered in a sealed day changes its section, and the next round names it', async () => {
  const past = await storeDays();
  const where = `WHERE id = '${idOf(past[2])}'`;
  await round();
  await stores.tamper('CREATE TABLE kept_receipts AS TABLE receipts');
  const section = (await nextSection(stores.db, { id: '', version: 0 })) ?? expect.fail();
  for (const [name, change] of Object.entries(ways)) {
    expect(await isUnchanged(stores, section), name).toBe(true);
    await stores.tamper(change(where));
    expect(await isUnchanged(stores, section), name).toBe(false);
    // From a backup.
    await stores.empty('receipts');
    await stores.tamper('INSERT INTO receipts SELECT * FROM kept_receipts');
  }
  await stores.tamper(String(ways['a number']?.(where)));
  expect(await round()).toBe(8);
  expect(await faults()).toEqual([`receipt ${idOf(past[2])} 1 altered`]);
});

test('a row that was taken out has its section read anew, and the batches miss it, also if the section is taken back to before', async () => {
  await storeDays();
  const { db, objects, redis, seals, tamper } = stores;
  const first = callIn(4, 2);
  await round();
  const before = await sections();
  await ingest(db, first);
  // It has come into a day that was sealed.
  expect(await round()).toBe(9);
  expect(await sections()).toMatchObject([{ rows: 7 }, { rows: 6 }]);

  await tamper(`DELETE FROM receipts WHERE id = '${idOf(first)}'`);
  await stores.empty('receipt_sections');
  await db.receiptSection.createMany({ data: before });
  expect(await round()).toBe(2);
  await checkBatches({ db, log: silentLog, objects, redis, seals, trust: {}, ...roundAtOnce });
  expect(await faults()).toEqual([expect.stringMatching(/^batch batches 2 1 of its 1 receipts, of .* missing$/)]);
});

test('what the rows of a sealed day name is found too where it was altered or deleted', async () => {
  await storeDays();
  await round();
  const [part] = await stores.db.$queryRaw<{ sha256: string; content: string }[]>`
    SELECT sha256, content::text AS content FROM facts_parts WHERE content ->> 'gPerKwh' = '43'`;
  const { content, sha256 } = part ?? expect.fail();
  const set = (text: string) => stores.tamper(`UPDATE facts_parts SET content = '${text}' WHERE sha256 = '${sha256}'`);
  await set('{"gPerKwh":1}');
  await round();
  expect(await faults()).toEqual([`receipt ${sha256} 0 altered`]);
  await set(content);
  // Its section was not replaced, since nothing that is faulty is sealed.
  expect(await round()).toBe(2);
  expect(await faults()).toEqual([]);
  await stores.tamper(`DELETE FROM facts_parts WHERE sha256 = '${sha256}'`);
  const dictionaries = await stores.db.receiptDictionary.findMany();
  await stores.empty('receipt_dictionaries');
  expect(dictionaries).not.toEqual([]);
  await round();
  expect(await faults()).toHaveLength(14);
  expect((await faults())[0]).toMatch(/no dictionary$/);
  await stores.db.receiptDictionary.createMany({ data: dictionaries });
  await round();
  expect(await faults()).toEqual([`receipt ${sha256} 0 missing`]);
});

test('a part is not taken to be there because its text stands among the dictionaries', async () => {
  await storeDays();
  await round();
  const [part] = await stores.db.$queryRaw<{ sha256: string }[]>`
    INSERT INTO receipt_dictionaries (sha256, shape, content)
    SELECT sha256, 'none', content::text FROM facts_parts WHERE content ->> 'gPerKwh' = '43' RETURNING sha256`;
  await stores.tamper(`DELETE FROM facts_parts WHERE sha256 = '${part?.sha256}'`);
  await round();
  expect(await faults()).toEqual([`receipt ${part?.sha256} 0 missing`]);
});

test('what a section names is looked for by its digest, and not in all that there is', async () => {
  await storeDays();
  await round();
  const section = (await nextSection(stores.db, { id: '', version: 0 })) ?? expect.fail();
  const state = stateOf(section);
  const plan = await stores.db.$transaction(async (tx) => {
    await tx.$executeRaw`SET LOCAL enable_seqscan = off`;
    return tx.$queryRaw<unknown[]>`EXPLAIN ${state}`;
  });
  expect(section.parts).not.toEqual([]);
  expect(section.dictionaries).not.toEqual([]);
  expect(JSON.stringify(plan).match(/Index Cond: \(sha256 = ANY/g)).toHaveLength(2);
});

test('a database that does not answer for a whole section has its rows read page by page', async () => {
  await storeDays();
  await round();
  let refused = 0;
  // The first look for what the logs have and the ledger lacks is the one through a section.
  const db = new Proxy(stores.db, {
    get: (target, name) =>
      name !== '$queryRaw'
        ? Reflect.get(target, name)
        : (query: TemplateStringsArray | Prisma.Sql, ...values: unknown[]) => {
            const text = 'sql' in query ? query.sql : query.join();
            if (!text.includes('FROM receipt_log l') || refused > 0) return target.$queryRaw(query, ...values);
            refused += 1;
            return Promise.reject(new Error('canceling statement due to statement timeout'));
          },
  });
  expect(await round(false, { ...stores, db })).toBe(8);
  expect(refused).toBe(1);
});

test('a section that was altered says nothing: its rows are read, and sealed again', async () => {
  const past = await storeDays();
  await round();
  await stores.tamper(`UPDATE receipts SET carbon_g = carbon_g / 2 WHERE id = '${idOf(past[3])}'`);
  const kept = await sections();
  for (const change of [
    `digest = repeat('a', 64)`,
    `seal = repeat('a', 64)`,
    `to_id = '', to_version = 0`,
    `to_id = 'z'`,
  ]) {
    await stores.empty('receipt_sections', 'integrity_faults');
    await stores.db.receiptSection.createMany({ data: kept });
    await stores.tamper(`UPDATE receipt_sections SET ${change}`);
    await round();
    expect(await faults(), change).toEqual([`receipt ${idOf(past[3])} 1 altered`]);
  }
});

test('what comes behind the sections of a day, and what has left them, is taken up by the next round', async () => {
  const past = await storeDays();
  await round();
  await ingest(stores.db, callIn(4, 3000));
  // It stands in front of those of the next day, which ends where it did.
  expect(await round()).toBe(9);
  expect((await sections()).map(({ rows }) => rows)).toEqual([6, 1, 6]);
  await stores.tamper(`DELETE FROM receipts WHERE id < '${idOf(past[6])}'`);
  await stores.empty('receipt_batches');
  await round();
  expect((await sections()).map(({ rows }) => rows)).toEqual([6]);
  expect(await round()).toBe(2);
});
