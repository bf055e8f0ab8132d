import type { Snapshot } from '@gw/contract/internal/snapshot';
import { routingTraceSchema } from '@gw/contract/routing-trace';
import type { Footprint } from '@gw/methodology/footprint';
import { emptySnapshot, plainDeployment, plainModel } from '@gw/testing/catalogue';
import { parsedForTests, steeringForTests } from '@gw/testing/receipt-sidecar/asked';
import { chainOf } from '@gw/testing/receipt-sidecar/chain';
import { describe, expect, it } from 'vitest';
import { countCallsUnderWay } from '../attempts/calls-under-way.ts';
import type { FailedAttempt } from '../attempts/failed-attempts.ts';
import { type Candidate, makeCatalogue } from '../catalogue/snapshot.ts';
import { chooseRoute } from './route.ts';
import { routingTrace } from './routing-trace.ts';
import { shareCalls } from './share-calls.ts';

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
  basis: 'lifecycle',
});

const deployment = (id: string, region: string, model = 'm'): Snapshot['deployments'][number] => ({
  ...plainDeployment,
  id,
  region,
  models: { m: model },
});
const region = (
  code: string,
  gridZone: string,
  preference: number,
  status: Snapshot['regions'][number]['status'] = 'active',
) => ({
  code,
  name: code,
  country: code,
  gridZone,
  status,
  preference,
});

function catalogueOf(changes: Partial<Snapshot> = {}) {
  return makeCatalogue({
    ...emptySnapshot,
    publishedAt: at,
    models: [{ ...plainModel, modelClass: 'small' }],
    regions: [region('us', 'USA', 0), region('se', 'SWE', 1)],
    deployments: [deployment('d-us', 'us'), deployment('d-se', 'se')],
    grid: [annual('USA', 369), annual('SWE', 40)],
    ...changes,
  });
}

type Options = { readonly tier?: 'auto' | 'telemetry' | 'proxy'; readonly region?: string };
const ask = (options: Options = {}) => parsedForTests({ options });

const steering = () => steeringForTests(at);

/** An answer whose receipt says 2 Wh and nothing of the hardware. */
const answeredBy = (by: Candidate | null, attempts = 1) => ({
  by,
  attempts,
  requestedAt: at,
  footprintAt: () => ({ energyWh: 2, embodiedG: null }) as Footprint | null,
  cachedTokens: null as number | null,
  uncachedFootprint: () => null as Footprint | null,
  status: 200,
  fault: null,
  failures: [] as FailedAttempt[],
});

function routeOf(catalogue: ReturnType<typeof catalogueOf>, options: Options = {}) {
  const routed = chooseRoute(ask(options), catalogue, null, steering());
  if (!routed.ok) throw new Error(routed.error.code);
  return routed.value;
}

