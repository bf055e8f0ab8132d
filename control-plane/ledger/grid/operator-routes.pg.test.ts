/** Operators see the current grid values, where they are from, and which sources are silent. */
import { runAdmin } from '@gw/cli/internals/commands/admin';
import { openOperatorApi } from '@gw/cli/internals/commands/admin/api';
import { annualReading } from '@gw/methodology/grid-annual';
import { seedOperators, withToken } from '@gw/testing/control-plane/access';
import { startTestApp } from '@gw/testing/control-plane/app';
import { settledObservation, sweden } from '@gw/testing/control-plane/restatements';
import { forFile } from '@gw/testing/for-file';
import type { FastifyInstance } from 'fastify';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { buildOperatorApp } from '../../operator-app.ts';
import type { ZoneSource } from './config.ts';
import { publishGrid } from './publish.ts';
import { storeReadings } from './store.ts';

const california: ZoneSource = { zone: 'USA', source: 'watttime', place: 'CAISO_NORTH' };
const nowhere: ZoneSource = { zone: 'GBR', source: 'neso', place: '' };
/** There is no yearly average of it. */
const island: ZoneSource = { zone: 'ISLAND', source: 'electricity-maps', place: 'IS' };
const sources = [sweden, california, nowhere, island];
const path = '/operator/v1/grid';

let now = new Date('2026-11-21T09:10:00Z');
const running = forFile(() => startTestApp(() => now));
let token: string;
let app: FastifyInstance;
let url: string;
beforeAll(async () => {
  token = (await seedOperators(running.context)).viewer;
  const { ledger } = running.services;
  app = buildOperatorApp(running.context, { ...running.services, ledger: { ...ledger, grid: { sources } } });
  url = await app.listen({ host: '127.0.0.1', port: 0 });
});
afterAll(async () => {
  await app?.close();
});

interface Zone {
  readonly id: string;
  readonly reading: object | null;
  readonly sources: readonly object[];
}
const zones = async (of = app): Promise<Zone[]> => (await withToken(of, token)('GET', path)).json().data;
const zone = async (id: string, of = app) => (await zones(of)).find((each) => each.id === id);

/** The clock goes to a time of the day, and the catalogue gets the readings that hold then. */
async function at(time: string): Promise<void> {
  now = new Date(`2026-11-21T${time}Z`);
  await publishGrid({ db: running.stores.db, sources, annualReading, now: () => now });
  await running.refresh();
}

test('without a source a viewer sees the yearly average of each zone with a region, and what it is', async () => {
  await at('09:10:00');
  const regions = (await withToken(app, token)('GET', '/operator/v1/regions')).json().data;
  const named = new Set(regions.map(({ grid_zone }: { grid_zone: string }) => grid_zone));
  const found = await zones(running.operator);
  expect(found.map(({ id }) => id)).toEqual([...named].sort());
  expect(found.find(({ id }) => id === 'SWE')).toEqual({
    id: 'SWE',
    object: 'grid_zone',
    regions: ['eu-north'],
    too_old: false,
    sources: [],
    reading: {
      g_per_kwh: 35.26,
      source: 'ember-2025 (EcoLogits 0.11.3, year inferred)',
      vintage: 2025,
      edition: expect.stringMatching(/^ecologits.* sha256:/),
      basis: 'lifecycle',
      is_estimated: false,
      temporal_match: 'annual_fallback',
      age_minutes: 467_110,
      fetched_at: null,
      period_start: '2025-01-01T00:00:00.000Z',
      period_end: '2026-01-01T00:00:00.000Z',
      observed_at: '2026-01-01T00:00:00.000Z',
    },
  });
});

test('a zone whose source is silent says that its value is too old, and one that has no source of averages does not', async () => {
  await at('09:10:00');
  expect(await zone('SWE')).toMatchObject({ too_old: true, reading: { temporal_match: 'annual_fallback' } });
  expect(await zone('USA')).toMatchObject({ too_old: false, sources: [{ source: 'watttime', newest: null }] });
});

test('a live value is shown with its age until it is 120 minutes old; then another one, beside what was last said', async () => {
  await storeReadings(running.stores.db, [
    settledObservation('2026-11-21T08:00:00Z', 21.5, { isEstimated: true, settled: false }),
  ]);
  await at('09:10:00');
  const said = {
    g_per_kwh: 21.5,
    signal: 'average',
    fetched_at: '2026-11-21T09:00:00.000Z',
    period_start: '2026-11-21T08:00:00.000Z',
    period_end: '2026-11-21T09:00:00.000Z',
    observed_at: '2026-11-21T08:00:00.000Z',
  };
  const source = { source: 'electricity-maps', place: 'SE', newest: said, paused: null };
  expect(await zone('SWE')).toMatchObject({
    too_old: false,
    sources: [source],
    reading: {
      g_per_kwh: 21.5,
      source: 'electricity-maps',
      basis: 'lifecycle',
      is_estimated: true,
      age_minutes: 70,
      temporal_match: 'forecast',
      vintage: null,
      edition: null,
      fetched_at: '2026-11-21T09:00:00.000Z',
    },
  });
  // Whether anything was published since or not.
  now = new Date('2026-11-21T10:30:00Z');
  const silent = { too_old: true, sources: [source], reading: { temporal_match: 'annual_fallback' } };
  expect(await zone('SWE')).toMatchObject(silent);
  await at('10:30:00');
  expect(await zone('SWE')).toMatchObject(silent);
});

test('a source that is left alone says why, and one whose zone has no region is there all the same', async () => {
  await running.stores.redis.set('gw:grid:pause:neso', 'unauthorized', 'PX', 60_000);
  await at('09:10:00');
  expect(await zone('GBR')).toEqual({
    id: 'GBR',
    object: 'grid_zone',
    regions: [],
    reading: null,
    too_old: false,
    sources: [{ source: 'neso', place: '', newest: null, paused: 'unauthorized' }],
  });
});

test('where there is no yearly average, what was said last is shown as too old', async () => {
  const region = { code: 'island', name: 'Island', country: 'unknown', gridZone: 'ISLAND', preference: 9 };
  await running.stores.db.region.create({ data: region });
  await at('09:10:00');
  expect(await zone('ISLAND')).toMatchObject({ reading: null, too_old: true });
  await storeReadings(running.stores.db, [settledObservation('2026-11-21T08:00:00Z', 300, island)]);
  await at('09:10:00');
  expect(await zone('ISLAND')).toMatchObject({ too_old: false, reading: { g_per_kwh: 300, temporal_match: 'fresh' } });
  now = new Date('2026-11-21T10:30:00Z');
  const stale = { too_old: true, reading: { g_per_kwh: 300, temporal_match: 'none', age_minutes: 150 } };
  expect(await zone('ISLAND')).toMatchObject(stale);
});

test('./gw admin grid prints zones and sources', async () => {
  await at('09:10:00');
  let out = '';
  const print = (text: string) => {
    out += text;
  };
  expect(await runAdmin(['grid'], { openApi: () => openOperatorApi({ url, token }), print, tell: print })).toBe(0);
  expect(out).toMatch(/^ZONE +G_PER_KWH +BASIS .*TOO_OLD +REGIONS$/m);
  expect(out).toMatch(/^SWE +21\.5 +lifecycle .* 70 +false +eu-north$/m);
  expect(out).toMatch(/^GBR +neso +- +- +- +unauthorized$/m);
});
