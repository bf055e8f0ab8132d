/** Facts of receipts whose parts lie in a table of their own: stored once, read whole, and never read altered. */
import { canonicalText } from '@gw/contract/internal/ledger-entry';
import { assess } from '@gw/methodology/assess';
import { cases } from '@gw/testing/cases';
import { callAt, entryFrom, factsOf, ingest, modelOf, versionsOf } from '@gw/testing/control-plane/calls';
import { entryOf, type Stores, startStores, testSeals } from '@gw/testing/control-plane/fixtures';
import {
  called,
  emptyLedger,
  estimate,
  newestVersion,
  nine,
  restate,
  settles,
} from '@gw/testing/control-plane/restatements';
import fc from 'fast-check';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { supersede } from './supersede.ts';

let stores: Stores;
beforeAll(async () => {
  stores = await startStores();
}, 120_000);
afterAll(() => stores?.stop());
beforeEach(async () => {
  await emptyLedger(stores);
  await stores.empty('facts_parts');
});

const at = '2026-11-21T09:10:00Z';
const partCount = () => stores.db.factsPart.count();
const factsOfOne = async (id: string) => (await versionsOf(stores.db, id)).at(-1)?.facts;

test('a part is looked for by its digest, and not in all that there are', async () => {
  await stores.db.$executeRaw`
    INSERT INTO facts_parts (sha256, content)
    SELECT encode(sha256(convert_to(n::text, 'UTF8')), 'hex'), n::text::json FROM generate_series(1, 50) n`;
  const read = await stores.db.$transaction(async (tx) => {
    await tx.$executeRaw`SET LOCAL enable_seqscan = off`;
    await tx.$queryRaw`
      SELECT facts_part(json_build_object('parts', json_build_object('grid', encode(sha256('7'), 'hex'))), 'grid')`;
    return tx.$queryRaw<unknown[]>`
      SELECT (seq_tup_read + idx_tup_fetch)::int AS rows FROM pg_stat_xact_user_tables WHERE relname = 'facts_parts'`;
  });
  expect(read).toEqual([{ rows: 1 }]);
});

test('facts of any kind come back from Postgres as the same JSON value', async () => {
  const value = fc.jsonValue({ maxDepth: 3, stringUnit: 'grapheme' });
  const names = fc.constantFrom('model', 'site', 'grid', 'parts', 'usage', 'revision');
  await fc.assert(
    fc.asyncProperty(fc.array(fc.dictionary(names, value), { minLength: 1, maxLength: 8 }), async (all) => {
      const entries = all.map((facts) => ({ ...entryOf(), facts }));
      await ingest(stores.db, ...entries);
      for (const { facts, receipt } of entries)
        expect(canonicalText(await factsOfOne(receipt.id))).toBe(canonicalText(JSON.parse(JSON.stringify(facts))));
    }),
    { numRuns: cases(300, 20) },
  );
}, 120_000);

test('what a thousand calls have in common is stored once, and no row holds it', async () => {
  await ingest(stores.db, ...Array.from({ length: 1000 }, () => entryFrom(callAt(at))));
  expect(await partCount()).toBe(3);
  await ingest(stores.db, entryFrom(callAt(at)), entryFrom(callAt(at, { model: modelOf({ id: 'other' }) })));
  expect(await partCount()).toBe(4);
  const rows = await stores.db.$queryRaw<{ facts: string }[]>`SELECT facts::text AS facts FROM receipts`;
  expect(rows.filter(({ facts }) => /activeParametersB|wueOnsite|gPerKwh/.test(facts))).toEqual([]);
});

test('a version that is made later has its own parts, those of the version before stay', async () => {
  const entry = entryFrom(callAt(at));
  await ingest(stores.db, entry);
  const facts = callAt(at, { model: modelOf({ activeParametersB: { min: 7, max: 7 } }) });
  const assessment = assess(facts);
  if (!assessment.ok) throw new Error(assessment.reason);
  await supersede(stores.db, [{ current: entry.receipt, numbers: assessment.impact, facts }], testSeals);
  const [first, second] = await versionsOf(stores.db, entry.receipt.id);
  expect([first?.facts, second?.facts]).toEqual([entry.facts, JSON.parse(JSON.stringify(facts))]);
  expect(await partCount()).toBe(4);
});

