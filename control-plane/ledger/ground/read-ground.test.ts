import { type Database, openDatabase, Prisma } from '@gw/prisma/client';
import { expect, test } from 'vitest';
import { readGround } from './read-ground.ts';

const found = { heartbeat: 1, server: '', timeline: '' };

/** The first statement, which asks for the name of the server, fails; the second one succeeds. */
function failingOnce(originalCode: string) {
  let asked = 0;
  const driverAdapterError = { cause: { kind: 'postgres', originalCode } };
  const error = new Prisma.PrismaClientKnownRequestError('failed', {
    code: 'P2010',
    clientVersion: '1',
    meta: { driverAdapterError },
  });
  const db = { $queryRaw: async () => (asked++ === 0 ? Promise.reject(error) : [found]) };
  return { db: db as unknown as Database, asked: () => asked };
}

test.each(['42501', '42883', '0A000', '55000'])(
  'a server that may not tell its name is read without: %s',
  async (code) => {
    const { db } = failingOnce(code);
    expect(await readGround(db, null)).toEqual(found);
  },
);

test.each(['57014', '57P01', '08006', '53300', '40001'])(
  'a server that is cut off, or is slow, is not taken for one without a name: %s',
  async (code) => {
    const { asked, db } = failingOnce(code);
    await expect(readGround(db, null)).rejects.toThrow('failed');
    expect(asked()).toBe(1);
  },
);

test('nor is one that is away', async () => {
  const db = openDatabase('postgresql://gw@127.0.0.1:1/gw');
  await expect(readGround(db, null)).rejects.toThrow();
  await db.$disconnect();
});
