import { expect, test } from 'vitest';
import { allFailoverChains, failoverChain, pinnedChain } from './failover-chain.ts';
import { failoverCluster, type Snapshot } from './snapshot.ts';

const region = (code: string, preference: number): Snapshot['regions'][number] => ({
  code,
  name: code,
  country: 'x',
  gridZone: 'x',
  status: 'active',
  preference,
});
const deployment = (id: string, at: string, ...models: string[]): Snapshot['deployments'][number] => ({
  id,
  provider: 'p',
  region: at,
  models: Object.fromEntries(models.map((model) => [model, model])),
  pue: 1.1,
  wueOnsiteLPerKwh: null,
  telemetry: null,
});
const offer = {
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
  expect(names).toHaveLength(3 + 3 + 2);
});
