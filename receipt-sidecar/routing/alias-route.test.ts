import { anyTolerance } from '@gw/contract/access';
import type { Snapshot, SnapshotModel } from '@gw/contract/internal/snapshot';
import { cases } from '@gw/testing/cases';
import { emptySnapshot, plainDeployment, plainModel } from '@gw/testing/catalogue';
import { parsedForTests } from '@gw/testing/receipt-sidecar/asked';
import { chainOf } from '@gw/testing/receipt-sidecar/chain';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { makeCatalogue } from '../catalogue/snapshot.ts';
import { chooseRoute } from './route.ts';
import { routingTrace } from './routing-trace.ts';

type Asked = Parameters<typeof chooseRoute>[0];
type Options = Asked['options'];
type Target = NonNullable<Snapshot['aliases']>[number]['targets'][number];

const codes = ['a', 'b', 'c'];
const model = (id: string, fields: Partial<SnapshotModel> = {}): SnapshotModel => ({ ...plainModel, id, ...fields });
const models = [
  model('gpt', { modelClass: 'frontier', activeParametersB: null, totalParametersB: null }),
  model('llama'),
  model('embedder', { kind: 'embedding' }),
];

interface Site {
  readonly region: string;
  readonly provider?: string;
  readonly models: readonly string[];
  readonly telemetry?: string | null;
}

interface World {
  readonly sites: readonly Site[];
  readonly targets?: readonly Target[];
  readonly inactive?: readonly string[];
  /** Grams by region. */
  readonly live?: Readonly<Record<string, number>>;
}

const at = '2026-01-01T00:00:00.000Z';
function snapshotOf({ inactive = [], live = {}, sites, targets = [{ model: 'gpt' }, { model: 'llama' }] }: World) {
  const snapshot: Snapshot = {
    ...emptySnapshot,
    publishedAt: at,
    models,
    regions: codes.map((code, preference) => {
      const status = inactive.includes(code) ? ('degraded' as const) : ('active' as const);
      return { code, name: code, country: code, gridZone: code, status, preference };
    }),
    deployments: sites.map(({ models: served, provider = 'p', region, telemetry = null }, index) => ({
      ...plainDeployment,
      id: `d${index}`,
      provider,
      region,
      telemetry,
      models: Object.fromEntries(served.map((id) => [id, `${id} there`])),
    })),
    aliases: [{ id: 'best', created: 0, targets: [...targets] }],
    grid: Object.entries(live).map(([zone, gPerKwh]) => ({
      zone,
      gPerKwh,
      source: 's',
      signal: 'average',
      basis: 'lifecycle',
      temporalMatch: null,
      waterLPerKwh: null,
      periodStart: at,
      periodEnd: '2026-01-01T01:00:00.000Z',
      observedAt: at,
    })),
  };
  return snapshot;
}

interface Asking {
  readonly name?: string;
  readonly options?: Options;
  readonly failing?: readonly string[];
  /** Out of reach. */
  readonly troubled?: readonly string[];
  readonly allowed?: readonly string[] | null;
  readonly endpoint?: Asked['endpoint'];
}

function choose(
  world: World,
  { allowed = null, endpoint = 'chat', failing = [], name = 'best', options = {}, ...more }: Asking = {},
) {
  const { troubled = [] } = more;
  const request = parsedForTests({ endpoint, model: name, options });
  return chooseRoute(request, makeCatalogue(snapshotOf(world)), allowed, {
    at: Date.parse(at),
    tolerance: anyTolerance,
    isResting: (id) => failing.includes(id),
    troubleOf: (id) => (troubled.includes(id) ? { status: 'degraded', forMs: 2000, failures: 5 } : null),
  });
}
/** The order in which deployments are tried, or the code of the error. */
function order(world: World, asking: Asking = {}): string {
  const routed = choose(world, asking);
  return routed.ok ? chainOf(routed.value) : routed.error.code;
}

