import { add, as, at, change, type Kind, testApp, useTestApp } from '@gw/testing/control-plane/entries';
import { describe, expect, test } from 'vitest';
import { buildOperatorApp } from '../../operator-app.ts';
import type { Services } from '../../services.ts';
import type { Surroundings } from './surroundings.ts';

useTestApp();
const withSurroundings = (surroundings: Surroundings): Services => {
  const { services } = testApp();
  return { ...services, catalogue: { ...services.catalogue, surroundings } };
};
const appWith = (surroundings: Surroundings) => buildOperatorApp(testApp().context, withSurroundings(surroundings));

describe('warnings tell what will not work as one may expect', () => {
  const surroundings = {
    credentials: { find: (name: string) => (name === 'ACME' ? 'sk-acme' : null) },
    gpuDeployments: new Set(['acme-pl']),
    knowsZone: (zone: string) => zone === 'POL' || zone === 'PL-LIVE',
  };
  const warned = async (kind: Kind, changes: object, word: string) => {
    const here = await add(kind, changes);
    expect(here.json().warnings).toEqual([expect.stringContaining(word)]);
    return here.json();
  };

  test('a zone without carbon intensity', async () => {
    await warned('regions', { grid_zone: 'PL-LIVE' }, 'PL-LIVE');
    const app = appWith(surroundings);
    expect((await as('viewer', app)('GET', at('regions', 'pl-east'))).json().warnings).toEqual([]);
    await app.close();
  });

  test('a credential that nobody has given, one without https, and a header without one', async () => {
    await warned('providers', { credential_ref: 'ACME' }, 'no credential ACME for https://llm.acme.example');
    const app = appWith(surroundings);
    expect((await as('viewer', app)('GET', at('providers', 'acme'))).json().warnings).toEqual([]);
    const plain = { base_url: 'http://llm.acme.example/v1', local: true, credential_ref: 'ACME' };
    const open = (await as('admin', app)('PATCH', at('providers', 'acme'), plain)).json();
    expect(open.warnings).toEqual([expect.stringContaining('not https')]);
    const near = { base_url: 'http://127.0.0.1:1/v1', credential_ref: 'ACME' };
    const local = (await as('admin', app)('PATCH', at('providers', 'acme'), near)).json();
    expect(local.warnings).toEqual([]);
    const without = (await as('admin', app)('PATCH', at('providers', 'acme'), { credential_ref: null })).json();
    expect(without.warnings).toEqual([expect.stringContaining('no credential')]);
    await app.close();
  });

  test('an address that is stored, and would be refused today', async () => {
    await add('providers');
    await testApp().context.db.provider.update({ where: { id: 'acme' }, data: { baseUrl: 'http://llm.acme.example' } });
    const stored = (await as('viewer')('GET', at('providers', 'acme'))).json();
    expect(stored.warnings).toEqual([expect.stringMatching(/refused today.*plain http/)]);
  });

  test('a model of unknown size, a deployment without models, counters that nobody reads', async () => {
    for (const kind of ['regions', 'providers'] as const) await add(kind);
    await warned('models', {}, 'size class');
    expect((await change('models', { model_class: 'small' })).json().warnings).toEqual([]);
    const guessed = { model_class: 'frontier', parameters_source: 'guessed by its name: it chats' };
    expect((await change('models', guessed)).json().warnings).toEqual([expect.stringContaining('is a guess')]);
    const unknown = (await change('models', { model_class: 'unknown', parameters_source: null })).json();
    expect(unknown.warnings).toEqual([
      'Its size is unknown, so the bounds of its receipts hold models of any size. If you know it: ./gw admin models set acme/m-1 --total <billions> --active <billions> --parameters-source <who says so>.',
    ]);
    const sized = { total_parameters_b: 30, active_parameters_b: 3, parameters_source: 'its card' };
    expect((await change('models', sized)).json().warnings).toEqual([]);
    const unsized = { total_parameters_b: null, active_parameters_b: null, ...guessed };
    expect((await change('models', unsized)).json().warnings).toEqual([expect.stringContaining('is a guess')]);
    // A new class drops what was said of the old one.
    const stated = (await change('models', { model_class: 'small' })).json();
    expect([stated.parameters_source, stated.warnings]).toEqual([null, []]);
    await warned('deployments', { telemetry: 'gpu_counters' }, 'GW_GPU_COUNTERS');
    const app = appWith(surroundings);
    expect((await as('viewer', app)('GET', at('deployments', 'acme-pl'))).json().warnings).toEqual([]);
    const empty = (
      await as('admin', app)('PATCH', at('deployments', 'acme-pl'), { models: { 'acme/m-1': null } })
    ).json();
    expect(empty.warnings).toEqual([expect.stringContaining('no model')]);
    await app.close();
  });
});
