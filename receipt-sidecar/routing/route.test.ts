import { anyTolerance } from '@gw/contract/access';
import type { Snapshot } from '@gw/contract/internal/snapshot';
import { servesTelemetry } from '@gw/methodology/tier';
import { cases } from '@gw/testing/cases';
import { emptySnapshot, plainModel as model, plainDeployment } from '@gw/testing/catalogue';
import { parsedForTests, steeringForTests } from '@gw/testing/receipt-sidecar/asked';
import { chainOf } from '@gw/testing/receipt-sidecar/chain';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { ParsedRequest } from '../api/port/parsed-request.ts';
import type { Trouble } from '../attempts/unavailable-deployments.ts';
import { makeCatalogue } from '../catalogue/snapshot.ts';
import { estimateCall } from '../guards/budgets/estimate.ts';
import { chooseRoute } from './route.ts';

type Options = Parameters<typeof chooseRoute>[0]['options'];

interface Site {
  readonly region: string;
  readonly telemetry: string | null;
  readonly name?: string;
  readonly latencyMs?: number | null;
  readonly apis?: readonly string[];
}

const codes = ['a', 'b', 'c'];

/** Regions a, b and c in the order of preference. */
function snapshotOf(
  sites: readonly Site[],
  inactive: readonly string[] = [],
  live: Readonly<Record<string, number>> = {},
): Snapshot {
  const publishedAt = '2026-01-01T00:00:00.000Z';
  return {
    ...emptySnapshot,
    publishedAt,
    models: [model],
    regions: codes.map((code, preference) => ({
      code,
      name: code,
      country: code,
      gridZone: code,
      status: inactive.includes(code) ? ('degraded' as const) : ('active' as const),
      preference,
    })),
    deployments: sites.map(({ apis, region, telemetry, name = 'm', latencyMs = null }, index) => ({
      ...plainDeployment,
      id: `d${index}`,
      region,
      latencyMs,
      models: { m: name },
      telemetry,
      ...(apis && { calls: { apis: [...apis] } }),
    })),
    grid: Object.entries(live).map(([zone, gPerKwh]) => ({
      zone,
      gPerKwh,
      source: 's',
      signal: 'average',
      basis: 'lifecycle',
      temporalMatch: null,
      waterLPerKwh: null,
      periodStart: publishedAt,
      periodEnd: '2026-01-01T01:00:00.000Z',
      observedAt: publishedAt,
    })),
  };
}

const choose = (
  snapshot: Snapshot,
  options: Options,
  tolerance = anyTolerance,
  isFailing: (id: string) => boolean = () => false,
  troubleOf: (id: string) => Trouble | null = () => null,
) =>
  chooseRoute(
    parsedForTests({ options }),
    makeCatalogue(snapshot),
    null,
    steeringForTests(snapshot.publishedAt, { tolerance, isResting: isFailing, troubleOf }),
  );

describe('the first region', () => {
  const sites = codes.map((region) => ({ region, telemetry: null }));
  const first = (snapshot: Snapshot, options: Options = {}) => {
    const routed = choose(snapshot, options);
    return routed.ok ? chainOf(routed.value) : routed.error.code;
  };

  it('is the one with the lowest carbon intensity of those that can serve the call', () => {
    const live = { a: 300, b: 50, c: 20 };
    expect(first(snapshotOf(sites, [], live))).toBe('d2>d1>d0');
    expect(first(snapshotOf(sites, ['c'], live))).toBe('d1>d0');
    expect(first(snapshotOf(sites, [], live), { region: 'a' })).toBe('d0');
  });

  it('is the lowest however little another one is above it, whatever was chosen before', () => {
    expect(first(snapshotOf(sites, [], { a: 100, b: 104, c: 200 }))).toBe('d0>d1>d2');
    expect(first(snapshotOf(sites, [], { a: 104, b: 100, c: 200 }))).toBe('d1>d0>d2');
  });
});

