import { assess } from '@gw/methodology/assess';
import { annualReading } from '@gw/methodology/grid-annual';
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest';
import { type Stores, silentLog, startStores } from '../fixtures-for-tests.ts';
import { usageOf } from '../usage/usage.ts';
import { callAt, type Entry, entryFrom, hourly, ingest, unknownModel, versionsOf } from './calls-for-tests.ts';
import { claim, finish, renew } from './interval-claims.ts';
import { restateDue } from './restate.ts';
import {
  at,
  called,
  emptyLedger,
  estimate,
  newestVersion,
  nine,
  restate,
  secondLook,
  settles,
  sweden,
} from './restatements-for-tests.ts';
import { supersede } from './supersede.ts';

let stores: Stores;
beforeAll(async () => {
  stores = await startStores();
}, 120_000);
afterAll(() => stores?.stop());
beforeEach(() => emptyLedger(stores));

test('an estimate is replaced when its hour has settled: carbon anew, energy and tier as they were', async () => {
  const entry = await called(stores, estimate(nine));
  await settles(stores, nine, 60);
  expect(await restate(stores.db)).toBe(1);
  const { receipt, lineage, facts } = await newestVersion(stores.db, entry.receipt.id);
  const { receipt: first } = entry;
  expect(receipt).toMatchObject({
    version: 2,
    supersedes: 1,
    tier: first.tier,
    energy_wh: first.energy_wh,
    energy_low_wh: first.energy_low_wh,
    carbon_embodied_g: first.carbon_embodied_g,
    water_ml: first.water_ml,
    grid_intensity_g_per_kwh: 60,
    grid_intensity_source: 'electricity-maps',
    grid_intensity_observed_at: '2026-11-21T09:00:00.000Z',
    grid_intensity_requested_at: '2026-11-21T09:10:00.000Z',
    grid_intensity_age_minutes: 0,
    grid_temporal_match: 'live_window',
    methodology: first.methodology,
  });
  expect(receipt.carbon_operation_g).toBeCloseTo((Number(first.carbon_operation_g) / 40) * 60, 12);
  expect(lineage.revision).toEqual({
    reason: 'restated',
    at: '2026-11-22T00:00:00.000Z',
    completed: [],
    catalogue_version: null,
    grid: {
      replaced_source: 'electricity-maps',
      replaced_g_per_kwh: 40,
      replaced_period: `${facts?.grid?.periodStart}/${facts?.grid?.periodEnd}`,
      replaced_signal: 'average',
      revision: 1,
      reply_sha256: 'a'.repeat(64),
    },
  });
  expect((await versionsOf(stores.db, first.id))[0]?.receipt).toEqual(first);
});

test('an interval is looked at twice and then forgotten, and nothing is restated again', async () => {
  const entry = await called(stores, estimate(nine));
  await settles(stores, nine, 60);
  await restate(stores.db);
  expect(await restate(stores.db), 'it is not due').toBe(0);
  expect(await stores.db.restatement.count()).toBe(1);
  await secondLook(stores);
  expect(await restate(stores.db)).toBe(0);
  expect(await stores.db.restatement.count()).toBe(0);
  // The same value again is no news.
  await settles(stores, nine, 60);
  expect(await restate(stores.db)).toBe(0);
  expect(await versionsOf(stores.db, entry.receipt.id)).toHaveLength(2);
});

test('a settled value that equals the one used makes no version; one that is revised later makes another', async () => {
  const [same, different] = [
    await called(stores, estimate(nine, { gPerKwh: 60 })),
    await called(stores, estimate(nine)),
  ];
  await settles(stores, nine, 60);
  expect(await restate(stores.db)).toBe(1);
  await settles(stores, nine, 61);
  expect(await restate(stores.db)).toBe(2);
  expect((await newestVersion(stores.db, same.receipt.id)).receipt).toMatchObject({
    version: 2,
    grid_intensity_g_per_kwh: 61,
  });
  expect((await newestVersion(stores.db, different.receipt.id)).receipt).toMatchObject({
    version: 3,
    supersedes: 2,
    grid_intensity_g_per_kwh: 61,
  });
  expect((await newestVersion(stores.db, different.receipt.id)).lineage.revision?.grid).toMatchObject({
    replaced_g_per_kwh: 60,
    revision: 2,
  });
});

test('receipts that are stored after their hour was settled and forgotten are restated too', async () => {
  await settles(stores, nine, 60);
  await settles(stores, '2026-11-21T08:00:00Z', 50);
  await restate(stores.db);
  await secondLook(stores);
  await restate(stores.db);
  expect(await stores.db.restatement.count()).toBe(0);
  const late = [
    await called(stores, estimate(nine)),
    await called(stores, estimate('2026-11-21T08:00:00Z'), '2026-11-21T10:30:00Z'),
  ];
  expect(await restate(stores.db)).toBe(2);
  expect((await newestVersion(stores.db, (late[0] as Entry).receipt.id)).receipt.grid_intensity_g_per_kwh).toBe(60);
  expect((await newestVersion(stores.db, (late[1] as Entry).receipt.id)).receipt.grid_intensity_g_per_kwh).toBe(50);
});

