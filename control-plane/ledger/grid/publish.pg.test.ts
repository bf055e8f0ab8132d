/** From a source on a socket to what a client of `/v1/regions` reads. */
import { annualReading } from '@gw/methodology/grid-annual';
import { startTestApp, type TestApp } from '@gw/testing/control-plane/app';
import { silentLog } from '@gw/testing/control-plane/fixtures';
import {
  electricityMapsReply,
  httpAt,
  nesoSlot,
  type StubAnswer,
  type StubSource,
  startStubSource,
  wattTimeReply,
} from '@gw/testing/control-plane/stub-source';
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest';
import type { GridSettings, ZoneSource } from './config.ts';
import { publishGrid } from './publish.ts';
import { adaptersOf, createRefresh, type Refresh, type RefreshOutcome } from './refresh.ts';

const sweden: ZoneSource = { zone: 'SWE', source: 'electricity-maps', place: 'SE' };
const california: ZoneSource = { zone: 'USA', source: 'watttime', place: 'CAISO_NORTH' };
const france: ZoneSource = { zone: 'FRA', source: 'neso', place: '' };
const sources = [sweden, california, france];

let now: Date;
let gateway: TestApp;
let stub: StubSource;
let refresh: Refresh;

beforeAll(async () => {
  now = new Date('2026-11-21T09:10:00Z');
  gateway = await startTestApp(() => now);
  stub = await startStubSource();
  const settings: GridSettings = {
    sources,
    refreshMs: 1000,
    restatesEarlier: false,
    electricityMaps: { baseUrl: stub.url, key: 'k' },
    wattTime: { baseUrl: stub.url, user: 'u', password: 'p' },
    neso: { baseUrl: stub.url },
    entsoe: { baseUrl: stub.url, token: 't' },
  };
  const { db, redis } = gateway.stores;
  refresh = createRefresh({
    db,
    redis,
    log: silentLog,
    adapters: adaptersOf(
      settings,
      httpAt(() => now),
    ),
  });
}, 120_000);
afterAll(async () => {
  await stub?.stop();
  await gateway?.stop();
});
beforeEach(async () => {
  now = new Date('2026-11-21T09:10:00Z');
  await gateway.stores.empty('grid_readings');
  await publish();
  await gateway.stores.redis.flushall();
  await gateway.refresh();
});

const publish = (configured = sources): Promise<void> =>
  publishGrid({ db: gateway.stores.db, sources: configured, annualReading, now: () => now });

/** The source answers so; what it says is stored and published. */
async function says(answer: StubAnswer | ((path: string) => StubAnswer), source = sweden): Promise<RefreshOutcome> {
  stub.answer(answer);
  const outcome = await refresh(source, 'latest');
  await publish();
  await gateway.refresh();
  return outcome;
}
const swedish = (changes: Record<string, unknown> = {}): StubAnswer => ({
  body: electricityMapsReply({ zone: 'SE', carbonIntensity: 21.5, ...changes }),
});

/** Returns the reading that a client gets at a time of the day. */
async function regionAt(time: string, code = 'eu-north'): Promise<Record<string, unknown>> {
  now = new Date(`2026-11-21T${time}Z`);
  const region = (await gateway.get(`/v1/regions/${code}`)).json();
  return Object.fromEntries(
    Object.entries(region).filter(([name]) => name.startsWith('grid_') && name !== 'grid_zone'),
  );
}
const annualOf = (zone: string) => ({
  grid_intensity_g_per_kwh: annualReading(zone)?.gPerKwh,
  grid_intensity_source: annualReading(zone)?.source,
  grid_temporal_match: 'annual_fallback',
});
const versionOf = async (): Promise<number> => (await gateway.stores.db.catalogueVersion.findFirstOrThrow()).version;

test('without any source the region shows the yearly average and says so', async () => {
  expect(await regionAt('09:10:00')).toMatchObject(annualOf('SWE'));
});