/** gpt at two providers, one in two regions, and llama in the cleanest of all. */
const sites = [
  { region: 'b', provider: 'azure', models: ['gpt'] },
  { region: 'a', provider: 'azure', models: ['gpt'] },
  { region: 'a', provider: 'openai', models: ['gpt'] },
  { region: 'c', provider: 'own', models: ['llama'] },
];
const targets = [{ model: 'gpt', provider: 'azure' }, { model: 'gpt' }, { model: 'llama' }];

describe('a call that names an alias', () => {
  it('begins at its first target, in the region of that with the lowest carbon intensity, and goes on in the order of the list', () => {
    expect(order({ sites, targets })).toBe('d1>d0>d2>d3');
    expect(order({ sites, targets, live: { a: 300, b: 50, c: 1 } })).toBe('d0>d1>d2>d3');
    expect(order({ sites, targets: targets.toReversed(), live: { a: 300, b: 50, c: 1 } })).toBe('d3>d0>d1>d2');
  });

  it('begins at the next target while no region of those before can serve it, which are tried last', () => {
    expect(order({ sites, targets }, { failing: ['d1'] })).toBe('d0>d1>d2>d3');
    expect(order({ sites, targets }, { failing: ['d0', 'd1'] })).toBe('d2>d3>d1>d0');
    expect(order({ sites, targets }, { failing: ['d0', 'd1', 'd2'] })).toBe('d3>d1>d0>d2');
    expect(order({ sites, targets, inactive: ['a', 'b'] })).toBe('d3');
    expect(order({ sites, targets }, { failing: ['d0', 'd1', 'd2', 'd3'] })).toBe('d1>d0>d2>d3');
    expect(order({ sites, targets, inactive: codes })).toBe('upstream_error');
  });

  it('goes to the target that serves its tier, and to none that does not', () => {
    // Only llama has parameters.
    expect(order({ sites, targets }, { options: { tier: 'parametric' } })).toBe('d3');
    expect(order({ sites, targets }, { options: { tier: 'telemetry' } })).toBe('invalid_tier');
    const metered = sites.map((site) => ({ ...site, telemetry: site.provider === 'own' ? 'melious' : null }));
    expect(order({ sites: metered, targets }, { options: { tier: 'telemetry' } })).toBe('d3');
  });

  it('stays within the region that it pins, over all targets in their order', () => {
    expect(order({ sites, targets }, { options: { region: 'a' } })).toBe('d1>d2');
    expect(order({ sites, targets }, { options: { region: 'c' }, failing: ['d3'] })).toBe('d3');
    expect(order({ sites, targets }, { options: { region: 'a' }, troubled: ['d1'] })).toBe('d1>d2');
    expect(order({ sites, targets }, { options: { region: 'a' }, troubled: ['d1', 'd2'] })).toBe('region_degraded');
    const [first, ...others] = sites;
    expect(
      order({ sites: [{ ...first, region: 'a', models: ['gpt'] }, ...others], targets }, { options: { region: 'b' } }),
    ).toBe('invalid_model');
  });

  it('is refused as one for an unknown model unless the list of the account names the alias', () => {
    expect(order({ sites, targets }, { allowed: ['best'] })).toBe('d1>d0>d2>d3');
    const unknown = choose({ sites, targets }, { name: 'no-such' });
    for (const allowed of [[], ['gpt', 'llama']]) {
      const refused = choose({ sites, targets }, { allowed });
      expect(refused.ok || refused.error).toEqual({
        ...(unknown.ok ? {} : unknown.error),
        message: expect.stringContaining('`best` does not exist or is not offered to this account'),
      });
    }
    expect(order({ sites, targets }, { allowed: ['best'], name: 'gpt' })).toBe('invalid_model');
    expect(order({ sites, targets }, { endpoint: 'embeddings' })).toBe('invalid_model');
  });

  it('gets at each deployment the model of the target that names it first', () => {
    const routed = choose({ sites: [{ region: 'a', models: ['gpt', 'llama'] }, ...sites] });
    if (!routed.ok) throw new Error(routed.error.code);
    const { failoverChain, model: first, modelOf } = routed.value;
    expect(first.id).toBe('gpt');
    expect(failoverChain.map((each) => `${each.deployment.id} ${modelOf(each).id}`)).toEqual([
      ...['d0 gpt', 'd2 gpt', 'd3 gpt', 'd1 gpt', 'd4 llama'],
    ]);
  });
});