describe('the API of a call', () => {
  const live = { a: 300, b: 50, c: 20 };
  const sites = [
    { region: 'a', telemetry: null },
    { region: 'b', telemetry: null, apis: ['chat', 'completions'] },
    { region: 'c', telemetry: null, apis: ['chat'] },
  ];
  const routed = (endpoint: string, options: Options = {}, inactive: readonly string[] = []) => {
    const snapshot = snapshotOf(sites, inactive, live);
    const steering = steeringForTests(snapshot.publishedAt);
    return chooseRoute(parsedForTests({ endpoint, options }), makeCatalogue(snapshot), null, steering);
  };

  it('leaves out deployments whose providers do not speak it, in fail-over too', () => {
    for (const [endpoint, chain] of [
      ['chat', 'd2>d1>d0'],
      ['completions', 'd1>d0'],
    ] as const) {
      const route = routed(endpoint);
      expect(route.ok && chainOf(route.value)).toBe(chain);
    }
    const route = routed('completions');
    expect(route.ok && route.value.offered.map(route.value.barredBy)).toEqual([null, null, 'api_not_spoken']);
  });

  it('that nobody speaks is refused with the paths that can be asked, also in a pinned region', () => {
    expect(routed('completions', { region: 'c' })).toMatchObject({
      error: {
        code: 'invalid_model',
        message: expect.stringContaining(
          'is not served at /v1/completions in the region `c`. Send the call to /v1/chat/completions',
        ),
      },
    });
    expect(routed('completions', { region: 'b' })).toMatchObject({ ok: true });
    expect(routed('completions', {}, ['a', 'b'])).toMatchObject({ error: { code: 'upstream_error' } });
    const chatOnly = snapshotOf(sites.slice(2));
    const steering = steeringForTests(chatOnly.publishedAt);
    expect(
      chooseRoute(parsedForTests({ endpoint: 'completions' }), makeCatalogue(chatOnly), null, steering),
    ).toMatchObject({
      error: {
        code: 'invalid_model',
        message: expect.stringContaining('is not served at /v1/completions. Send the call to /v1/chat/completions'),
      },
    });
  });
});

describe('a call that can be translated', () => {
  const live = { a: 300, b: 50, c: 20 };
  const all = ['chat', 'completions', 'responses'];
  const sites = [
    { region: 'a', telemetry: null, apis: all },
    { region: 'b', telemetry: null, apis: all },
    { region: 'c', telemetry: null },
  ];
  const routed = (more: Partial<ParsedRequest> = {}, resting: readonly string[] = []) => {
    const snapshot = snapshotOf([...sites, { region: 'a', telemetry: null }], [], live);
    const isResting = (id: string) => resting.includes(id);
    const steering = steeringForTests(snapshot.publishedAt, { isResting });
    return chooseRoute(parsedForTests({ endpoint: 'responses', ...more }), makeCatalogue(snapshot), null, steering);
  };
  const chain = (...given: Parameters<typeof routed>) => {
    const route = routed(...given);
    return route.ok ? chainOf(route.value) : route.error;
  };

  it('goes first to deployments that speak its API, by carbon, and is translated for the others after them', () => {
    expect(chain()).toBe('d1>d0>d2>d3');
    expect(chain({ options: { region: 'a' } })).toBe('d0>d3');
    const route = routed();
    expect(route.ok && route.value.offered.map((each) => [each.deployment.id, route.value.barredBy(each)])).toEqual([
      ['d0', null],
      ['d3', 'api_not_spoken'],
      ['d1', null],
      ['d2', 'api_not_spoken'],
    ]);
  });

  it('begins at a translation where all that speak its API rest', () => {
    expect(chain({}, ['d0', 'd1'])).toBe('d2>d3>d0>d1');
  });

  it('never goes where a field of it has no counterpart, and is refused by its name where it could go nowhere else', () => {
    const untranslatable = { chat: { field: 'tools[0].type', why: 'it has no counterpart there' } };
    expect(chain({ untranslatable })).toBe('d1>d0');
    expect(chain({ untranslatable, options: { region: 'c' } })).toMatchObject({
      code: 'unsupported_field',
      param: 'tools[0].type',
      message: expect.stringContaining('`tools[0].type` cannot be: it has no counterpart there'),
    });
  });
});

