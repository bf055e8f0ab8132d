import { expect, test } from 'vitest';
import { offeredTargets, targetText } from './alias-targets.ts';

const deployment = (id: string, provider: string, ...models: string[]) => ({
  id,
  provider,
  models: Object.fromEntries(models.map((model) => [model, model])),
});
const all = [deployment('a', 'p', 'm'), deployment('b', 'q', 'm', 'n'), deployment('c', 'p', 'n')];
const idsOf = (targets: { id: string }[][]) => targets.map((own) => own.map(({ id }) => id).join());

test('a deployment is that of the first target that names it', () => {
  expect(idsOf(offeredTargets(all, [{ model: 'm', provider: 'q' }, { model: 'm' }, { model: 'n' }]))).toEqual([
    ...['b', 'a', 'c'],
  ]);
  expect(idsOf(offeredTargets(all, [{ model: 'n' }, { model: 'm', provider: 'q' }]))).toEqual(['b,c', '']);
});

test('a property of every object is not taken for a model', () => {
  expect(idsOf(offeredTargets(all, [{ model: 'constructor' }]))).toEqual(['']);
});

test('however many aliases there are, the deployments are gone through once', () => {
  let reads = 0;
  const counted = all.map(({ models, ...rest }) => ({
    ...rest,
    get models() {
      reads += 1;
      return models;
    },
  }));
  for (let alias = 0; alias < 100; alias++)
    expect(idsOf(offeredTargets(counted, [{ model: 'n', provider: 'p' }, { model: 'm' }]))).toEqual(['c', 'a,b']);
  expect(reads).toBe(all.length);
});

test('a target is told by its model, and by its provider where it names one', () => {
  expect([targetText({ model: 'm' }), targetText({ model: 'm', provider: 'p' })]).toEqual(['m', 'm at p']);
});