test('facts that come after their receipt are stored apart, too', async () => {
  const entry = entryFrom(callAt(new Date().toISOString()));
  await ingest(stores.db, { ...entry, facts: null });
  expect(await partCount()).toBe(0);
  await ingest(stores.db, entry);
  expect(await factsOfOne(entry.receipt.id)).toEqual(entry.facts);
  expect(await partCount()).toBe(3);
});

test('a part cannot be stored under another digest than its own, nor changed or taken out', async () => {
  await ingest(stores.db, entryFrom(callAt(at)));
  const { db, tamper } = stores;
  await expect(db.$executeRaw`INSERT INTO facts_parts VALUES (${'0'.repeat(64)}, '{}')`).rejects.toThrow(
    'content_check',
  );
  await expect(tamper(`UPDATE facts_parts SET content = '{}'`)).rejects.toThrow('content_check');
  await expect(db.$executeRaw`UPDATE facts_parts SET first_seen_at = now()`).rejects.toThrow('permission denied');
  await expect(db.$executeRaw`DELETE FROM facts_parts`).rejects.toThrow('permission denied');
});

const withoutCheck = async (statement: string): Promise<void> => {
  await stores.tamper('ALTER TABLE facts_parts DROP CONSTRAINT IF EXISTS facts_parts_content_check');
  await stores.tamper(statement);
};
const faults = async () => (await stores.db.integrityFault.findMany()).map(({ fault, name }) => [name, fault]);

describe('a part that somebody', () => {
  const ofAltered = `content ->> 'gPerKwh' = '41'`;
  test.each([
    ['altered', `UPDATE facts_parts SET content = '{"gPerKwh":60}' WHERE ${ofAltered}`],
    ['altered to half a character', `UPDATE facts_parts SET content = '{"source":"\\ud800"}' WHERE ${ofAltered}`],
    ['altered to null', `UPDATE facts_parts SET content = 'null' WHERE ${ofAltered}`],
    ['took out', `DELETE FROM facts_parts WHERE ${ofAltered}`],
  ])('%s makes no version of a receipt that names it, and holds up no other one', async (_, statement) => {
    const [named, other] = [
      await called(stores, estimate(nine, { gPerKwh: 41 })),
      await called(stores, estimate(nine)),
    ];
    const digest = (await stores.db.factsPart.findMany()).find(
      ({ content }) => Reflect.get(Object(content), 'gPerKwh') === 41,
    );
    await stores.empty('integrity_faults');
    await withoutCheck(statement);
    await settles(stores, nine, 60);
    expect(await restate(stores.db, undefined, false, stores.seals)).toBe(1);
    expect((await newestVersion(stores.db, other.receipt.id)).receipt.version).toBe(2);
    expect(await stores.db.receipt.count({ where: { id: named.receipt.id } })).toBe(1);
    expect(await faults()).toEqual([[digest?.sha256, statement.startsWith('DELETE') ? 'missing' : 'altered']]);
  });

  test('took out is there again with the next call that has it', async () => {
    const [first, second] = [entryFrom(callAt(at)), entryFrom(callAt(at))];
    await ingest(stores.db, first);
    await stores.tamper('DELETE FROM facts_parts');
    await expect(factsOfOne(first.receipt.id)).rejects.toThrow('facts missing');
    await ingest(stores.db, second);
    expect(await factsOfOne(first.receipt.id)).toEqual(first.facts);
  });
});

test('names of parts that are none, in a row that has no seal, are an answer and no error', async () => {
  const odd: unknown[] = [{ parts: { model: 5, grid: '\u0000', site: null } }, { parts: [] }, { parts: 1 }];
  await expect(factsOf(stores.db, [{ facts: JSON.stringify(odd[0]) }])).rejects.toThrow('facts missing');
  expect(
    await factsOf(
      stores.db,
      odd.slice(1).map((facts) => ({ facts: JSON.stringify(facts) })),
    ),
  ).toEqual(odd.slice(1));
});
