/** Who vouches for an entry of the catalogue, and since when: what the services get of it, and with it each receipt. */
import {
  add,
  addAll,
  as,
  at,
  change,
  clock,
  deployment,
  testApp,
  useTestApp,
  version,
} from '@gw/testing/control-plane/entries';
import { expect, test } from 'vitest';
import { readCatalogue } from '../snapshot/read.ts';
import { clusterResponse, listenerResponse } from '../xds/resources.ts';

useTestApp();

const catalogue = () => readCatalogue(testApp().context.db);
const entryOf = async (kind: 'models' | 'deployments', id: string) =>
  (await catalogue())[kind].find((each) => each.id === id)?.entry;
const byAdmin = (catalogueVersion: number) => ({
  catalogueVersion,
  changedAt: clock.toISOString(),
  changedBy: 'operator op_admin',
});

test('an entry says in which version of the catalogue it last changed, when, and by whom', async () => {
  expect((await add('models')).statusCode).toBe(200);
  expect(await entryOf('models', 'acme/m-1')).toEqual(byAdmin(await version()));
  expect((await change('models', { model_class: 'small' })).statusCode).toBe(200);
  const changed = await version();
  expect(await entryOf('models', 'acme/m-1')).toEqual(byAdmin(changed));
  // A change of nothing, or of another field, does not enter it anew.
  expect((await change('models', { model_class: 'small' })).statusCode).toBe(200);
  for (const kind of ['regions', 'providers'] as const) expect((await add(kind)).statusCode).toBe(200);
  expect((await add('deployments')).statusCode).toBe(200);
  expect(await entryOf('models', 'acme/m-1')).toEqual(byAdmin(changed));
  expect(await entryOf('deployments', 'acme-pl')).toEqual(byAdmin(await version()));
});

test('a deployment says the same of its region, which names the grid', async () => {
  await addAll();
  expect((await change('regions', { grid_zone: 'DEU' })).statusCode).toBe(200);
  const changed = await version();
  expect((await change('deployments', { pue: 1.3 })).statusCode).toBe(200);
  const read = await catalogue();
  expect(read.regions.find(({ code }) => code === 'pl-east')?.entry).toEqual(byAdmin(changed));
  const found = read.deployments.find(({ id }) => id === deployment.id);
  expect([found?.entry, found?.regionEntry]).toEqual([byAdmin(changed + 1), byAdmin(changed)]);
});

test('a file that is applied is the word of whoever applies it, for what it changes alone', async () => {
  await addAll();
  const before = await entryOf('models', 'acme/m-1');
  const { deployments, models } = (await as('admin')('GET', at('catalogue'))).json();
  for (const each of deployments) if (each.id === deployment.id) each.pue = 1.4;
  expect((await as('admin')('PUT', at('catalogue'), { deployments, models })).statusCode).toBe(200);
  expect(await entryOf('deployments', deployment.id)).toEqual(byAdmin(await version()));
  expect(await entryOf('models', 'acme/m-1')).toEqual(before);
});

test('operators see who changed an entry last, and when', async () => {
  await addAll();
  const read = async (kind: 'models' | 'regions' | 'deployments' | 'providers', id: string) =>
    (await as('viewer')('GET', at(`${kind}/${id}`))).json();
  const expected = async () => {
    const { catalogueVersion: catalogue_version, changedAt } = byAdmin(await version());
    // Receipts name the id alone, since an erasure cannot reach them.
    return { catalogue_version, changed_at: changedAt, changed_by: 'operator The admin (op_admin)' };
  };
  for (const [kind, id] of [
    ['regions', 'pl-east'],
    ['models', 'acme/m-1'],
    ['deployments', deployment.id],
  ] as const) {
    const changed = await change(
      kind,
      kind === 'regions' ? { grid_zone: 'FRA' } : kind === 'models' ? { context_window: 99 } : { pue: 1.7 },
    );
    expect(changed.json()).toMatchObject({ last_change: await expected() });
    expect(await read(kind, id)).toMatchObject({ last_change: await expected() });
    const { data } = (await as('viewer')('GET', at(kind))).json();
    expect(data.find((each: { id?: string; code?: string }) => (each.id ?? each.code) === id).last_change).toEqual(
      await expected(),
    );
  }
  // Nobody notes it of a provider, which no number rests on.
  expect(await read('providers', 'acme')).not.toHaveProperty('last_change');
  // The file leaves it out, so that it can be sent back.
  expect((await as('viewer')('GET', at('catalogue'))).json().models[0]).not.toHaveProperty('last_change');
});