test('a measured reading shows its five provenance fields, whose age grows with each call', async () => {
  expect(await says(swedish())).toEqual({ stored: 1 });
  expect(await regionAt('09:20:00.123')).toEqual({
    grid_intensity_g_per_kwh: 21.5,
    grid_intensity_source: 'electricity-maps',
    grid_intensity_observed_at: '2026-11-21T09:00:00.000Z',
    grid_intensity_requested_at: '2026-11-21T09:20:00.123Z',
    grid_intensity_age_minutes: 0,
    grid_temporal_match: 'live_window',
  });
  const calls = stub.asked.length;
  expect(await regionAt('10:00:06')).toMatchObject({
    grid_intensity_requested_at: '2026-11-21T10:00:06.000Z',
    grid_intensity_age_minutes: 60.1,
    grid_temporal_match: 'fresh',
  });
  expect(await regionAt('10:30:00')).toMatchObject({ grid_intensity_age_minutes: 90 });
  expect(stub.asked.length).toBe(calls);
});

test('beyond 120 minutes the yearly average is shown, even if nothing was published since', async () => {
  await says(swedish());
  expect(await regionAt('11:00:00')).toMatchObject({ grid_intensity_age_minutes: 120, grid_temporal_match: 'fresh' });
  expect(await regionAt('11:00:00.001')).toMatchObject(annualOf('SWE'));
});

test('a stale value with a fresh updatedAt is never shown as current', async () => {
  await says(swedish({ datetime: '2026-11-21T05:00:00.000Z', updatedAt: '2026-11-21T09:09:59.000Z' }));
  expect(await regionAt('09:10:00')).toMatchObject(annualOf('SWE'));
});

test.each([
  ['a null', swedish({ carbonIntensity: null }), 'null_value'],
  ['another zone', swedish({ zone: 'NO' }), 'wrong_zone'],
  ['a server fault', { status: 500 }, 'source_fault'],
])('%s leaves the reading before as it is', async (_what, answer, refused) => {
  await says(swedish());
  expect(await says(answer)).toMatchObject({ refused });
  expect(await regionAt('09:30:00')).toMatchObject({ grid_intensity_g_per_kwh: 21.5 });
  expect(await gateway.stores.db.gridReading.count()).toBe(1);
});

test('a value dated in the future is a forecast without an age, shown only in its own hour', async () => {
  await says(swedish({ datetime: '2026-11-21T10:00:00.000Z' }));
  expect(await regionAt('09:10:00')).toMatchObject(annualOf('SWE'));
  now = new Date('2026-11-21T10:05:00Z');
  await publish();
  await gateway.refresh();
  expect(await regionAt('10:05:00')).toMatchObject({
    grid_intensity_g_per_kwh: 21.5,
    grid_intensity_age_minutes: null,
    grid_temporal_match: 'forecast',
  });
  expect(await regionAt('11:00:00')).toMatchObject(annualOf('SWE'));
});

test('a forecast gives way to the actual of the same slot, and both stay in the history', async () => {
  const body = (actual: number | null) => ({ data: [nesoSlot(actual)] });
  await says({ body: body(null) }, france);
  expect(await regionAt('09:15:00', 'eu-west')).toMatchObject({ grid_temporal_match: 'forecast' });
  now = new Date('2026-11-21T09:40:00Z');
  await says({ body: body(263) }, france);
  expect(await regionAt('09:40:00', 'eu-west')).toMatchObject({
    grid_intensity_g_per_kwh: 263,
    grid_intensity_observed_at: '2026-11-21T09:30:00.000Z',
    grid_intensity_age_minutes: 10,
    grid_temporal_match: 'live_window',
  });
  const history = await gateway.stores.db.gridReading.findMany({ orderBy: { revision: 'asc' } });
  expect(history.map(({ revision, signal, settled }) => [revision, signal, settled])).toEqual([
    [1, 'forecast', false],
    [2, 'average', true],
  ]);
});

