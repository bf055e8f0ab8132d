import { plainDeployment } from '@gw/testing/catalogue';
import { expect, test } from 'vitest';
import { allFailoverChains, failoverChain, namedFailoverChains, pinnedChain } from './failover-chain.ts';
import { failoverCluster, type Snapshot } from './snapshot.ts';

type Offer = Pick<Snapshot, 'aliases' | 'deployments' | 'regions'>;
const region = (code: string, preference: number): Snapshot['regions'][number] => ({
  code,
  name: code,
  country: 'x',
  gridZone: 'x',
  status: 'active',
  preference,
});
const deployment = (id: string, at: string, ...models: string[]): Snapshot['deployments'][number] => ({
  ...plainDeployment,
  id,
  region: at,
  models: Object.fromEntries(models.map((model) => [model, model])),
});
const offer: Offer = {
  aliases: [],
  regions: [region('c', 2), region('a', 0), region('b', 1)],
  deployments: [deployment('dc', 'c', 'm'), deployment('db', 'b', 'm', 'n'), deployment('da', 'a', 'm', 'n')],
};

test('the chosen region comes first, the others follow by preference', () => {
  expect(failoverChain(offer, 'm', 'c')).toEqual(['dc', 'da', 'db']);
  expect(failoverChain(offer, 'm', 'a')).toEqual(['da', 'db', 'dc']);
  expect(failoverChain(offer, 'n', 'b')).toEqual(['db', 'da']);
});

test('a pinned call never leaves its region', () => {
  expect(pinnedChain(offer, 'm', 'b')).toEqual(['db']);
  expect(pinnedChain(offer, 'n', 'c')).toEqual([]);
});

test('a property of every object is not taken for a model', () => {
  expect(failoverChain(offer, 'constructor', 'a')).toEqual([]);
});

test('every chain that a call can take has a cluster, once', () => {
  const names = allFailoverChains(offer).map(failoverCluster);
  expect(new Set(names).size).toBe(names.length);
  for (const model of ['m', 'n'])
    for (const { region: at } of offer.deployments.filter((each) => model in each.models)) {
      expect(names).toContain(failoverCluster(failoverChain(offer, model, at)));
      expect(names).toContain(failoverCluster(pinnedChain(offer, model, at)));
    }
  // Alone; of both models with each region first; and of m without one of the three.
  expect(names).toHaveLength(3 + (3 + 2) + 3 * 2 - 2);
});

const changed = (from: Offer, code: string, status: 'active' | 'degraded') => ({
  ...from,
  regions: from.regions.map((each) => (each.code === code ? { ...each, status } : each)),
});

test.each(['active', 'degraded'] as const)(
  'after a region has become %s, what can be named was there before',
  (after) => {
    for (const { code } of offer.regions) {
      const before = changed(offer, code, after === 'active' ? 'degraded' : 'active');
      const known = allFailoverChains(before).map(failoverCluster);
      const named = namedFailoverChains(changed(offer, code, after)).map(failoverCluster);
      expect(known).toEqual(expect.arrayContaining(named));
    }
  },
);

test('with many regions there are chains for what is active alone', () => {
  const many = Array.from({ length: 6 }, (_, at) => ({ code: `r${at}`, id: `d${at}` }));
  const large = {
    aliases: [],
    regions: many.map(({ code }, at) => region(code, at)),
    deployments: many.map(({ code, id }) => deployment(id, code, 'm')),
  };
  expect(allFailoverChains(large)).toHaveLength(6 + 6);
});

const aliased = {
  ...offer,
  deployments: [
    ...offer.deployments.map((each) => (each.id === 'da' ? { ...each, provider: 'q' } : each)),
    deployment('ea', 'a', 'o'),
  ],
  aliases: [{ id: 'best', created: 0, targets: [{ model: 'n', provider: 'q' }, { model: 'm' }, { model: 'o' }] }],
};

