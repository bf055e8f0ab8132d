import { expect, test } from 'vitest';
import { allOrders, failoverOrder, pinnedOrder } from './failover-order.ts';
import { orderCluster, type Snapshot } from './snapshot.ts';

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
  expect(failoverOrder(offer, 'm', 'c')).toEqual(['dc', 'da', 'db']);
  expect(failoverOrder(offer, 'm', 'a')).toEqual(['da', 'db', 'dc']);
  expect(failoverOrder(offer, 'n', 'b')).toEqual(['db', 'da']);
});

test('a pinned call never leaves its region', () => {
  expect(pinnedOrder(offer, 'm', 'b')).toEqual(['db']);
  expect(pinnedOrder(offer, 'n', 'c')).toEqual([]);
});

test('a property of every object is not taken for a model', () => {
  expect(failoverOrder(offer, 'constructor', 'a')).toEqual([]);
});

test('every order that a call can take has a cluster, once', () => {
  const names = allOrders(offer).map(orderCluster);
  expect(new Set(names).size).toBe(names.length);
  for (const model of ['m', 'n'])
    for (const { region: at } of offer.deployments.filter((each) => model in each.models)) {
      expect(names).toContain(orderCluster(failoverOrder(offer, model, at)));
      expect(names).toContain(orderCluster(pinnedOrder(offer, model, at)));
    }
  expect(names).toHaveLength(3 + 3 + 2);
});