test('a marginal reading is published for routing, and the receipt keeps the yearly average', async () => {
  await says((path) => ({ body: path === '/login' ? { token: 'abc' } : wattTimeReply() }), california);
  expect(await regionAt('09:10:00', 'us-east')).toMatchObject(annualOf('USA'));
  const snapshot = JSON.parse((await gateway.stores.redis.get('gw:snapshot')) ?? 'null');
  expect(snapshot.operationalGrid).toMatchObject([{ zone: 'USA', source: 'watttime', kind: 'marginal' }]);
  expect(snapshot.grid.every((reading: { signal: string }) => reading.signal === 'annual')).toBe(true);
});

test('the same reading again is neither stored nor published twice, one that has settled is', async () => {
  await says(swedish());
  const version = await versionOf();
  const published = async () => {
    const { grid } = JSON.parse((await gateway.stores.redis.get('gw:snapshot')) ?? 'null');
    return grid.find(({ zone }: { zone: string }) => zone === 'SWE');
  };
  const { rawSha256: replySha256 } = await gateway.stores.db.gridReading.findFirstOrThrow();
  const told = { replySha256, fetchedAt: '2026-11-21T09:10:00.000Z' };
  expect(await published()).toMatchObject(told);
  now = new Date('2026-11-21T09:14:30Z');
  expect(await says(swedish({ updatedAt: '2026-11-21T09:14:00.000Z' }))).toEqual({ stored: 0 });
  expect(await versionOf()).toBe(version);
  expect(await published()).toMatchObject(told);
  now = new Date('2026-11-21T10:10:00Z');
  expect(await says(swedish())).toEqual({ stored: 1 });
  expect(await says(swedish({ carbonIntensity: 22 }))).toEqual({ stored: 1 });
  expect(await regionAt('10:10:00')).toMatchObject({ grid_intensity_g_per_kwh: 22, grid_intensity_age_minutes: 70 });
  expect(await says(swedish())).toEqual({ stored: 1 });
  expect(await gateway.stores.db.gridReading.count()).toBe(4);
});

test('a reply that a later one has overtaken changes nothing', async () => {
  now = new Date('2026-11-21T09:20:00Z');
  await says(swedish());
  now = new Date('2026-11-21T09:19:00Z');
  expect(await says(swedish({ carbonIntensity: 30 }))).toEqual({ stored: 0 });
});

test('ten instances that store the same reply at once store it once', async () => {
  stub.answer(swedish());
  const outcomes = await Promise.all(Array.from({ length: 10 }, () => refresh(sweden, 'latest')));
  expect(outcomes.filter((outcome) => 'stored' in outcome && outcome.stored === 1)).toHaveLength(1);
  expect(await gateway.stores.db.gridReading.count()).toBe(1);
});

test('a source that is taken out of the configuration is shown no longer', async () => {
  await says(swedish());
  await publish([california]);
  await gateway.refresh();
  expect(await regionAt('09:20:00')).toMatchObject(annualOf('SWE'));
});

test('a source that asks for a pause is not asked by anybody until it is over', async () => {
  const outcome = await says({ status: 429, headers: { 'retry-after': '120' } });
  expect(outcome).toMatchObject({ refused: 'rate_limited', retryAfterMs: 120_000 });
  const calls = stub.asked.length;
  expect(await says(swedish())).toEqual({ paused: true });
  expect(stub.asked.length).toBe(calls);
  const { redis } = gateway.stores;
  expect(await redis.pttl('gw:grid:pause:electricity-maps')).toBeGreaterThan(110_000);
  await redis.del('gw:grid:pause:electricity-maps');
  expect(await says(swedish())).toEqual({ stored: 1 });
});

test('a key that is refused is not tried again for a quarter of an hour', async () => {
  expect(await says({ status: 401 })).toMatchObject({ refused: 'unauthorized' });
  expect(await says(swedish())).toEqual({ paused: true });
  expect(await gateway.stores.redis.pttl('gw:grid:pause:electricity-maps')).toBeGreaterThan(800_000);
});
