import { runAdmin } from '@gw/cli/internals/commands/admin';
import { openOperatorApi } from '@gw/cli/internals/commands/admin/api';
import {
  addAll,
  as,
  at,
  clock,
  errorOf,
  newest,
  testApp,
  tokenOf,
  useTestApp,
  version,
} from '@gw/testing/control-plane/entries';
import { expect, test } from 'vitest';
import { readCatalogue, snapshotOf } from '../snapshot/read.ts';

useTestApp();
const price = {
  provider: 'acme',
  model: 'acme/m-1',
  valid_from: '2026-11-01T00:00:00Z',
  input_per_mtok: '2.5',
  output_per_mtok: '10',
  source: 'https://acme.example/prices',
};
const id = '2026-11-01T00:00:00Z/acme/*/acme/m-1';
const add = (changes: object = {}) => as('admin')('POST', at('prices'), { ...price, ...changes });
const one = at('prices', encodeURIComponent(id));
const list = async () => (await as('viewer')('GET', at('prices'))).json().data;

test('a price is entered, corrected and taken away by admins; the log and the entry say by whom', async () => {
  await addAll();
  expect((await as('support')('POST', at('prices'), price)).statusCode).toBe(403);
  const entered = await add();
  expect(entered.json()).toEqual({
    ...price,
    id,
    object: 'price',
    region: null,
    warnings: [],
    last_change: {
      changed_at: '2026-11-21T09:00:00.000Z',
      changed_by: 'operator The admin (op_admin)',
      catalogue_version: await version(),
    },
  });
  expect(await list()).toEqual([entered.json()]);
  expect(await newest()).toMatchObject({ action: 'price.added', target: `price:${id}`, before: null, after: price });
  const corrected = await as('admin')('PATCH', one, { input_per_mtok: 3 });
  expect(corrected.json()).toMatchObject({ id, input_per_mtok: '3', output_per_mtok: '10' });
  expect(await newest()).toMatchObject({
    action: 'price.changed',
    before: { input_per_mtok: '2.5' },
    after: { input_per_mtok: '3' },
  });
  const before = [await newest(), await version()];
  expect((await as('admin')('PATCH', one, { input_per_mtok: '3.00' })).statusCode).toBe(200);
  expect([await newest(), await version()]).toEqual(before);
  expect((await as('viewer')('DELETE', one)).statusCode).toBe(403);
  expect((await as('admin')('DELETE', one)).json()).toEqual({ id, object: 'price', deleted: true });
  expect(await list()).toEqual([]);
  expect(errorOf(await as('viewer')('GET', one))).toEqual([404, 'invalid_price', null]);
});

test('there is one price for provider, model, region and hour, and what it names need not be there any more', async () => {
  await addAll();
  await add();
  const twice = await add({ valid_from: '2026-11-01T01:00:00+01:00', input_per_mtok: '1' });
  expect([errorOf(twice), twice.json().error.message]).toEqual([
    [400, 'invalid_valid_from', 'valid_from'],
    expect.stringContaining(`has a price ${id} already`),
  ]);
  const warningsOf = async (changes: object) => (await add(changes)).json().warnings;
  expect(await warningsOf({ region: 'pl-east' })).toEqual([]);
  expect(await warningsOf({ valid_from: '2020-01-01' })).toEqual([]);
  for (const changes of [{ region: 'us-east' }, { model: 'gone' }, { provider: 'gone' }])
    expect(await warningsOf(changes)).toEqual([
      expect.stringMatching(/^No deployment of .* concerns no call of today\.$/),
    ]);
});

test.each([
  [{ valid_from: '2026-11-01T00:30:00Z' }, 'valid_from'],
  [{ valid_from: 'tomorrow' }, 'valid_from'],
  [{ input_per_mtok: '-1' }, 'input_per_mtok'],
  [{ input_per_mtok: -0.5 }, 'input_per_mtok'],
  [{ output_per_mtok: '1e3' }, 'output_per_mtok'],
  [{ output_per_mtok: 1e-13 }, 'output_per_mtok'],
  [{ output_per_mtok: null }, 'output_per_mtok'],
  [{ source: '' }, 'source'],
  [{ source: 'a\nb' }, 'source'],
  [{ region: 'no region!' }, 'region'],
  [{ currency: 'EUR' }, 'currency'],
])('%j is refused by its field', async (changes, field) => {
  expect(errorOf(await add(changes))).toEqual([400, `invalid_${field}`, field]);
});