describe('a deployment that fails', () => {
  const live = { a: 300, b: 50, c: 20 };
  const sites = codes.map((region) => ({ region, telemetry: null }));
  const first = (failing: readonly string[], options: Options = {}, values = live) => {
    const routed = choose(snapshotOf(sites, [], values), options, anyTolerance, (id) => failing.includes(id));
    return routed.ok ? chainOf(routed.value) : routed.error.code;
  };

  it('is not where a free call begins, and stays for its fail-over', () => {
    expect(first(['d2'])).toBe('d1>d0>d2');
    expect(first(['d0'], {}, {} as never)).toBe('d1>d0>d2');
    expect(first(['d0', 'd1', 'd2'])).toBe('d2>d1>d0');
    expect(first(['d2'], { region: 'c' })).toBe('d2');
  });

  it('that is in trouble refuses a pinned call if the whole region is', () => {
    const twice = ['c', 'a', 'c'].map((region) => ({ region, telemetry: null }));
    const pinned = (troubles: Readonly<Record<string, Trouble['status']>>) => {
      const troubleOf = (id: string) => (troubles[id] ? { status: troubles[id], forMs: 2500, failures: 5 } : null);
      const snapshot = snapshotOf(twice, [], live);
      const routed = choose(snapshot, { region: 'c' }, anyTolerance, () => false, troubleOf);
      return routed.ok ? chainOf(routed.value) : [routed.error.code, routed.error.param, routed.error.retryAfterS];
    };
    expect(pinned({ d0: 'degraded' })).toBe('d0>d2');
    expect(pinned({ d0: 'degraded', d2: 'degraded' })).toEqual(['region_degraded', 'gw.region', undefined]);
    expect(pinned({ d0: 'degraded', d2: 'saturated' })).toEqual(['region_saturated', 'gw.region', 3]);
    expect(pinned({ d1: 'degraded' })).toBe('d0>d2');
  });

  it('has its region rest if the others of it do too, and only then', () => {
    const twice = ['c', 'a', 'c'].map((region) => ({ region, telemetry: null }));
    const beginsAt = (failing: readonly string[]) => {
      const routed = choose(snapshotOf(twice, [], live), {}, anyTolerance, (id) => failing.includes(id));
      return routed.ok && chainOf(routed.value);
    };
    expect(beginsAt(['d2'])).toBe('d0>d2>d1');
    expect(beginsAt(['d0'])).toBe('d2>d0>d1');
    expect(beginsAt(['d0', 'd2'])).toBe('d1>d0>d2');
  });
});

describe('the deployments that share the calls of a region', () => {
  const sites = ['c', 'a', 'c', 'c', 'b'].map((region) => ({ region, telemetry: null }));
  const live = { a: 300, b: 22, c: 20 };
  const changed = (values: Readonly<Record<string, number>>, changes: readonly object[]) => {
    const snapshot = snapshotOf(sites, [], values);
    return { ...snapshot, deployments: snapshot.deployments.map((each, at) => ({ ...each, ...changes[at] })) };
  };
  const peers = (changes: readonly object[] = [], options: Options = {}, failing: readonly string[] = []) => {
    const routed = choose(changed(live, changes), options, anyTolerance, (id) => failing.includes(id));
    if (!routed.ok) return routed.error.code;
    return `${chainOf(routed.value)}: ${routed.value.peers.map(({ deployment }) => deployment.id).join(' ')}`;
  };

  it('are those of the model there that do not rest and are not for fail-over alone', () => {
    expect(peers()).toBe('d0>d2>d3>d4>d1: d0 d2 d3');
    expect(peers([{}, {}, { weight: 0 }])).toBe('d0>d3>d2>d4>d1: d0 d3');
    expect(peers([{ weight: 0 }])).toBe('d2>d3>d0>d4>d1: d2 d3');
    expect(peers([], {}, ['d0'])).toBe('d2>d3>d0>d4>d1: d2 d3');
    expect(peers([], { region: 'c' })).toBe('d0>d2>d3: d0 d2 d3');
    expect(peers([], { region: 'c' }, ['d0', 'd3'])).toBe('d0>d2>d3: d2');
    expect(peers([], { region: 'c' }, ['d0', 'd2', 'd3'])).toBe('d0>d2>d3: d0 d2 d3');
    expect(peers([{}, {}, { weight: 0 }], { region: 'c' })).toBe('d0>d3>d2: d0 d3');
  });

  it('are none at which the call is estimated to cause more than in the region that comes next', () => {
    expect(peers([{}, {}, { pue: 1.2 }, { pue: 1.3 }])).toBe('d0>d2>d3>d4>d1: d0 d2');
    expect(peers([{ pue: 1.3 }, {}, { pue: 1.1 }])).toBe('d4>d0>d2>d3>d1: d4');
  });

  it('are none that are not known to be within the tolerance of the call', () => {
    const known = { latencyMs: 100 };
    const changes = [known, { ...known, latencyMs: 10 }, { latencyMs: 105 }, {}, known];
    expect(peers(changes, { max_added_latency_ms: 90 })).toBe('d0>d2>d3>d4>d1: d0');
    expect(peers(changes, { max_added_latency_ms: 95 })).toBe('d0>d2>d3>d4>d1: d0 d2');
  });
});

