/** Who goes through the receipts of an interval, and how: page by page, in one hand at a time, and whatever happens. */

import { setTimeout as delay } from 'node:timers/promises';
import { callAt, entryFrom, hourly, ingest } from '@gw/testing/control-plane/calls';
import { type Stores, silentLog, startStores, testSeals } from '@gw/testing/control-plane/fixtures';
import {
  called,
  emptyLedger,
  estimate,
  newestVersion,
  nine,
  restate,
  settles,
  sweden,
} from '@gw/testing/control-plane/restatements';
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest';
import { claim, finish, renew } from './interval-claims.ts';
import { restateDue } from './restate.ts';
import { supersede } from './supersede.ts';

let stores: Stores;
beforeAll(async () => {
  stores = await startStores();
}, 120_000);
afterAll(() => stores?.stop());
beforeEach(() => emptyLedger(stores));

test('a zone with many receipts is gone through page by page, and the claim is renewed after each', async () => {
  await called(stores, hourly(nine, { gPerKwh: 60 }), '2026-11-21T09:00:00.000Z');
  // The same receipt again and again, in the order of time; all of them have the settled value.
  await stores.db.$executeRaw`
    INSERT INTO receipts (id, version, created_at, account_id, key_id, endpoint, model, tier, status, body, facts,
      content_sha256, seal, seal_key)
    SELECT 'rcpt_' || n, 1, created_at + n * INTERVAL '100 ms', account_id, key_id, endpoint, model, tier, status, body, facts,
      content_sha256, seal, seal_key
    FROM receipts, generate_series(1, 11000) n`;
  const late = [
    await called(stores, estimate(nine), '2026-11-21T09:59:00Z'),
    await called(stores, estimate(nine), '2026-11-21T10:30:00Z'),
  ];
  // Made with a value of its own hour, which is no concern of the hour before.
  await called(stores, estimate('2026-11-21T10:00:00Z'), '2026-11-21T10:31:00Z');
  await settles(stores, nine, 60);
  const claims: number[] = [];
  const read: number[] = [];
  const counting = new Proxy(stores.db, {
    get: (db, name) => {
      if (name !== '$queryRaw') return Reflect.get(db, name);
      return async (...query: Parameters<typeof db.$queryRaw>) => {
        const rows = (await db.$queryRaw(...query)) as object[];
        for (const row of rows) if ('claimedUntil' in row) claims.push(Number(row.claimedUntil));
        const [text] = query;
        if ('sql' in text && text.sql.includes('LATERAL') && rows.length > 0) read.push(rows.length);
        return rows;
      };
    },
  });
  expect(await restate(counting)).toBe(2);
  expect(claims).toHaveLength(3);
  expect(claims).toEqual([...claims].sort());
  expect(read).toEqual([2]);
  for (const { receipt } of late) expect((await newestVersion(stores.db, receipt.id)).receipt.version).toBe(2);
});

test('a note leaves the interval in the hands that it is in, and makes it due again afterwards', async () => {
  await called(stores, estimate(nine));
  await settles(stores, nine, 60);
  const first = await claim(stores.db);
  if (first === null) throw new Error('it is due');
  await settles(stores, nine, 61);
  expect(await claim(stores.db)).toBeNull();
  await finish(stores.db, first);
  expect(await claim(stores.db)).toMatchObject({ periodStart: new Date(nine) });
});

test('whoever was silent for too long neither renews nor ends the claim of the instance that took over', async () => {
  await settles(stores, nine, 60);
  const first = await claim(stores.db);
  await stores.db.$executeRaw`UPDATE restatements SET claimed_until = now() - INTERVAL '1 second'`;
  // A claim is known by the millisecond until which it is; two that are a lease apart never share it.
  await delay(5);
  const second = await claim(stores.db);
  if (first === null || second === null) throw new Error('it is due');
  expect(await renew(stores.db, first)).toBeNull();
  await finish(stores.db, first);
  expect(await claim(stores.db)).toBeNull();
  expect(await renew(stores.db, second)).toMatchObject({ notedAt: second.notedAt });
});

test('a receipt that another job gives a version at the same moment is restated from that one', async () => {
  const [raced, other] = [await called(stores, estimate(nine)), await called(stores, estimate(nine))];
  await settles(stores, nine, 60);
  const { id: _, ...numbers } = raced.receipt;
  let questions = 0;
  const racing = new Proxy(stores.db, {
    get: (db, name) => {
      if (name !== '$queryRaw') return Reflect.get(db, name);
      return async (...query: Parameters<typeof db.$queryRaw>) => {
        questions += 1;
        // Taking, the readings, the end of the page, the receipts; now the versions.
        if (questions === 5)
          await supersede(db, [{ current: raced.receipt, numbers, facts: raced.facts ?? expect.fail() }], testSeals);
        return db.$queryRaw(...query);
      };
    },
  });
  expect(await restate(racing)).toBe(2);
  expect((await newestVersion(stores.db, raced.receipt.id)).receipt).toMatchObject({
    version: 3,
    supersedes: 2,
    grid_intensity_g_per_kwh: 60,
  });
  expect((await newestVersion(stores.db, other.receipt.id)).receipt).toMatchObject({
    version: 2,
    grid_intensity_g_per_kwh: 60,
  });
});

test('more receipts than fit a batch, several instances at once, and one that dies in the middle: one version each', async () => {
  const entries = Array.from({ length: 700 }, (_, i) =>
    entryFrom(callAt(`2026-11-21T09:10:00.${String(Math.floor(i / 5)).padStart(3, '0')}Z`, { grid: estimate(nine) })),
  );
  await ingest(stores.db, ...entries);
  await settles(stores, nine, 60);
  const dying = new AbortController();
  await restateDue({
    db: stores.db,
    sources: [sweden],
    restatesEarlier: false,
    now: () => new Date(),
    log: silentLog,
    seals: testSeals,
    signal: dying.signal,
    onRestated: () => dying.abort(),
  });
  expect(await stores.db.receipt.count()).toBe(900);
  expect(await restate(stores.db), 'it is still held').toBe(0);
  await stores.db.$executeRaw`UPDATE restatements SET claimed_until = now()`;
  const again = stores.db.$executeRaw`UPDATE restatements SET claimed_until = NULL`;
  const [one, , two] = await Promise.all([restate(stores.db), again, restate(stores.db)]);
  expect(one + two).toBe(500);
  const rows = await stores.db.receipt.findMany({ select: { id: true, version: true } });
  expect(rows).toHaveLength(1400);
  expect(new Set(rows.map(({ id, version }) => `${id} ${version}`)).size).toBe(1400);
});
