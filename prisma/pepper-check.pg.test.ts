import { randomBytes } from 'node:crypto';
import { forFile } from '@gw/testing/for-file';
import { createDatabase } from '@gw/testing/prisma/postgres';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { type Database, openDatabase } from './client.ts';
import { expectPepper, notePepper, pepperFit } from './pepper-check.ts';
import { openStatements } from './statements.ts';

const postgres = forFile(() => createDatabase('seeded'));
/** With which the demo keys were hashed. */
const right = { version: 1, secret: Buffer.alloc(32, 7) };
const wrong = { version: 1, secret: randomBytes(32) };
let db: Database;
beforeAll(() => {
  db = openDatabase(postgres.as('customers'));
});
afterAll(() => db?.$disconnect());

test('a pepper is known again by all parts that hash keys, and another one is not let near a key', async () => {
  const authz = openStatements(postgres.as('ext_authz'), { connections: 1 });
  for (const each of [db, authz]) {
    expect(await pepperFit(each, right)).toBe('fits');
    expect(await pepperFit(each, wrong)).toBe('does_not_fit');
    expect(await pepperFit(each, { ...right, version: 2 })).toBe('nothing_to_compare');
  }
  await authz.close();
  await expectPepper(db, right);
  await expect(expectPepper(db, wrong)).rejects.toThrow('GW_KEY_PEPPER is not the pepper of version 1');
  await notePepper(db, { ...wrong, version: 2 });
  expect(await pepperFit(db, { ...right, version: 2 })).toBe('does_not_fit');
});

test('where the digest was lost nothing is taken for the right pepper while there are keys', async () => {
  const owner = openDatabase(postgres.url, { connections: 1 });
  await owner.$executeRaw`DELETE FROM pepper_checks`;
  await owner.$disconnect();
  await expectPepper(db, wrong);
  expect(await pepperFit(db, wrong)).toBe('nothing_to_compare');
});