describe('a tolerance', () => {
  const live = { a: 300, b: 20, c: 50 };
  const costs = [
    { latencyMs: 100, relativeCost: 1 },
    { latencyMs: 180, relativeCost: 1.1 },
    { latencyMs: 110, relativeCost: 1.3 },
  ];
  const snapshot = snapshotOf(
    codes.map((region) => ({ region, telemetry: null })),
    [],
    live,
  );
  const priced = { ...snapshot, deployments: snapshot.deployments.map((each, at) => ({ ...each, ...costs[at] })) };
  const chain = (offer: Snapshot, options: Options, tolerance = anyTolerance) => {
    const routed = choose(offer, options, tolerance);
    return routed.ok ? chainOf(routed.value) : routed.error.code;
  };

  it.each<[Options, string]>([
    [{}, 'd1>d2>d0'],
    [{ max_added_latency_ms: 80 }, 'd1>d2>d0'],
    [{ max_added_latency_ms: 79 }, 'd2>d0>d1'],
    [{ max_added_latency_ms: 9 }, 'd0>d1>d2'],
    [{ max_added_cost_percent: 10 }, 'd1>d0>d2'],
    [{ max_added_cost_percent: 9 }, 'd0>d1>d2'],
    [{ max_added_cost_percent: 30, max_added_latency_ms: 10 }, 'd2>d0>d1'],
  ])('of %j keeps what is too slow or too dear for fail-over alone', (options, expected) => {
    expect(chain(priced, options)).toBe(expected);
  });

  it('is the one of the account where the request says none', () => {
    const account = { addedLatencyMs: 10, addedCostPercent: 30 };
    expect(chain(priced, {}, account)).toBe('d2>d0>d1');
    expect(chain(priced, { max_added_latency_ms: 80 }, account)).toBe('d1>d2>d0');
  });

  it('lets nothing be chosen by its carbon that says nothing of itself', () => {
    expect(chain(snapshot, { max_added_latency_ms: 1000 })).toBe('d0>d1>d2');
  });
});

function outcome(sites: readonly Site[], options: Options, inactive?: readonly string[]): string {
  const routed = choose(snapshotOf(sites, inactive), options);
  return routed.ok ? chainOf(routed.value) : routed.error.code;
}

const total = 'melious';
const counters = 'gpu_counters';

