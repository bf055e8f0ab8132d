/** Lines as Postgres reads them. */
import { copyText, type Database, DatabaseError, openDatabase } from '@gw/prisma/client';
import { cases } from '@gw/testing/cases';
import { createDatabase, type TestDatabase } from '@gw/testing/prisma/postgres';
import fc from 'fast-check';
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest';
import { CopyLines } from './copy-lines.ts';

let postgres: TestDatabase;
let db: Database;
beforeAll(async () => {
  postgres = await createDatabase('empty');
  db = openDatabase(postgres.url, { connections: 2 });
  await db.$executeRaw`CREATE TABLE copied (n int PRIMARY KEY, text text, flag boolean, number float8, json json)`;
}, 60_000);
afterAll(async () => {
  await db?.$disconnect();
  await postgres?.stop();
});
beforeEach(() => db.$executeRaw`TRUNCATE copied`);

const copying = 'COPY copied (n, text, flag, number, json) FROM STDIN';
const stored = () =>
  db.$queryRaw<{ n: number }[]>`SELECT n, text, flag, number, json::text AS json FROM copied ORDER BY n`;

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
    json: fc.option(fc.dictionary(texts, texts).map((value) => JSON.stringify(value))),
  }),
  { maxLength: 20 },
);

test('what is copied is what is read, whatever it is', async () => {
  const lines = new CopyLines();
  await fc.assert(
    fc.asyncProperty(rows, async (all) => {
      await db.$executeRaw`TRUNCATE copied`;
      lines.clear();
      const added = all.map(({ flag, json, number, text }, n) =>
        lines.add([n, text, flag, number, json === null ? null : { json }]),
      );
      // The order is that of the lines that are asked for.
      await copyText(db, copying, lines.together(added.toReversed()));
      expect(await stored()).toEqual(all.map((row, n) => ({ n, ...row })));
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
    await copyText(db, copying, lines.together(added));
    const found = await db.$queryRaw<{ n: number }[]>`
      SELECT n FROM copied WHERE text = n || ${large} AND number = ${batch}::int ORDER BY n`;
    expect(found.map(({ n }) => n)).toEqual(added.map((_, n) => n));
    await db.$executeRaw`TRUNCATE copied`;
  }
});

test('of lines of which one is refused none is stored, and the connection goes on', async () => {
  const lines = new CopyLines();
  const [one, two] = [lines.add([1, 'one', true, 1, null]), lines.add([2, 'two', true, 1, null])];
  await copyText(db, copying, lines.together([two]));
  const refused = await copyText(db, copying, lines.together([one, two])).catch((error: unknown) => error);
  expect(refused).toBeInstanceOf(DatabaseError);
  expect(refused).toMatchObject({ code: '23505' });
  await copyText(db, copying, lines.together([one]));
  expect((await stored()).map(({ n }) => n)).toEqual([1, 2]);
});