describe('the tiers of an alias', () => {
  // The size of gpt is not known, so it has no parametric tier.
  const tiersOf = (world: World, options: Options) => {
    const routed = choose(world, { options: { tier: 'parametric', ...options } });
    return routed.ok ? 'routed' : `${routed.error.code}: ${routed.error.message}`;
  };

  it('are, in a region, those of what is deployed there', () => {
    expect(tiersOf({ sites, targets }, { region: 'a' })).toMatch(/^invalid_tier: .* Offered: auto, proxy\.$/);
    expect(tiersOf({ sites, targets }, { region: 'c' })).toBe('routed');
  });

  it('are none of a target that nothing serves', () => {
    const alone = { sites: sites.filter(({ models: served }) => !served.includes('llama')), targets };
    expect(tiersOf(alone, {})).toMatch(/^invalid_tier: /);
  });
});

describe('the trace of a call that names an alias', () => {
  const decision = (world: World, asking: Asking = {}, by?: string, status = 200) => {
    const routed = choose(world, asking);
    if (!routed.ok) throw new Error(routed.error.code);
    const { failoverChain } = routed.value;
    const place = by === undefined ? 0 : failoverChain.findIndex(({ deployment }) => deployment.id === by);
    const served = {
      by: failoverChain[place] ?? null,
      attempts: place + 1,
      failures: [],
      status,
      fault: null,
      requestedAt: at,
      footprintAt: () => ({ energyWh: 2, embodiedG: null }),
      cachedTokens: null,
      uncachedFootprint: () => null,
    };
    return routingTrace(routed.value, served);
  };

  it('says which model was chosen and why, and which answered in its place', () => {
    expect(decision({ sites, targets }).decision).toBe(
      'The alias best was asked for, and gpt at azure was chosen, which comes first. a comes first in the provider preference among the regions that serve this model; no region that can be chosen has a live signal of its grid.',
    );
    expect(decision({ sites, targets }, { failing: ['d0', 'd1'] }).decision).toMatch(
      /^The alias best was asked for, and gpt at openai was chosen, which comes next after gpt at azure \(failing at the moment\)\. /,
    );
    expect(decision({ sites, targets }, { options: { tier: 'parametric' } }).decision).toContain(
      'llama at own was chosen, which comes next after gpt at azure (does not have the tier that was asked for), gpt (does not have the tier that was asked for). ',
    );
    const { decision: words, estimated_saving_g } = decision({ sites, targets }, {}, 'd3');
    expect(words).toMatch(
      / a, b failed, and c, which comes next, answered\. gpt did not answer; llama of the same alias did\.$/,
    );
    expect(estimated_saving_g).toBeNull();
    expect(decision({ sites, targets }, {}, 'd2').decision).not.toContain('of the same alias');
    // All have failed, the last one with an error.
    expect(decision({ sites, targets }, {}, 'd3', 500).decision).toMatch(
      / failed, and no other deployment was tried\.$/,
    );
    expect(decision({ sites, targets }, { options: { region: 'c' } }).decision).toBe(
      'The alias best was asked for, and llama at own was chosen, the first of it in that region that can serve the call. The request pinned the region c.',
    );
  });

  it('has the regions of the chosen target as candidates', () => {
    const regions = (asking: Asking) => decision({ sites, targets }, asking).candidates.map(({ region }) => region);
    expect(regions({})).toEqual(['a', 'b']);
    expect(regions({ failing: ['d0', 'd1', 'd2'] })).toEqual(['c']);
  });

  it('of a call that names a model says nothing of an alias', () => {
    expect(decision({ sites, targets }, { name: 'llama' }).decision).not.toContain('alias');
  });
});