describe('an explicit telemetry tier', () => {
  const measured = (options: Options = {}): Options => ({ ...options, tier: 'telemetry' });

  it('keeps the fail-over where every deployment reports energy', () => {
    const sites = [
      { region: 'a', telemetry: total },
      { region: 'b', telemetry: counters },
    ];
    expect(outcome(sites, measured())).toBe('d0>d1');
    expect(outcome(sites, measured({ region: 'b' }))).toBe('d1');
    // The one that stays is the one that measures the accelerators alone.
    expect(outcome(sites, measured({ boundary: 'narrow' }))).toBe('d1');
  });

  it('never goes on to a deployment that does not report energy', () => {
    const sites = [
      { region: 'a', telemetry: null },
      { region: 'b', telemetry: total },
      { region: 'c', telemetry: total },
    ];
    expect(outcome(sites, measured())).toBe('d1>d2');
    expect(outcome(sites, measured(), ['a'])).toBe('d1>d2');
    expect(outcome(sites, measured(), ['b'])).toBe('d2');
    expect(outcome(sites, measured(), ['b', 'c'])).toBe('upstream_error');
    expect(outcome(sites, {})).toBe('d0>d1>d2');
  });

  it('finds the deployment of a region that reports it', () => {
    const sites = [
      { region: 'a', telemetry: null },
      { region: 'a', telemetry: total },
    ];
    expect(outcome(sites, measured({ region: 'a' }))).toBe('d1');
    expect(outcome(sites, { region: 'a' })).toBe('d0>d1');
  });

  it('is refused where it cannot be served, in words that say what can', () => {
    const sites = [
      { region: 'a', telemetry: null },
      { region: 'b', telemetry: total },
    ];
    const refused = (options: Options) => {
      const routed = choose(snapshotOf(sites), options);
      return routed.ok ? null : [routed.error.code, routed.error.param, routed.error.message];
    };
    expect(refused(measured({ region: 'a' }))).toEqual([
      'invalid_tier',
      'gw.tier',
      'The tier `telemetry` is not available for `m` in the region `a` in the comprehensive boundary. Offered: auto, parametric.',
    ]);
    expect(refused(measured({ boundary: 'narrow' }))?.[2]).toContain('for `m` in the narrow boundary.');
    expect(refused({ tier: 'proxy' })?.[2]).toContain('Offered: auto, parametric, telemetry.');
    expect(outcome([{ region: 'a', telemetry: 'no such shape' }], measured())).toBe('invalid_tier');
  });
});

const sites = fc.array(
  fc.record({
    region: fc.constantFrom(...codes),
    telemetry: fc.constantFrom(null, total, counters),
    name: fc.constantFrom('m', 'another'),
    latencyMs: fc.constantFrom(null, 100, 110, 900),
  }),
  { minLength: 1, maxLength: 5 },
);
const options = fc.record(
  {
    tier: fc.constantFrom('auto', 'parametric', 'telemetry'),
    boundary: fc.constantFrom('comprehensive', 'narrow'),
    region: fc.constantFrom(...codes),
    max_added_latency_ms: fc.constantFrom(0, 50),
  },
  { requiredKeys: [] },
) as fc.Arbitrary<Options>;

const ids = ['d0', 'd1', 'd2', 'd3', 'd4'];
const intensities = fc.dictionary(fc.constantFrom(...codes), fc.integer({ min: 0, max: 1000 }));

it('a route goes to active deployments that serve the tier, each once', () => {
  fc.assert(
    fc.property(
      sites,
      options,
      fc.subarray(codes),
      intensities,
      fc.subarray(ids),
      (offered, asked, inactive, live, failing) => {
        const snapshot = snapshotOf(offered, inactive, live);
        const routed = choose(snapshot, asked, anyTolerance, (id) => failing.includes(id));
        if (!routed.ok) return;
        const { failoverChain } = routed.value;
        const isAble = (id: string) => !failing.includes(id);
        const isFree = !asked.region && asked.tier !== 'telemetry';
        const active = routed.value.offered.filter(({ region }) => region.status === 'active');
        if (isFree) expect(failoverChain).toHaveLength(active.length);
        const able = routed.value.offered.filter((each) => routed.value.barredBy(each) === null);
        if (!asked.region && able.some(({ deployment }) => isAble(deployment.id)))
          expect(able.map(({ region }) => region.code)).toContain(failoverChain[0].region.code);
        for (const { deployment, region } of failoverChain) {
          expect(region.status).toBe('active');
          if (asked.region) expect(region.code).toBe(asked.region);
          if (asked.tier !== 'telemetry') continue;
          expect(servesTelemetry(deployment.telemetry, asked.boundary ?? 'comprehensive')).toBe(true);
        }
      },
    ),
    { numRuns: cases(2000) },
  );
});

