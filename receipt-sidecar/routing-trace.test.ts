import type { Snapshot } from '@gw/contract/internal/snapshot';
import { routingTraceSchema } from '@gw/contract/receipt';
import { describe, expect, it } from 'vitest';
import { plainModel } from './model-for-tests.ts';
import { chooseRoute } from './request/route.ts';
import { routingTrace } from './routing-trace.ts';
import { makeCatalogue } from './snapshot.ts';

const at = '2026-11-21T09:10:00.000Z';
const annual = (zone: string, gPerKwh: number): Snapshot['grid'][number] => ({
  zone,
  gPerKwh,
  source: 'ember-2023',
  signal: 'annual',
  periodStart: '2023-01-01T00:00:00.000Z',
  periodEnd: '2024-01-01T00:00:00.000Z',
  observedAt: '2024-01-01T00:00:00.000Z',
  temporalMatch: 'annual_fallback',
  waterLPerKwh: 3,
});
const oClock = (hour: number) => `2026-11-21T${String(hour).padStart(2, '0')}:00:00.000Z`;
const live = (zone: string, gPerKwh: number, hour: number): Snapshot['grid'][number] => ({
  ...annual(zone, gPerKwh),
  source: 'electricity-maps',
  signal: 'average',
  periodStart: oClock(hour),
  periodEnd: oClock(hour + 1),
  observedAt: oClock(hour),
  temporalMatch: null,
});

const deployment = (id: string, region: string, model = 'm'): Snapshot['deployments'][number] => ({
  id,
  provider: 'p',
  region,
  models: { m: model },
  pue: 1.1,
  wueOnsiteLPerKwh: null,
  telemetry: null,
});
const region = (code: string, gridZone: string, preference: number, status: 'active' | 'degraded' = 'active') => ({
  code,
  name: code,
  country: code,
  gridZone,
  status,
  preference,
});

function catalogueOf(changes: Partial<Snapshot> = {}) {
  return makeCatalogue({
    version: 1,
    publishedAt: at,
    models: [{ ...plainModel, modelClass: 'small' }],
    regions: [region('us', 'USA', 0), region('se', 'SWE', 1)],
    deployments: [deployment('d-us', 'us'), deployment('d-se', 'se')],
    grid: [annual('USA', 369), annual('SWE', 40)],
    ...changes,
  });
}

type Options = { readonly tier?: 'auto' | 'telemetry' | 'proxy'; readonly region?: string };
const ask = (options: Options = {}) =>
  ({
    endpoint: 'chat',
    model: 'm',
    options,
    stream: false,
    wantsUsage: false,
    choices: 1,
    ...{ promptBytes: 100, estimatedPromptTokens: 0, outputField: null, maxTokens: null },
  }) as const;

function routeOf(catalogue: ReturnType<typeof catalogueOf>, options: Options = {}) {
  const routed = chooseRoute(ask(options), catalogue, null);
  if (!routed.ok) throw new Error(routed.error.code);
  return routed.route;
}

describe('a route', () => {
  it('goes by provider preference, past regions that take no calls, and names the order of its fail-over', () => {
    expect(routeOf(catalogueOf()).cluster).toBe('order:d-us>d-se');
    const regions = [region('us', 'USA', 0, 'degraded'), region('se', 'SWE', 1)];
    expect(routeOf(catalogueOf({ regions })).cluster).toBe('order:d-se');
  });

  it('never leaves a pinned region, and says why one can not be had', () => {
    expect(routeOf(catalogueOf(), { region: 'se' }).cluster).toBe('order:d-se');
    const code = (catalogue: ReturnType<typeof catalogueOf>, name: string) => {
      const routed = chooseRoute(ask({ region: name }), catalogue, null);
      return routed.ok ? null : [routed.error.code, routed.error.status, routed.error.param];
    };
    expect(code(catalogueOf(), 'mars')).toEqual(['invalid_region', 400, 'gw.region']);
    const regions = [region('us', 'USA', 0, 'degraded'), region('se', 'SWE', 1)];
    expect(code(catalogueOf({ regions }), 'us')).toEqual(['region_degraded', 503, 'gw.region']);
    expect(code(catalogueOf({ deployments: [deployment('d-us', 'us')] }), 'se')).toEqual([
      'invalid_model',
      400,
      'model',
    ]);
  });

  it('fails over only where the model has the same name, since one body serves every attempt', () => {
    const deployments = [deployment('d-us', 'us', 'one'), deployment('d-se', 'se', 'another')];
    expect(routeOf(catalogueOf({ deployments })).cluster).toBe('order:d-us');
  });

  it('refuses what the account or the model does not offer', () => {
    const refused = (options: Options, models: string[] | null) => {
      const routed = chooseRoute(ask(options), catalogueOf(), models);
      return routed.ok ? null : [routed.error.code, routed.error.param];
    };
    expect(refused({}, ['other'])).toEqual(['invalid_model', 'model']);
    expect(refused({ tier: 'telemetry' }, null)).toEqual(['invalid_tier', 'gw.tier']);
    expect(refused({ tier: 'proxy' }, ['m'])).toBeNull();
  });
});

describe('a routing trace', () => {
  it('says that annual averages do not steer, and is what the contract describes', () => {
    const catalogue = catalogueOf();
    const route = routeOf(catalogue);
    const trace = routingTrace(route, route.order[0], 1, at);
    expect(routingTraceSchema.parse(trace)).toEqual(trace);
    expect(trace).toMatchObject({
      policy: 'provider_preference',
      fallback: true,
      fallback_reason: 'no_live_grid_signal',
    });
    expect(trace.candidates.map(({ region: code, g_per_kwh }) => [code, g_per_kwh])).toEqual([
      ['us', 369],
      ['se', 40],
    ]);
  });

  it('names the deployments that failed before the one that answered', () => {
    const catalogue = catalogueOf();
    const route = routeOf(catalogue);
    const served = catalogue.candidate('d-se') ?? null;
    const trace = routingTrace(route, served, 2, at);
    expect(trace.attempts).toEqual({ count: 2, failed: [{ deployment: 'd-us', outcome: 'failed' }] });
    expect(trace.region).toBe('se');
  });

  it('shows a live signal with its age, and the yearly one when the live one has grown old', () => {
    const floor = [annual('USA', 369), annual('SWE', 40)];
    const catalogue = catalogueOf({ grid: [live('USA', 300, 9), live('SWE', 20, 2)], gridFloor: floor });
    const trace = routingTrace(routeOf(catalogue), catalogue.candidate('d-us') ?? null, 1, at);
    expect(trace.operational_signal).toMatchObject({
      g_per_kwh: 300,
      age_minutes: 0,
      temporal_match: 'live_window',
      live_eligible: true,
    });
    expect(trace.fallback_reason).toBe('carbon_aware_routing_off');
    expect(trace.candidates.map(({ g_per_kwh, excluded_reason }) => [g_per_kwh, excluded_reason])).toEqual([
      [300, 'carbon_aware_routing_off'],
      [40, 'no_live_signal'],
    ]);
  });
});
