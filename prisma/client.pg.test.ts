import { afterAll, beforeAll, expect, test } from 'vitest';
import { openDatabase } from './client.ts';
import { startTestPostgres, type TestPostgres } from './postgres-for-tests.ts';

let postgres: TestPostgres;
beforeAll(async () => {
  postgres = await startTestPostgres();
}, 60_000);
afterAll(() => postgres?.stop());

test('a query that takes too long fails, and the next one gets an answer', async () => {
  const db = openDatabase(postgres.url, { connections: 1, queryTimeoutMs: 200, onConnectionLost: () => {} });
  await expect(db.$queryRaw`SELECT 1 FROM pg_sleep(20)`).rejects.toThrow();
  expect(await db.$queryRaw`SELECT 2 AS two`).toEqual([{ two: 2 }]);
  await db.$disconnect();
});