describe('a route', () => {
  it('goes by provider preference, past regions that take no calls, and names its fail-over chain', () => {
    expect(chainOf(routeOf(catalogueOf()))).toBe('d-us>d-se');
    const regions = [region('us', 'USA', 0, 'degraded'), region('se', 'SWE', 1)];
    expect(chainOf(routeOf(catalogueOf({ regions })))).toBe('d-se');
  });

  it('never leaves a pinned region, and says why one cannot be had', () => {
    expect(chainOf(routeOf(catalogueOf(), { region: 'se' }))).toBe('d-se');
    const code = (catalogue: ReturnType<typeof catalogueOf>, name: string) => {
      const routed = chooseRoute(ask({ region: name }), catalogue, null, steering());
      return routed.ok ? null : [routed.error.code, routed.error.status, routed.error.param];
    };
    expect(code(catalogueOf(), 'mars')).toEqual(['invalid_region', 400, 'gw.region']);
    const regions = [region('us', 'USA', 0, 'degraded'), region('se', 'SWE', 1)];
    expect(code(catalogueOf({ regions }), 'us')).toEqual(['region_degraded', 503, 'gw.region']);
    const routed = chooseRoute(
      { ...ask({ region: 'us' }), optionsPath: 'extra_body.gw' },
      catalogueOf({ regions }),
      null,
      steering(),
    );
    expect(routed.ok ? null : routed.error.param).toBe('extra_body.gw.region');
    expect(code(catalogueOf({ deployments: [deployment('d-us', 'us')] }), 'se')).toEqual([
      'invalid_model',
      400,
      'model',
    ]);
  });

  it('fails over also where the model has another name', () => {
    const deployments = [deployment('d-us', 'us', 'one'), deployment('d-se', 'se', 'another')];
    expect(chainOf(routeOf(catalogueOf({ deployments })))).toBe('d-us>d-se');
  });

  it('refuses what the account or the model does not offer', () => {
    const refused = (options: Options, models: string[] | null) => {
      const routed = chooseRoute(ask(options), catalogueOf(), models, steering());
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
    const trace = routingTrace(route, answeredBy(route.failoverChain[0]));
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

  it('says into which API a call was translated, and which of its fields were left out', () => {
    const route = routeOf(catalogueOf());
    const translation = { api: 'chat', left_out: ['system[].cache_control'] };
    const trace = routingTrace(route, { ...answeredBy(route.failoverChain[0]), translation });
    expect(routingTraceSchema.parse(trace)).toMatchObject({ translation });
  });

  it('names what was chosen, what failed and what answered', () => {
    const catalogue = catalogueOf();
    const route = routeOf(catalogue);
    const served = catalogue.candidate('d-se') ?? null;
    const trace = routingTrace(route, answeredBy(served, 2));
    expect(trace.attempts).toEqual({ count: 2, failed: [{ deployment: 'd-us', region: 'us', outcome: 'failed' }] });
    expect(trace.region).toBe('se');
    expect(trace.decision).toBe(
      'us comes first in the provider preference among the regions that serve this model; no region that can be chosen has a live signal of its grid. us failed, and se, which comes next, answered.',
    );
    const failures = [{ deployment: 'd-us', outcome: 'rate_limited', result: 'busy', retryAfterMs: null }] as const;
    const explained = routingTrace(route, { ...answeredBy(served, 2), failures });
    expect(explained.attempts.failed).toEqual([{ deployment: 'd-us', region: 'us', outcome: 'rate_limited' }]);
    expect(explained.decision).toMatch(/ us \(rate limited\) failed, and se, which comes next, answered\.$/);
    // The last one has answered, but with an error.
    const refused = routingTrace(route, { ...answeredBy(served, 2), failures, status: 500 });
    expect(refused.attempts.failed).toEqual([
      { deployment: 'd-us', region: 'us', outcome: 'rate_limited' },
      { deployment: 'd-se', region: 'se', outcome: 'server_error' },
    ]);
    expect(refused.decision).toMatch(
      / us \(rate limited\), se \(an error of the provider\) failed, and no other deployment was tried\.$/,
    );
    expect(routingTrace(route, { ...answeredBy(null, 1), status: 504 }).attempts.failed).toEqual([
      { deployment: 'd-us', region: 'us', outcome: 'timed_out' },
    ]);
    // Its grid is cleaner than that of the choice, and nobody knows what the call would have taken there.
    expect(trace.estimated_saving_g).toBeNull();
    expect(routingTrace(route, answeredBy(null, 2))).toMatchObject({
      decision: expect.stringMatching(/ us failed, and no other region is known to have answered\.$/),
      estimated_saving_g: null,
    });
    expect(routingTrace(route, answeredBy(route.failoverChain[0])).estimated_saving_g).toBe(0);
  });

  it('names a deployment twice that was sent the call twice', () => {
    const [only] = routeOf(catalogueOf()).failoverChain;
    const route = { ...routeOf(catalogueOf()), failoverChain: [only] as const };
    const lost = { deployment: 'd-us', outcome: 'connection_lost', result: 'down', retryAfterMs: null } as const;
    const told = { deployment: 'd-us', region: 'us', outcome: 'connection_lost' };
    const answered = routingTrace(route, { ...answeredBy(only, 2), failures: [lost] });
    expect(answered.attempts).toEqual({ count: 2, failed: [told] });
    expect(answered.decision).toMatch(
      / us \(the connection broke\) failed, was sent the call once more, and answered\.$/,
    );
    const refused = routingTrace(route, { ...answeredBy(only, 2), failures: [lost], status: 500 });
    expect(refused.attempts.failed).toEqual([told, { deployment: 'd-us', region: 'us', outcome: 'server_error' }]);
    const twice = routingTrace(route, { ...answeredBy(null, 2), failures: [lost, lost], status: 503 });
    expect(twice.attempts).toEqual({ count: 2, failed: [told, told] });
  });

  it('tells two deployments of one region apart, and lists the region once', () => {
    const deployments = [deployment('d-us', 'us'), deployment('d-us-2', 'us'), deployment('d-se', 'se')];
    const catalogue = catalogueOf({ deployments });
    const trace = routingTrace(routeOf(catalogue), answeredBy(catalogue.candidate('d-us-2') ?? null, 2));
    expect(trace.decision).toMatch(/ Its deployment d-us did not answer; d-us-2 of the same region did\.$/);
    expect(trace.candidates.map(({ region: code }) => code)).toEqual(['us', 'se']);
    expect(trace.estimated_saving_g).toBe(0);
  });

  it('says why the call began at a deployment, and what the cache there has saved', () => {
    const deployments = [deployment('d-us', 'us'), deployment('d-us-2', 'us'), deployment('d-se', 'se')];
    const catalogue = catalogueOf({ deployments });
    const route = shareCalls(countCallsUnderWay()).shared(routeOf(catalogue), { accountId: 'acct', affinity: null });
    const by = route.failoverChain[0];
    const told = routingTraceSchema.parse(routingTrace(route, answeredBy(by)));
    expect(told.decision).toMatch(/\. d-us was next of its 2 deployments by weight and calls under way\.$/);
    const among = ['d-us', 'd-us-2'].map((id) => ({ deployment: id, weight: 1, calls_under_way: 0 }));
    expect(told.deployment_choice).toEqual({ by: 'load', affinity: null, among, affinity_saving: null });
    const kept = { ...route, shared: { by: 'affinity' as const, affinity: 'prompt_cache_key', among: [] } };
    const savingOf = (changes: Partial<ReturnType<typeof answeredBy>>) =>
      routingTraceSchema.parse(routingTrace(kept, { ...answeredBy(by), ...changes })).deployment_choice
        ?.affinity_saving;
    const anew = () => ({ energyWh: 2.5, embodiedG: null });
    expect(savingOf({ cachedTokens: 100, uncachedFootprint: anew })).toEqual({
      cached_tokens: 100,
      energy_wh: 0.5,
      carbon_g: 0.1845,
    });
    expect(savingOf({ cachedTokens: 0 })).toEqual({ cached_tokens: 0, energy_wh: 0, carbon_g: 0 });
    expect(savingOf({ cachedTokens: 7 })).toEqual({ cached_tokens: 7, energy_wh: null, carbon_g: null });
    expect(savingOf({})).toBeNull();
    expect(savingOf({ by: catalogue.candidate('d-us-2') ?? null, cachedTokens: 100 })).toBeNull();
    const { decision } = routingTrace(kept, answeredBy(by));
    expect(decision).toMatch(/ Calls with the same prompt_cache_key begin at its deployment d-us\.$/);
  });

  it.each(['saturated', 'degraded', 'decommissioned'] as const)(
    'says of a region that is %s why it was left out',
    (status) => {
      const regions = [region('us', 'USA', 0, status), region('se', 'SWE', 1)];
      const trace = (options: Options) => {
        const route = routeOf(catalogueOf({ regions }), options);
        return routingTrace(route, answeredBy(route.failoverChain[0]));
      };
      expect(trace({}).decision).toBe(
        `se was chosen: it comes next in the provider preference, after us (${status}); no region that can be chosen has a live signal of its grid.`,
      );
      expect(
        trace({}).candidates.map((each) => [each.region, each.g_per_kwh, each.eligible, each.excluded_reason]),
      ).toEqual([
        ['us', 369, false, `region_${status}`],
        ['se', 40, false, 'no_live_signal'],
      ]);
      expect(trace({}).estimated_saving_g).toBe(0);
      expect(trace({ region: 'se' })).toMatchObject({
        decision: 'The request pinned the region se.',
        candidates: [
          { region: 'us', eligible: false, excluded_reason: 'other_region_pinned' },
          { region: 'se', eligible: true, excluded_reason: null },
        ],
        estimated_saving_g: null,
      });
    },
  );

  it('says of a region without measured energy why it was left out', () => {
    const deployments = [deployment('d-us', 'us'), { ...deployment('d-se', 'se'), telemetry: 'melious' }];
    const route = routeOf(catalogueOf({ deployments }), { tier: 'telemetry' });
    const trace = routingTrace(route, answeredBy(route.failoverChain[0]));
    expect(trace.decision).toContain('after us (reports no measured energy);');
    expect(trace.candidates.map(({ excluded_reason }) => excluded_reason)).toEqual([
      'tier_not_served',
      'no_live_signal',
    ]);
  });

  it('compares live signals only, and says of the rest why it could not decide', () => {
    const floor = [annual('USA', 369), annual('SWE', 40)];
    const catalogue = catalogueOf({ grid: [live('USA', 300, 9), live('SWE', 20, 2)], gridFloor: floor });
    const trace = routingTrace(routeOf(catalogue), answeredBy(catalogue.candidate('d-us') ?? null));
    expect(trace.operational_signal).toMatchObject({
      g_per_kwh: 300,
      age_minutes: 0,
      temporal_match: 'live_window',
      live_eligible: true,
    });
    expect(trace).toMatchObject({ policy: 'provider_preference', fallback_reason: 'too_few_live_signals' });
    expect(trace.candidates.map(({ g_per_kwh, excluded_reason }) => [g_per_kwh, excluded_reason])).toEqual([
      [300, 'not_comparable'],
      [40, 'no_live_signal'],
    ]);
  });

  it('names what decided, and the saving against the region that comes first', () => {
    const catalogue = catalogueOf({ grid: [live('USA', 300, 9), live('SWE', 20, 9)] });
    const route = routeOf(catalogue);
    expect(chainOf(route)).toBe('d-se>d-us');
    const trace = routingTrace(route, answeredBy(route.failoverChain[0]));
    expect(routingTraceSchema.parse(trace)).toEqual(trace);
    expect(trace).toMatchObject({
      policy: 'carbon_aware',
      decision: expect.stringMatching(
        /^se was chosen for the lowest estimated carbon of this call: se [\d.]+ g at 20 gCO2e\/kWh, us [\d.]+ g at 300 gCO2e\/kWh \(average, life cycle\)\.$/,
      ),
      fallback: false,
      fallback_reason: null,
      estimated_tokens: { prompt: 0, completion: 400 },
      // 2 Wh, each 0.28 g cleaner
      estimated_saving_g: 0.56,
      counterfactual: { region: 'us', g_per_kwh: 300, carbon_g: 0.6, served_carbon_g: 0.04 },
    });
    const estimate = { carbon_g: expect.any(Number), pue: 1.1 };
    expect(trace.candidates).toMatchObject([
      {
        region: 'us',
        g_per_kwh: 300,
        kind: 'average',
        basis: 'lifecycle',
        eligible: true,
        excluded_reason: null,
        estimate,
      },
      {
        region: 'se',
        g_per_kwh: 20,
        kind: 'average',
        basis: 'lifecycle',
        eligible: true,
        excluded_reason: null,
        estimate,
      },
    ]);
  });

  const three = () =>
    catalogueOf({
      regions: [region('us', 'USA', 0), region('se', 'SWE', 1), region('fr', 'FRA', 2)],
      deployments: [deployment('d-us', 'us'), deployment('d-se', 'se'), deployment('d-fr', 'fr')],
      grid: [live('USA', 300, 9), live('SWE', 20, 9), live('FRA', 50, 9)],
    });

  it('says after a fail-over who answered, which is the next by carbon', () => {
    const catalogue = three();
    const route = routeOf(catalogue);
    expect(chainOf(route)).toBe('d-se>d-fr>d-us');
    const failedOver = { policy: 'carbon_aware', fallback: true, fallback_reason: 'failed_over' };
    const next = routingTrace(route, answeredBy(catalogue.candidate('d-fr') ?? null, 2));
    expect(next.decision).toMatch(/ se failed, and fr, which comes next, answered\.$/);
    expect(next).toMatchObject({ ...failedOver, region: 'fr', estimated_saving_g: 0.5 });
    expect(next.operational_signal?.g_per_kwh).toBe(50);
    const last = routingTrace(route, answeredBy(catalogue.candidate('d-us') ?? null, 3));
    expect(last).toMatchObject({ ...failedOver, region: 'us', estimated_saving_g: 0 });
    // Nobody is known to have answered.
    expect(routingTrace(route, answeredBy(null, 3))).toMatchObject({ fallback: false, estimated_saving_g: null });
  });

  it('counts a loss as a negative saving', () => {
    const regions = [region('se', 'SWE', 0), region('us', 'USA', 1), region('fr', 'FRA', 2)];
    const deployments = [deployment('d-se', 'se'), deployment('d-us', 'us'), deployment('d-fr', 'fr')];
    const grid = [live('USA', 300, 9), live('SWE', 60, 9), live('FRA', 50, 9)];
    const catalogue = catalogueOf({ regions, deployments, grid });
    // The preferred region was not asked, because another one was estimated lower, and that one turned out to take more.
    const route = routeOf(catalogue);
    const dear = (candidate: Candidate): Footprint => ({
      energyWh: candidate.region.code === 'fr' ? 3 : 2,
      embodiedG: 0.01,
    });
    const trace = routingTrace(route, { ...answeredBy(route.failoverChain[0]), footprintAt: dear });
    expect(trace).toMatchObject({ region: 'fr', estimated_saving_g: -0.03 });
    expect(trace.counterfactual).toMatchObject({ region: 'se', carbon_g: 0.13, served_carbon_g: 0.16 });
  });

  it('tells no saving against a region that was tried and failed', () => {
    const regions = [region('se', 'SWE', 0), region('us', 'USA', 1)];
    const catalogue = catalogueOf({ regions, grid: [live('USA', 300, 9), live('SWE', 20, 9)] });
    const trace = routingTrace(routeOf(catalogue), answeredBy(catalogue.candidate('d-us') ?? null, 2));
    expect(trace).toMatchObject({ region: 'us', fallback_reason: 'failed_over', estimated_saving_g: null });
  });

  it('tells no saving without an energy', () => {
    const catalogue = catalogueOf({ grid: [live('USA', 300, 9), live('SWE', 20, 9)] });
    const route = routeOf(catalogue);
    const trace = routingTrace(route, { ...answeredBy(route.failoverChain[0]), footprintAt: () => null });
    expect(trace).toMatchObject({ estimated_saving_g: null, counterfactual: { region: 'us', g_per_kwh: 300 } });
  });
});