test('receipts that have the settled value note nothing, so that the stream of new ones costs no look', async () => {
  await settles(stores, '2026-11-21T08:00:00Z', 45);
  await settles(stores, '2026-11-21T08:00:00Z', 50);
  await secondLook(stores);
  await restate(stores.db);
  await called(stores, hourly('2026-11-21T08:00:00Z', { gPerKwh: 50 }));
  const annual = annualReading('SWE');
  if (annual) await called(stores, annual);
  await called(stores, hourly('2026-11-14T08:00:00Z', { temporalMatch: 'prior_week' }));
  expect(await stores.db.restatement.count()).toBe(0);
});

test('what another source has settled for the hour is noted for a value that stood in, and for no other', async () => {
  await settles(stores, nine, 60);
  await settles(stores, nine, 77, { place: 'SE-2', source: 'entsoe' });
  await secondLook(stores);
  await restate(stores.db);
  await called(stores, hourly(nine, { gPerKwh: 60 }));
  await called(stores, hourly(nine, { gPerKwh: 77, source: 'entsoe' }));
  expect(await stores.db.restatement.count()).toBe(0);
  await called(stores, hourly('2026-11-14T09:00:00Z', { gPerKwh: 60, source: 'neso', temporalMatch: 'prior_week' }));
  expect(await stores.db.restatement.count()).toBe(1);
});

test('a degraded receipt that is made anew after its hour was settled and forgotten gets the settled value', async () => {
  const entry = entryFrom(callAt(at, { grid: estimate(nine), model: unknownModel }));
  await ingest(stores.db, entry);
  await settles(stores, nine, 60);
  await secondLook(stores);
  expect(await restate(stores.db)).toBe(0);
  expect(await stores.db.restatement.count()).toBe(0);
  const { ok, ...assessed } = assess(callAt(at, { grid: estimate(nine) }));
  if (!ok || !('impact' in assessed)) throw new Error('there are no numbers');
  const facts = callAt(at, { grid: estimate(nine) });
  await supersede(stores.db, [{ current: entry.receipt, numbers: assessed.impact, facts }]);
  expect(await restate(stores.db)).toBe(1);
  expect((await newestVersion(stores.db, entry.receipt.id)).receipt).toMatchObject({
    version: 3,
    grid_intensity_g_per_kwh: 60,
  });
});

test('a zone with many receipts is gone through page by page, and the claim is renewed after each', async () => {
  await called(stores, hourly(nine, { gPerKwh: 60 }), '2026-11-21T09:00:00.000Z');
  // The same receipt again and again, in the order of time; all of them have the settled value.
  await stores.db.$executeRaw`
    INSERT INTO receipts (id, version, created_at, account_id, key_id, endpoint, model, tier, status, body, facts)
    SELECT 'rcpt_' || n, 1, created_at + n * INTERVAL '100 ms', account_id, key_id, endpoint, model, tier, status, body, facts
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
        if (rows.some((row) => 'body' in row)) read.push(rows.length);
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
  const second = await claim(stores.db);
  if (first === null || second === null) throw new Error('it is due');
  expect(await renew(stores.db, first)).toBeNull();
  await finish(stores.db, first);
  expect(await claim(stores.db)).toBeNull();
  expect(await renew(stores.db, second)).toMatchObject({ notedAt: second.notedAt });
});

test('a receipt is restated by the methodology that made it', async () => {
  const entry = await called(stores, estimate(nine), at, { methodology: 'gw-1.0' });
  await settles(stores, nine, 60);
  expect(await restate(stores.db)).toBe(1);
  expect((await newestVersion(stores.db, entry.receipt.id)).receipt).toMatchObject({
    methodology: 'gw-1.0',
    methodology_version: '1.0.0',
  });
});

test('totals are as issued or as restated: each receipt once, and the sums are those of its versions', async () => {
  const accountId = 'acct_totals';
  const entries: Entry[] = [];
  for (let i = 0; i < 30; i++) {
    const grid = i % 3 === 0 ? hourly(nine, { gPerKwh: 60 }) : estimate(nine, { gPerKwh: 30 + i });
    entries.push(await called(stores, grid, `2026-11-21T09:${10 + i}:00Z`, { accountId }));
  }
  await settles(stores, nine, 60);
  expect(await restate(stores.db)).toBe(20);
  const total = async (version: 'issued' | 'restated') => {
    const rows = await usageOf(stores.db, accountId, new Date(nine), new Date('2026-11-22'), version);
    expect(rows).toHaveLength(1);
    return rows[0];
  };
  const sum = (values: readonly (number | null)[]) => values.reduce<number>((a, b) => a + Number(b), 0);
  const issued = await total('issued');
  const restated = await total('restated');
  expect([issued?.requests, restated?.requests]).toEqual([30, 30]);
  expect(issued?.carbon_g).toBeCloseTo(sum(entries.map(({ receipt }) => receipt.carbon_g)), 12);
  const anew = entries.map((entry) => entryFrom({ ...entry.facts, grid: hourly(nine, { gPerKwh: 60 }) } as never));
  expect(restated?.carbon_g).toBeCloseTo(sum(anew.map(({ receipt }) => receipt.carbon_g)), 12);
  expect(restated?.energy_wh).toBe(issued?.energy_wh);
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
        if (questions === 5) await supersede(db, [{ current: raced.receipt, numbers, facts: raced.facts }]);
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
    now: () => new Date(),
    log: silentLog,
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