it('what reading depends on is known of an alias as far as it is the same for all targets', () => {
  const factsOf = (first: Partial<SnapshotModel>, second: Partial<SnapshotModel>) => {
    const snapshot = { ...snapshotOf({ sites }), models: [model('gpt', first), model('llama', second)] };
    return makeCatalogue(snapshot).readable.get('best');
  };
  const tokenizer = 'o200k_base';
  expect(factsOf({ contextWindow: 8, tokenizer }, { contextWindow: 16, tokenizer })).toEqual({
    id: 'best',
    contextWindow: 16,
    tokenizer,
  });
  expect(factsOf({ contextWindow: 8, tokenizer }, { tokenizer: 'cl100k_base' })).toMatchObject({
    contextWindow: null,
    tokenizer: null,
  });
  expect(factsOf({ tokenizer }, {})?.tokenizer).toBeNull();
});

it('an id that is that of a model is the model, even if an alias has it too', () => {
  const snapshot = snapshotOf({ sites });
  const aliases = [{ id: 'llama', created: 0, targets: [{ model: 'gpt' }] }];
  expect(makeCatalogue({ ...snapshot, aliases }).named.get('llama')).toMatchObject({ isAlias: false });
});

const someSites = fc.array(
  fc.record({
    region: fc.constantFrom(...codes),
    provider: fc.constantFrom('p', 'q'),
    models: fc.subarray(['gpt', 'llama'], { minLength: 1 }),
    telemetry: fc.constantFrom(null, 'melious'),
  }),
  { minLength: 1, maxLength: 5 },
);
const someTargets = fc.array(
  fc.record(
    { model: fc.constantFrom('gpt', 'llama'), provider: fc.constantFrom('p', 'q') },
    { requiredKeys: ['model'] },
  ),
  { minLength: 1, maxLength: 4 },
);
const someOptions = fc.record(
  { tier: fc.constantFrom('auto', 'parametric', 'proxy', 'telemetry'), region: fc.constantFrom(...codes) },
  { requiredKeys: [] },
) as fc.Arbitrary<Options>;
const world = fc.record({
  sites: someSites,
  targets: someTargets,
  inactive: fc.subarray(codes),
  live: fc.dictionary(fc.constantFrom(...codes), fc.integer({ min: 0, max: 1000 })),
});
const failing = fc.subarray(['d0', 'd1', 'd2', 'd3', 'd4']);

it('a call that names an alias goes once to each deployment of its targets, pinned ones never elsewhere', () => {
  fc.assert(
    fc.property(world, someOptions, failing, (around, options, resting) => {
      const routed = choose(around, { options, failing: resting });
      if (!routed.ok) return;
      const { failoverChain, modelOf } = routed.value;
      expect(new Set(failoverChain.map(({ deployment }) => deployment.id)).size).toBe(failoverChain.length);
      for (const candidate of failoverChain) {
        const { deployment, region } = candidate;
        expect(region.status).toBe('active');
        if (options.region) expect(region.code).toBe(options.region);
        const { id } = modelOf(candidate);
        const isTarget = ({ model: name, provider }: Target) =>
          name === id && [undefined, deployment.provider].includes(provider);
        expect(around.targets.some(isTarget)).toBe(true);
        expect(Object.hasOwn(deployment.models, id)).toBe(true);
      }
    }),
    { numRuns: cases(2000) },
  );
});

it('an alias of one model goes where the model goes', () => {
  fc.assert(
    fc.property(world, someOptions, failing, (around, options, resting) => {
      const one = { ...around, targets: [{ model: 'gpt' }] };
      expect(order(one, { options, failing: resting })).toBe(order(one, { name: 'gpt', options, failing: resting }));
    }),
    { numRuns: cases(1000) },
  );
});