describe('a ceiling of carbon', () => {
  const sites = codes.map((region) => ({ region, telemetry: null }));
  const live = { a: 300, b: 50, c: 20 };
  const estimates = (max_carbon_g: number, more: Options = {}) =>
    choose(snapshotOf(sites, [], live), { max_carbon_g, ...more });
  const lowest = () => {
    const refused = estimates(1e-9);
    return Number(/lowest estimate is ([\d.e-]+) g, in c/.exec(refused.ok ? '' : refused.error.message)?.[1]);
  };

  it('that is above every estimate changes nothing', () => {
    const routed = estimates(1e6);
    expect(routed.ok && chainOf(routed.value)).toBe('d2>d1>d0');
  });

  it('leaves out the regions above it, also for fail-over, and the trace says so', () => {
    const routed = estimates(lowest() * 1.2);
    if (!routed.ok) throw new Error(routed.error.code);
    const { barredBy, offered } = routed.value;
    expect(offered.map(barredBy)).toEqual(['carbon_above_ceiling', 'carbon_above_ceiling', null]);
    expect(chainOf(routed.value)).toBe('d2');
  });

  it('that no region keeps is an error that names the lowest estimate, as is one that the pinned region does not keep', () => {
    const error = { code: 'max_carbon_exceeded', status: 400, param: 'gw.max_carbon_g' };
    expect(estimates(lowest() / 2)).toMatchObject({ ok: false, error });
    const pinned = estimates(lowest() * 1.2, { region: 'a' });
    expect(pinned).toMatchObject({ ok: false, error: { ...error, message: expect.stringMatching(/, in a\./) } });
    expect(estimates(lowest() * 1.2, { region: 'c' }).ok).toBe(true);
  });

  it('is not kept where nobody can estimate the call', () => {
    const refused = choose(snapshotOf(sites), { max_carbon_g: 1000 });
    expect(refused).toMatchObject({ ok: false, error: { message: expect.stringContaining('nobody can estimate it') } });
  });

  it('holds for a call that asks for no answer, too', () => {
    const none = (max_carbon_g: number) =>
      routeOf(asking(max_carbon_g, { endpoint: 'completions', estimatedPromptTokens: 10_000, maxTokens: 0 }));
    expect(none(1e6).ok).toBe(true);
    expect(none(1e-9)).toMatchObject({ ok: false, error: { code: 'max_carbon_exceeded' } });
  });

  const asking = (max_carbon_g: number, more: Partial<ParsedRequest> = {}) =>
    parsedForTests({ estimatedPromptTokens: 10, ...more, options: { max_carbon_g, ...more.options } });
  const snapshot = snapshotOf(sites, [], live);
  const catalogue = makeCatalogue(snapshot);
  const routeOf = (request: ParsedRequest) =>
    chooseRoute(request, catalogue, null, steeringForTests(snapshot.publishedAt));
  /** The estimate in the region c of an answer of so many tokens. */
  const gramsOf = (maxTokens: number, more: Partial<ParsedRequest> = {}) => {
    const route = routeOf(asking(1e6, more));
    if (!route.ok) throw new Error(route.error.code);
    const { failoverChain, model: served } = route.value;
    const request = { ...asking(1e6, more), maxTokens };
    return estimateCall(request, served, failoverChain[0], snapshot.publishedAt).carbon_g ?? Number.NaN;
  };

  it.each([10, 20, 50])('refuses no short call, of %i tokens, at more than three times what it takes', (tokens) => {
    for (const maxTokens of [null, tokens, 400, 5000]) {
      const least = gramsOf(Math.min(5, maxTokens ?? 5));
      expect(least / gramsOf(tokens)).toBeLessThan(3);
      expect(routeOf(asking(least, { maxTokens })).ok).toBe(true);
      expect(routeOf(asking(least * 0.999, { maxTokens }))).toMatchObject({ ok: false });
    }
  });

  it('bounds an answer to the length that keeps it, where the client allows more', () => {
    const boundOf = (request: ParsedRequest) => {
      const route = routeOf(request);
      return route.ok ? route.value.bound : route.error.code;
    };
    const by = (tokens: number) => ({ tokens, set_by: 'max_carbon_g' });
    expect(boundOf(asking(gramsOf(300)))).toEqual(by(300));
    expect(boundOf(asking(gramsOf(3000)))).toEqual(by(3000));
    // With a prompt of more tokens than its bytes tell, the window has room for no more.
    const small = makeCatalogue({
      ...snapshot,
      models: snapshot.models.map((each) => ({ ...each, contextWindow: 525 })),
    });
    const inSmall = chooseRoute(asking(gramsOf(510)), small, null, steeringForTests(snapshot.publishedAt));
    expect(inSmall).toMatchObject({ ok: true, value: { bound: by(500) } });
    // Not every model takes a longer bound.
    expect(boundOf(asking(gramsOf(9000)))).toEqual(by(4096));
    expect(boundOf(asking(gramsOf(200_000)))).toBeNull();
    expect(boundOf(asking(gramsOf(300), { maxTokens: 301 }))).toEqual(by(300));
    expect(boundOf(asking(gramsOf(9000), { maxTokens: 10_000 }))).toEqual(by(9000));
    expect(boundOf(asking(gramsOf(300), { maxTokens: 300 }))).toBeNull();
    expect(boundOf(asking(gramsOf(300, { candidates: 2 }), { candidates: 2 }))).toEqual(by(300));
  });

  it('is kept by every deployment of the chain, with the bound that the provider gets', () => {
    const check = (grams: number, maxTokens: number | null, candidates: number) => {
      const request = asking(grams, { maxTokens, candidates });
      const route = routeOf(request);
      if (!route.ok) {
        expect(gramsOf(Math.min(5, maxTokens ?? 5), { candidates })).toBeGreaterThan(grams);
        return;
      }
      const { bound, failoverChain, model: served } = route.value;
      const longest = bound?.tokens ?? maxTokens ?? 131_072;
      expect(longest).toBeLessThanOrEqual(maxTokens ?? 131_072);
      for (const each of failoverChain) {
        const estimate = estimateCall({ ...request, maxTokens: longest }, served, each, snapshot.publishedAt);
        expect(estimate.carbon_g).toBeLessThanOrEqual(grams * (1 + 1e-6));
      }
    };
    const grams = fc.double({ min: -5, max: 3, noNaN: true }).map((power) => 10 ** power);
    const limit = fc.option(fc.integer({ min: 1, max: 100_000 }));
    fc.assert(fc.property(grams, limit, fc.integer({ min: 1, max: 4 }), check), { numRuns: cases(500) });
  });

  it('cuts no answer to less than half of what another region allows, though the first be preferred', () => {
    // Nobody compares annual averages.
    const year = {
      signal: 'annual' as const,
      periodStart: '2024-01-01T00:00:00.000Z',
      periodEnd: '2025-01-01T00:00:00.000Z',
    };
    const annual = {
      ...snapshot,
      grid: snapshot.grid.map((each) => ({ ...each, ...year, ...(each.zone === 'b' && { gPerKwh: 300 }) })),
    };
    const chainBelow = (grams: number) => {
      const route = chooseRoute(asking(grams), makeCatalogue(annual), null, steeringForTests(snapshot.publishedAt));
      return route.ok ? [chainOf(route.value), route.value.bound?.tokens] : route.error.code;
    };
    expect(chainBelow(1e6)).toEqual(['d0>d1>d2', undefined]);
    expect(chainBelow(gramsOf(100))).toEqual(['d2', 100]);
  });

  it('of another request with a longer prompt or more answers is reached sooner', () => {
    const carbonOf = (more: Partial<ParsedRequest>) => {
      const refused = routeOf(asking(1e-9, more));
      return Number(/lowest estimate is ([\d.e-]+) g/.exec(refused.ok ? '' : refused.error.message)?.[1]);
    };
    const usual = carbonOf({});
    expect(carbonOf({ maxTokens: 800 })).toBe(usual);
    expect(carbonOf({ maxTokens: 1 })).toBeLessThan(usual * 0.6);
    expect(carbonOf({ candidates: 2 })).toBeGreaterThan(1.5 * usual);
    expect(carbonOf({ estimatedPromptTokens: 10_000 })).toBeGreaterThan(1.5 * usual);
  });
});
