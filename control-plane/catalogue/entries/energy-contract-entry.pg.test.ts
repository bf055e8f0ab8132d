import { runAdmin } from '@gw/cli/internals/commands/admin';
import { openOperatorApi } from '@gw/cli/internals/commands/admin/api';
import { as, at, errorOf, newest, testApp, tokenOf, useTestApp } from '@gw/testing/control-plane/entries';
import { expect, test } from 'vitest';

useTestApp();
const ppa = {
  id: 'ppa-north',
  provider: 'simulator',
  region: 'eu-north',
  valid_from: '2026-01-01T00:00:00Z',
  valid_to: '2027-01-01T00:00:00Z',
  instrument: 'ppa',
  share: '0.6',
  g_per_kwh: '12',
  evidence: 'contract 17 of 2025',
};
const mix = { id: 'mix', region: 'eu-north', instrument: 'residual_mix', share: null, g_per_kwh: 40 };
const path = at('energy-contracts');
const add = (changes: object = {}) => as('admin')('POST', path, { ...ppa, ...changes });
const set = (id: string, changes: object) => as('admin')('PATCH', `${path}/${id}`, changes);

test('a contract is entered, corrected and taken away by admins, and the log says by whom', async () => {
  expect((await as('support')('POST', path, ppa)).statusCode).toBe(403);
  const entered = await add();
  expect(entered.json()).toMatchObject({
    ...ppa,
    object: 'energy_contract',
    last_change: { changed_by: 'operator The admin (op_admin)' },
  });
  expect((await as('viewer')('GET', path)).json().data).toEqual([entered.json()]);
  expect(await newest()).toMatchObject({
    action: 'energy_contract.added',
    target: 'energy_contract:ppa-north',
    after: ppa,
  });
  expect((await set('ppa-north', { share: 0.5 })).json()).toMatchObject({ share: '0.5', g_per_kwh: '12' });
  expect(await newest()).toMatchObject({ before: { share: '0.6' }, after: { share: '0.5' } });
  expect(errorOf(await add())).toEqual([400, 'invalid_id', 'id']);
  expect((await as('admin')('DELETE', `${path}/ppa-north`)).json()).toMatchObject({ deleted: true });
  expect(errorOf(await as('viewer')('GET', `${path}/ppa-north`))).toEqual([404, 'invalid_energy_contract', null]);
});

test.each([
  [{ provider: null, region: null }, 'provider'],
  [{ valid_to: '2026-01-01' }, 'valid_to'],
  [{ valid_from: '2026-01-01T00:30:00Z' }, 'valid_from'],
  [{ share: null }, 'share'],
  [{ share: 0 }, 'share'],
  [{ share: '1.000000000001' }, 'share'],
  [{ instrument: 'residual_mix' }, 'share'],
  [{ instrument: 'hope' }, 'instrument'],
  [{ g_per_kwh: -1 }, 'g_per_kwh'],
  [{ evidence: '' }, 'evidence'],
  [{ colour: 'green' }, 'colour'],
])('%j is refused by its field', async (changes, field) => {
  expect(errorOf(await add(changes))).toEqual([400, `invalid_${field}`, field]);
});

test('of no calls is more covered than all of their energy, whichever entries meet there', async () => {
  await add();
  const refused = async (changes: object) => {
    const reply = await add({ id: 'second', share: 0.5, ...changes });
    if (reply.statusCode === 200) await as('admin')('DELETE', `${path}/second`);
    else
      expect([errorOf(reply), reply.json().error.message]).toEqual([
        [400, 'invalid_share', 'share'],
        expect.stringContaining('ppa-north'),
      ]);
    return reply.statusCode !== 200;
  };
  expect(await refused({})).toBe(true);
  expect(await refused({ share: '0.4' })).toBe(false);
  // It is refused for all providers in the region and for the provider in all regions, but not where they do not meet.
  expect(await refused({ provider: null })).toBe(true);
  expect(await refused({ region: null })).toBe(true);
  expect(await refused({ region: 'eu-west' })).toBe(false);
  expect(await refused({ provider: 'other' })).toBe(false);
  expect(await refused({ valid_from: '2027-01-01', valid_to: '2028-01-01' })).toBe(false);
  expect(await refused({ valid_from: '2025-01-01', valid_to: '2026-01-01T01:00:00Z' })).toBe(true);
  // Two that do not meet each other may both meet a third one.
  expect((await add({ id: 'west', region: 'eu-west', share: 1 })).statusCode).toBe(200);
  expect((await add({ id: 'all', region: null, share: 0.1 })).json().error.message).toContain('west');
  expect((await set('ppa-north', { region: 'eu-west' })).json().error.message).toContain('west');
});

test('a residual mix is for what nothing else covers, and there is one of them', async () => {
  await add({ share: 1 });
  expect((await add(mix)).json()).toMatchObject({ share: null, g_per_kwh: '40', provider: 'simulator' });
  expect(errorOf(await add({ ...mix, id: 'other', provider: null }))).toEqual([400, 'invalid_region', 'region']);
  expect((await add({ ...mix, id: 'other', region: 'eu-west' })).statusCode).toBe(200);
});

test('a file is judged by what it comes to, and not by the way there', async () => {
  const document = at('catalogue');
  await add();
  await add({ id: 'rest', share: 0.4 });
  const { energy_contracts: written } = (await as('viewer')('GET', document)).json();
  expect(written).toEqual([ppa, { ...ppa, id: 'rest', share: '0.4' }]);
  const put = (...energy_contracts: object[]) => as('admin')('PUT', document, { energy_contracts });
  expect((await put(...written)).json().changes).toEqual([]);
  // One loses what the other wins, in this order.
  expect((await put({ ...ppa, share: 0.9 }, { ...ppa, id: 'rest', share: 0.1 })).json().changes).toHaveLength(2);
  expect((await put({ ...ppa, id: 'new', share: 1 })).json().changes).toHaveLength(3);
  const tooMuch = await put({ ...ppa, share: 0.9 }, { ...ppa, id: 'rest', share: 0.2 });
  expect(errorOf(tooMuch)).toEqual([400, 'invalid_share', 'energy_contracts[0].share']);
  expect((await as('viewer')('GET', path)).json().data).toMatchObject([{ id: 'new' }]);
});

test('the shell enters contracts and lists them', async () => {
  const gw = async (line: string): Promise<string> => {
    let out = '';
    const print = (text: string): void => {
      out += text;
    };
    const openApi = () => openOperatorApi({ url: testApp().operatorUrl, token: tokenOf('admin') });
    expect(await runAdmin(['energy-contracts', ...line.split(' ')], { openApi, print, tell: print })).toBe(0);
    return out;
  };
  const years = '--from 2026-01-01 --to 2027-01-01';
  expect(
    await gw(`add wind --instrument ppa --region eu-north ${years} --share 0.5 --g-per-kwh 12 --evidence c17`),
  ).toMatch(/^share +0\.5$/m);
  expect(await gw('set wind --share 0.7')).toMatch(/^share +0\.7$/m);
  expect(await gw('list')).toMatch(
    /^wind +ppa +- +eu-north +2026-01-01T00:00:00Z +2027-01-01T00:00:00Z +0\.7 +12 +c17/m,
  );
  expect(await gw('remove wind')).toMatch(/^deleted +true$/m);
});
