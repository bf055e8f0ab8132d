/** Lines as Postgres reads them. */
import { type CopyStatement, type Database, DatabaseError, openDatabase, runOverCopy } from '@gw/prisma/client';
import { cases } from '@gw/testing/cases';
import { forFile } from '@gw/testing/for-file';
import { createDatabase } from '@gw/testing/prisma/postgres';
import fc from 'fast-check';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { CopyLines } from './copy-lines.ts';

const postgres = forFile(() => createDatabase('empty'));
let db: Database;
beforeAll(() => {
  db = openDatabase(postgres.url, { connections: 1 });
});
afterAll(async () => {
  await db?.$disconnect();
});

/** Gives back what was copied. */
const copied: CopyStatement = {
  table: `CREATE TEMPORARY TABLE IF NOT EXISTS copied (n int PRIMARY KEY, text text, flag boolean, number float8, json json)
    ON COMMIT DELETE ROWS`,
  copy: 'COPY copied (n, text, flag, number, json) FROM STDIN',
  statement: 'SELECT n, text, flag, number, json::text AS json FROM copied',
};
const read = async (text: Buffer) =>
  (await runOverCopy<[{ n: number; text: string; number: number }[]]>(db, copied, text))[0];

/** Among them what COPY gives a meaning to, but for NUL, which no text of Postgres has. */
const texts = fc
  .array(fc.oneof(fc.constantFrom('\\', '\t', '\n', '\r', '\\N', '\\.', '', '\b'), fc.string({ unit: 'grapheme' })), {
    maxLength: 8,
  })
  .map((parts) => parts.join('').replaceAll('\0', ''));
const rows = fc.array(
  fc.record({
    text: fc.option(texts),
    flag: fc.option(fc.boolean()),
    // JSON has no other zero.
    number: fc.option(fc.double({ noNaN: true }).map((number) => number + 0)),
    // A forged one has white space.
    json: fc.option(
      fc.dictionary(texts, texts).map((value) => JSON.stringify(value, null, value.tab === undefined ? 0 : '\t')),
    ),
  }),
  { maxLength: 20 },
);

test('what is copied is what is read, whatever it is, in the order that is asked for', async () => {
  const lines = new CopyLines();
  await fc.assert(
    fc.asyncProperty(rows, async (all) => {
      lines.clear();
      const added = all.map(({ flag, json, number, text }, n) => lines.add([n, text, flag, number, json]));
      const expected = all.map((row, n) => ({ n, ...row }));
      expect(await read(lines.together(added.toReversed()))).toEqual(expected.toReversed());
    }),
    { numRuns: cases(1000, 50) },
  );
}, 120_000);

test('lines that need more memory than there is are what they were', async () => {
  const lines = new CopyLines();
  const large = 'ö'.repeat(700_000);
  for (let batch = 0; batch < 3; batch += 1) {
    lines.clear();
    const added = Array.from({ length: 8 }, (_, n) => lines.add([n, `${n}${large}`, true, batch, null]));
    const found = await read(lines.together(added));
    expect(found.map(({ n, number, text }) => [n, number, text === `${n}${large}`])).toEqual(
      added.map((_, n) => [n, batch, true]),
    );
  }
});

test('lines that are refused say so, and the next ones are read', async () => {
  const lines = new CopyLines();
  const twice = [lines.add([1, 'x'.repeat(2_000_000), true, 1, null]), lines.add([1, 'one', true, 1, null])];
  const refused = await read(lines.together([...twice, ...twice])).catch((error: unknown) => error);
  expect(refused).toBeInstanceOf(DatabaseError);
  expect(refused).toMatchObject({ code: '23505' });
  lines.clear();
  expect(await read(lines.together([lines.add([2, 'two', true, 1, null])]))).toMatchObject([{ n: 2, text: 'two' }]);
});
