import { assess } from '@gw/methodology/assess';
import { annualReading } from '@gw/methodology/grid-annual';
import {
  callAt,
  type Entry,
  entryFrom,
  hourly,
  ingest,
  rowsOf,
  unknownModel,
  versionsOf,
} from '@gw/testing/control-plane/calls';
import { startStores } from '@gw/testing/control-plane/fixtures';
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
} from '@gw/testing/control-plane/restatements';
import { forFile } from '@gw/testing/for-file';
import { beforeEach, expect, test } from 'vitest';
import type { UsageQuestion } from '../usage/question.ts';
import { usageOf } from '../usage/usage.ts';
import { supersede } from './supersede.ts';

const stores = forFile(startStores);
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
  expect(facts?.grid).toMatchObject({
    replySha256: 'a'.repeat(64),
    fetchedAt: expect.stringMatching(/^2026-11-21T10:00:00/),
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
  // The same value again is not news.
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
  // Only the other source has settled this hour.
  const ten = '2026-11-21T10:00:00Z';
  await settles(stores, ten, 77, { place: 'SE-2', source: 'entsoe' });
  await secondLook(stores);
  await restate(stores.db);
  await called(stores, estimate(ten), '2026-11-21T10:10:00Z');
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
  await supersede(stores.db, [{ current: entry.receipt, numbers: assessed.impact, facts }], stores.seals);
  expect(await restate(stores.db)).toBe(1);
  expect((await newestVersion(stores.db, entry.receipt.id)).receipt).toMatchObject({
    version: 3,
    grid_intensity_g_per_kwh: 60,
  });
});

test('a receipt is restated by the methodology that made it', async () => {
  const entry = await called(stores, estimate(nine), at, { methodology: 'ecologits-0.11.3' });
  await settles(stores, nine, 60);
  expect(await restate(stores.db)).toBe(1);
  expect((await newestVersion(stores.db, entry.receipt.id)).receipt).toMatchObject({
    methodology: 'ecologits-0.11.3',
    methodology_version: '0.11.3',
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
    const time = { from: new Date(nine), to: new Date('2026-11-22') };
    const asked = {
      accountId,
      version,
      simulated: 'exclude',
      currency: 'USD',
      interval: 'day',
      group_by: ['model'],
    } satisfies Partial<UsageQuestion>;
    const { data } = (await usageOf(stores.db, { ...time, ...asked })) ?? { data: [] };
    expect(data).toHaveLength(1);
    return data[0];
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

test.each([
  ['null', `facts = 'null'`],
  ['half a character', `facts = (left(facts::text, -1) || ',"boundary":"\\ud800"}')::json`],
  ['a body of no version', `body = (left(body::text, -1) || ',"version":"x"}')::json`],
])('a receipt that somebody altered to %s keeps no other one from being restated', async (_, change) => {
  const [altered, other] = [await called(stores, estimate(nine)), await called(stores, estimate(nine))];
  await stores.tamper(`UPDATE receipts SET ${change} WHERE id = '${altered.receipt.id}'`);
  await settles(stores, nine, 60);
  expect(await restate(stores.db)).toBe(1);
  expect(await versionsOf(stores.db, other.receipt.id)).toHaveLength(2);
  expect(await rowsOf(stores.db, altered.receipt.id)).toHaveLength(1);
});

test("the body of another receipt, with facts of somebody's own, makes no version of that one", async () => {
  const [altered, other] = [await called(stores, estimate(nine)), await called(stores, estimate(nine))];
  await settles(stores, nine, 60);
  await stores.tamper(`WITH own AS (
      INSERT INTO facts_parts (sha256, content)
      SELECT encode(sha256(c::bytea), 'hex'), c::json
      FROM facts_parts, replace(content::text, '"waterLPerKwh":2', '"waterLPerKwh":1') c
      WHERE content ->> 'waterLPerKwh' = '2' LIMIT 1 RETURNING sha256)
    UPDATE receipts SET body = (SELECT body FROM receipts WHERE id = '${other.receipt.id}'),
      facts = replace(facts::text, facts -> 'parts' ->> 'grid', (SELECT sha256 FROM own))::json
    WHERE id = '${altered.receipt.id}'`);
  expect(await restate(stores.db)).toBe(1);
  const { facts } = await newestVersion(stores.db, other.receipt.id);
  expect(facts?.grid?.waterLPerKwh).toBe(2);
});