const reported = { kind: 'reported', source: 'https://acme.example/pue', period: '2025-01-01/2026-01-01' };

test('what a figure rests on goes to the services with it, and not to another figure', async () => {
  await addAll();
  const told = async () => {
    const { deployments, models } = await catalogue();
    const site = deployments.find(({ id }) => id === deployment.id);
    return [site?.pueEvidence, site?.wueEvidence, models.find(({ id }) => id === 'acme/m-1')?.parametersSource];
  };
  expect(await told()).toEqual([null, null, null]);
  await change('deployments', { pue_evidence: reported, wue_onsite_l_per_kwh: 0.2, wue_evidence: reported });
  const size = { active_parameters_b: 8, total_parameters_b: 8 };
  await change('models', { ...size, parameters_source: 'the card of the model' });
  expect(await told()).toEqual([reported, reported, 'the card of the model']);
  await change('deployments', { pue: 1.2, wue_onsite_l_per_kwh: 0.2, latency_ms: 7 });
  await change('models', { ...size, context_window: 7 });
  expect(await told()).toEqual([reported, reported, 'the card of the model']);
  await change('deployments', { pue: 1.3 });
  await change('models', { total_parameters_b: 9 });
  expect(await told()).toEqual([null, reported, null]);
  await change('deployments', { pue: 1.4, pue_evidence: reported, wue_onsite_l_per_kwh: null });
  expect(await told()).toEqual([reported, null, null]);
});

test('who changes an entry without a word is not named, and nobody writes down another', async () => {
  const { db } = testApp().context;
  await add('models');
  const by = { changedBy: 'operator Somebody else (op_else)', changedIn: 1, changedAt: new Date(0) };
  await db.model.update({ where: { id: 'acme/m-1' }, data: by });
  expect(await entryOf('models', 'acme/m-1')).toEqual(byAdmin(await version()));
  await db.model.update({ where: { id: 'acme/m-1' }, data: { ...by, ownedBy: 'acme', contextWindow: 7 } });
  expect(await entryOf('models', 'acme/m-1')).toMatchObject({
    catalogueVersion: await version(),
    changedBy: 'not stated',
    changedAt: expect.not.stringMatching(/^1970/),
  });
});

test('the demo says that it is made up', async () => {
  const { deployments, models } = await catalogue();
  const demo = [...models, ...deployments].filter(({ id }) => id.startsWith('sim-'));
  expect(demo.length).toBeGreaterThan(5);
  for (const { entry } of demo) expect(entry?.changedBy).toBe('start of the gateway: the demo, made up');
  for (const { id, pueEvidence, wueEvidence } of deployments.filter(({ provider }) => provider === 'simulator'))
    expect([id, pueEvidence?.kind, wueEvidence?.kind]).toEqual([id, 'assumed', 'assumed']);
  for (const { id, parametersSource } of models.filter(({ ownedBy }) => ownedBy === 'simulator'))
    expect([id, parametersSource]).toEqual([id, expect.stringContaining('made up')]);
});

test('what says who vouches for an entry is no other configuration for Envoy', async () => {
  await addAll();
  const configured = async () => {
    const read = [await catalogue()];
    return [clusterResponse(read, [], new Set()).version, listenerResponse(read).version];
  };
  const before = await configured();
  await change('deployments', { pue: 1.5 });
  await change('models', { context_window: 8192 });
  expect(await configured()).toEqual(before);
});
