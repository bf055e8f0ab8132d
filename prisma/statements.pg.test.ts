/** Statements read the same through Prisma's client and without it. */
import { forFile } from '@gw/testing/for-file';
import { createDatabase } from '@gw/testing/prisma/postgres';
import { openWay } from '@gw/testing/prisma/way';
import pg from 'pg';
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest';
import { openDatabase } from './client.ts';
import { allPublicIds, findKey, keyChanges, keyGeneration, renewKeyHash } from './find-key.ts';
import { openStatements, type Statements } from './statements.ts';

const postgres = forFile(() => createDatabase('seeded'));
let owner: pg.Client;
beforeAll(async () => {
  owner = new pg.Client({ connectionString: postgres.url });
  await owner.connect();
});
afterAll(async () => {
  await owner?.end();
});

const stops: (() => Promise<unknown>)[] = [];
afterEach(async () => {
  for (const stop of stops.splice(0)) await stop();
});

const openBare = (options = {}, url = postgres.serviceUrl) => {
  const statements = openStatements(url, { connections: 1, ...options });
  stops.push(() => statements.close());
  return statements;
};
const openPrismas = (url = postgres.serviceUrl) => {
  const client = openDatabase(url, { connections: 1 });
  stops.push(() => client.$disconnect());
  return client;
};

const expiresAt = new Date('2999-01-02T01:04:05.678Z');

/** One that uses each column which a key is read from, with an account of its own. */
async function insertFullKey(publicId: string): Promise<void> {
  const accountId = `acct_${publicId}`;
  await owner.query(
    `INSERT INTO accounts (id, name, tier, models, limit_per_s, limit_burst, limit_per_day, limit_streams, limit_shadow, max_added_latency_ms, max_added_cost_percent, usage_impacts)
     VALUES ($1, 'x', 'enterprise', '["a \\"b\\"", "ü"]', 7, 9, 2000000000, 3, '{day}', 12, 3, true)`,
    [accountId],
  );
  await owner.query(
    `INSERT INTO api_keys (public_id, account_id, name, hash, pepper_version, scopes, limit_per_s, limit_burst, project)
     VALUES ($1, $2, 'k', $3, 3, '{inference:write,gw:read}', 1, 2, 'it''s')`,
    [publicId, accountId, Buffer.from('00ff275c'.repeat(8), 'hex')],
  );
  await owner.query(
    `INSERT INTO budgets (id, account_id, scope, name, unit, amount, kind, set_by, created_at)
     VALUES ('bdg_' || $1, $2, 'key', $1, 'carbon_g', 0.25, 'hard', 'operator', now())`,
    [publicId, accountId],
  );
}

/** The URL of sessions that are west of UTC. */
const inNewYork = (url: string): string => {
  const there = new URL(url);
  there.searchParams.set('options', '-c TimeZone=America/New_York');
  return there.href;
};

test.each([
  ['UTC', (url: string) => url],
  ['New York', inNewYork],
])('a key, what changed and all ids are the same by both, in sessions of %s', async (zone, at) => {
  const publicId = `full${zone.slice(0, 3).padEnd(8, '0')}`;
  await insertFullKey(publicId);
  const url = at(postgres.serviceUrl);
  const [prismas, bare] = [openPrismas(url), openBare({}, url)];
  // As the control plane writes it.
  await prismas.$executeRaw`UPDATE api_keys SET expires_at = ${expiresAt} WHERE public_id = ${publicId}`;
  const read = (by: Statements) =>
    Promise.all([
      findKey(by, publicId),
      findKey(by, "x'; DROP TABLE"),
      keyGeneration(by),
      keyChanges(by, null),
      keyChanges(by, 1),
      allPublicIds(by),
    ]);
  const [key, none, generation, ...more] = await read(bare);
  expect([key, none, generation, ...more]).toEqual(await read(prismas));
  expect(none).toBeNull();
  expect(generation).toBeGreaterThan(1);
  expect(key).toMatchObject({
    hash: Buffer.from('00ff275c'.repeat(8), 'hex'),
    expiresAt,
    scopes: ['inference:write', 'gw:read'],
    project: "it's",
    limits: { ratePerS: 1, burst: 2, perDay: null, streams: null },
    budgets: [{ scope: 'key', unit: 'carbon_g', amount: 0.25, isHard: true }],
    account: {
      models: ['a "b"', 'ü'],
      tolerance: { addedLatencyMs: 12, addedCostPercent: 3 },
      usageImpacts: true,
      limits: { ratePerS: 7, burst: 9, perDay: 2_000_000_000, streams: 3 },
    },
  });
});