test('decimals are kept as they were entered, without zeros that say nothing', async () => {
  const figures = async (input: unknown, output: unknown) => {
    const reply = await add({ input_per_mtok: input, output_per_mtok: output });
    await as('admin')('DELETE', one);
    return [reply.json().input_per_mtok, reply.json().output_per_mtok];
  };
  expect(await figures('0.150', 0.1)).toEqual(['0.15', '0.1']);
  expect(await figures('007.000000000001', 1e-7)).toEqual(['7.000000000001', '0.0000001']);
  expect(await figures(0, '999999999.999999999999')).toEqual(['0', '999999999.999999999999']);
});

test('services get the prices in force, and all that begin later', async () => {
  await addAll();
  for (const [from, input] of [
    ['2026-09-01', '1'],
    ['2026-10-01', '2'],
    ['2027-01-01', '3'],
    ['2027-02-01', '4'],
  ])
    await add({ valid_from: from, input_per_mtok: input });
  const { prices } = snapshotOf(await readCatalogue(testApp().context.db), () => null, clock);
  expect(
    prices
      ?.filter(({ provider }) => provider === 'acme')
      .map(({ from, inputPerMTok }) => [from.slice(0, 10), inputPerMTok]),
  ).toEqual([
    ['2026-10-01', 2],
    ['2027-01-01', 3],
    ['2027-02-01', 4],
  ]);
});

test('the document of the catalogue holds prices, and a section without one takes it out', async () => {
  await addAll();
  await add();
  const path = at('catalogue');
  const { prices, ...others } = (await as('viewer')('GET', path)).json();
  expect(prices).toEqual([price]);
  expect((await as('admin')('PUT', path, { ...others, prices })).json().changes).toEqual([]);
  expect((await as('admin')('PUT', path, others)).json().changes).toEqual([]);
  const raised = await as('admin')('PUT', path, { prices: [{ ...price, input_per_mtok: 3 }] });
  expect(raised.json().changes).toMatchObject([
    { kind: 'price', id, before: { input_per_mtok: '2.5' }, after: { input_per_mtok: '3' } },
  ]);
  const twice = await as('admin')('PUT', path, { prices: [price, price] });
  expect(errorOf(twice)).toEqual([400, 'invalid_valid_from', 'prices[1].valid_from']);
  expect((await as('admin')('PUT', path, { prices: [] })).json().changes).toMatchObject([
    { kind: 'price', id, after: null },
  ]);
  expect(Object.keys((await as('viewer')('GET', path)).json())).not.toContain('prices');
});

test('the shell enters prices and lists them', async () => {
  await addAll();
  const gw = async (...args: string[]): Promise<string> => {
    let out = '';
    const print = (text: string): void => {
      out += text;
    };
    const openApi = () => openOperatorApi({ url: testApp().operatorUrl, token: tokenOf('admin') });
    expect(await runAdmin(['prices', ...args], { openApi, print, tell: print })).toBe(0);
    return out;
  };
  const figures = ['--from', '2026-11-01', '--input', '2.50', '--output', '10', '--source', 'the list of 2026'];
  expect(await gw('add', 'acme', 'acme/m-1', ...figures)).toMatch(/^input_per_mtok +2\.5$/m);
  expect(await gw('add', 'acme', 'acme/m-1', ...figures, '--region', 'us-east')).toMatch(/^Warning: No deployment/m);
  expect(await gw('set', id, '--output', '12')).toMatch(/^output_per_mtok +12$/m);
  expect(await gw('list', '--model', 'acme/m-1')).toMatch(
    /^acme +acme\/m-1 +- +2026-11-01T00:00:00Z +2\.5 +12 +the list of 2026/m,
  );
  expect(await gw('list', '--model', 'none')).toBe('No price.\n');
  await expect(gw('add', 'acme', 'acme/m-1', '--from', 'now', ...figures.slice(2))).rejects.toThrow('--from');
  expect(await gw('remove', id)).toMatch(/^deleted +true$/m);
});