test('a call that names an alias goes from any region of any target on to the next targets, and then to those before', () => {
  const chains = namedFailoverChains(aliased).map((chain) => chain.join('>'));
  expect(chains).toEqual(expect.arrayContaining(['da>db>dc>ea', 'db>dc>ea>da', 'dc>db>ea>da', 'ea>da>db>dc']));
  // Within a region, in the order of the targets.
  expect(chains).toContain('da>ea');
  expect(new Set(chains).size).toBe(chains.length);
});

test.each(['active', 'degraded'] as const)('so it is before a region has become %s', (after) => {
  for (const { code } of aliased.regions) {
    const before = changed(aliased, code, after === 'active' ? 'degraded' : 'active');
    const known = allFailoverChains(before).map(failoverCluster);
    const named = namedFailoverChains(changed(aliased, code, after)).map(failoverCluster);
    expect(known).toEqual(expect.arrayContaining(named));
  }
});

test('an alias of one model brings no chain that the model does not have', () => {
  const aliases = [{ id: 'other-name', created: 0, targets: [{ model: 'm' }] }];
  expect(allFailoverChains({ ...offer, aliases }).length).toBe(allFailoverChains({ ...offer }).length);
});

test('an alias of many regions has chains for what is active alone, whatever its models have', () => {
  const many = Array.from({ length: 6 }, (_, at) => ({ code: `r${at}`, id: `d${at}` }));
  const large = {
    regions: many.map(({ code }, at) => region(code, at)),
    // Each model in three regions.
    deployments: many.map(({ code, id }, at) => deployment(id, code, at < 3 ? 'm' : 'n')),
    aliases: [{ id: 'both', created: 0, targets: [{ model: 'm' }, { model: 'n' }] }],
  };
  expect(allFailoverChains(large).length).toBe(allFailoverChains({ ...large, aliases: [] }).length + 6);
});

/** Models in three regions each, and aliases of three of them. */
function widely(models: number, aliases: number): Offer {
  const name = (at: number) => `m${at % models}`;
  return {
    regions: offer.regions,
    deployments: Array.from({ length: models }, (_, at) => at).flatMap((at) =>
      offer.regions.map(({ code }) => deployment(`d${at}${code}`, code, name(at))),
    ),
    aliases: Array.from({ length: aliases }, (_, at) => ({
      id: `alias${at}`,
      created: 0,
      targets: [0, 1, 2].map((next) => ({ model: name(at + next) })),
    })),
  };
}

test('aliases and models have chains for what may be next, each as long as their own are few', () => {
  const few = widely(15, 10);
  const known = allFailoverChains(few).map(failoverCluster);
  expect(known).toEqual(
    expect.arrayContaining(namedFailoverChains(changed(few, 'a', 'degraded')).map(failoverCluster)),
  );

  const many = widely(30, 30);
  const ofModels = allFailoverChains({ ...many, aliases: [] }).map(failoverCluster);
  // Each model has chains alone, with each region first, and the same without one of them.
  expect(ofModels).toHaveLength(30 * (3 + 3 + 3 * 2));
  const withAliases = allFailoverChains(many).map(failoverCluster);
  expect(withAliases).toEqual(expect.arrayContaining(ofModels));
  // Each alias has chains for what is active alone: each region of each target first, and within each region.
  expect(withAliases).toHaveLength(ofModels.length + 30 * (3 * 3 + 3));
});

test('however many models and aliases there are, the deployments are gone through a few times', () => {
  let reads = 0;
  const readsOf = (size: number): number => {
    reads = 0;
    const { deployments, ...rest } = widely(size, size);
    const counted = deployments.map(({ models, ...each }) => ({
      ...each,
      get models() {
        reads += 1;
        return models;
      },
    }));
    namedFailoverChains({ ...rest, deployments: counted });
    return reads / deployments.length;
  };
  expect(readsOf(100)).toBe(readsOf(10));
});