test('a hash is renewed once, by either', async () => {
  const [prismas, bare] = [openPrismas(), openBare()];
  const publicId = (await allPublicIds(bare)).toString('latin1', 0, 12);
  for (const [nth, by] of [bare, prismas, bare].entries()) {
    const found = await findKey(by, publicId);
    if (found === null) throw new Error(`${publicId} is not there.`);
    const hash = Buffer.alloc(32, nth);
    await renewKeyHash(by, found, { hash, pepperVersion: nth + 5 });
    // The key of this hash does not exist any more.
    await renewKeyHash(by, found, { hash: Buffer.alloc(32, 0xff), pepperVersion: 99 });
    expect(await findKey(by, publicId)).toEqual({ ...found, hash, pepperVersion: nth + 5 });
  }
});

describe('without the client', () => {
  test('a statement says how many rows it concerned, and values never become SQL', async () => {
    const bare = openBare();
    const odd = `'; DROP TABLE accounts; --$1 \\ ü`;
    expect(await bare.$queryRaw`SELECT ${odd}::text AS odd, ${null}::int AS none, ${7}::int AS seven`).toEqual([
      { odd, none: null, seven: 7 },
    ]);
    expect(await bare.$executeRaw`UPDATE api_keys SET project = 'p' WHERE public_id = ${'nobody'}`).toBe(0);
    const all = (await allPublicIds(bare)).length / 12;
    expect(await bare.$executeRaw`UPDATE api_keys SET project = project`).toBe(all);
    await expect(bare.$queryRaw`SELECT nonsense`).rejects.toMatchObject({ code: '42703' });
  });

  test('what takes too long fails on both sides, and the next one gets an answer', async () => {
    const bare = openBare({ queryTimeoutMs: 400 });
    await expect(bare.$queryRaw`SELECT 1 FROM pg_sleep(61)`).rejects.toThrow(/time(d )?-?out/i);
    expect(await bare.$queryRaw`SELECT 2 AS two`).toEqual([{ two: 2 }]);
    const running = async () =>
      (await owner.query(`SELECT 1 FROM pg_stat_activity WHERE state = 'active' AND query LIKE '%pg_sleep(61)'`)).rows;
    await expect.poll(running, { timeout: 20_000 }).toEqual([]);
  });

  test('what is not answered at all fails, and the next one goes by another connection', async () => {
    const way = await openWay(postgres.serviceUrl);
    stops.push(async () => way.stop());
    const bare = openBare({ queryTimeoutMs: 400, onConnectionLost: () => {} }, way.url);
    expect(await bare.$queryRaw`SELECT 1 AS one`).toEqual([{ one: 1 }]);
    way.swallowAfter(0);
    await expect(bare.$queryRaw`SELECT 2`).rejects.toThrow('Query read timeout');
    way.swallowAfter(Number.POSITIVE_INFINITY);
    expect(await bare.$queryRaw`SELECT 3 AS three`).toEqual([{ three: 3 }]);
  });

  test('a connection that breaks is told of and replaced', async () => {
    const lost: Error[] = [];
    const bare = openBare({ onConnectionLost: (error: Error) => lost.push(error) });
    const pid = async () => (await bare.$queryRaw<{ pid: number }[]>`SELECT pg_backend_pid() AS pid`)[0]?.pid;
    const first = await pid();
    await owner.query('SELECT pg_terminate_backend($1)', [first]);
    await expect.poll(() => lost.length, { timeout: 20_000 }).toBe(1);
    expect(await pid()).not.toBe(first);
  });
});
