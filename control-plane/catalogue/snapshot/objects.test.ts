import type { Snapshot, SnapshotModel } from '@gw/contract/internal/snapshot';
import { emptySnapshot, plainDeployment, plainModel } from '@gw/testing/catalogue';
import { expect, test } from 'vitest';
import { modelObjects } from './objects.ts';

const model = (id: string, fields: Partial<SnapshotModel>): SnapshotModel => ({ ...plainModel, id, ...fields });
const deployment = (id: string, provider: string, region: string, served: string): Snapshot['deployments'][number] => ({
  ...plainDeployment,
  id,
  provider,
  region,
  models: { [served]: served },
});
const region = (code: string): Snapshot['regions'][number] => ({
  code,
  name: code,
  country: 'x',
  gridZone: 'x',
  status: 'active',
  preference: 0,
});
const unknownSize = { activeParametersB: null, totalParametersB: null } as const;
const snapshot: Snapshot = {
  ...emptySnapshot,
  regions: ['a', 'b', 'c'].map(region),
  models: [
    model('gpt', { ...unknownSize, modelClass: 'frontier', contextWindow: 16, modalities: ['text', 'image', 'audio'] }),
    model('llama', { contextWindow: 8, modalities: ['text', 'audio'] }),
    model('idle', { contextWindow: 4 }),
  ],
  deployments: [
    deployment('d', 'azure', 'c', 'gpt'),
    deployment('e', 'openai', 'b', 'gpt'),
    { ...deployment('f', 'own', 'a', 'llama'), telemetry: 'melious' },
  ],
  aliases: [
    {
      id: 'best',
      created: 7,
      targets: [{ model: 'gpt', provider: 'azure' }, { model: 'idle' }, { model: 'llama' }],
    },
    { id: 'llama', created: 7, targets: [{ model: 'gpt' }] },
    { id: 'served-by-none', created: 7, targets: [{ model: 'idle' }, { model: 'gpt', provider: 'own' }] },
  ],
};
const ids = (allowed: readonly string[] | null) => modelObjects(snapshot, allowed).map(({ id }) => id);

test('an alias is listed behind the models, with what holds for all that serve it and where one of them is', () => {
  expect(ids(null)).toEqual(['gpt', 'llama', 'best']);
  expect(modelObjects(snapshot, null).at(-1)).toEqual({
    id: 'best',
    object: 'model',
    type: 'model',
    display_name: 'best',
    created: 7,
    created_at: '1970-01-01T00:00:07.000Z',
    owned_by: 'gw',
    kind: 'chat',
    context_window: 8,
    modalities: ['text', 'audio'],
    regions: ['a', 'c'],
    tiers: ['proxy', 'parametric', 'telemetry'],
    targets: [{ model: 'gpt', provider: 'azure' }, { model: 'idle' }, { model: 'llama' }],
  });
  const [first, ...others] = snapshot.models;
  const unbounded = { ...snapshot, models: [{ ...(first as SnapshotModel), contextWindow: null }, ...others] };
  expect(modelObjects(unbounded, null).at(-1)?.context_window).toBeNull();
});

test('a model has no targets', () => {
  expect(modelObjects(snapshot, null)[0]).not.toHaveProperty('targets');
});

test('a list of an account allows an alias by its own id alone', () => {
  expect(ids(['best'])).toEqual(['best']);
  expect(ids(['gpt', 'llama', 'idle'])).toEqual(['gpt', 'llama']);
});
