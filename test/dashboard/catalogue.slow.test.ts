/** Operators look at the catalogue and the grid; an admin takes a region out and brings it back, and asks a provider. */
import { chromium, howToGetChromium } from '@gw/testing/chromium';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { apiOf, removeEntries } from '../operator-api.ts';
import { stack } from '../shared-stack.ts';
import { hostile, type Person } from './browser.ts';
import { go, type Operators, openOperators } from './operators.ts';

const region = 'eu-north';
const away = {
  id: 'dashboard-away',
  name: hostile,
  base_url: 'http://127.0.0.1:9/v1',
  credential_ref: 'DASHBOARD_TEST',
  auth_header: 'authorization',
  hosted_tools: ['web_search', 'code_interpreter'],
};

const unknownSize = { id: 'dashboard-unknown-size', owned_by: 'nobody', kind: 'chat', model_class: 'unknown' };

/** The region as clients see it. */
async function statusOf(): Promise<string> {
  const headers = { authorization: `Bearer ${stack.keys.audit}` };
  const reply = await fetch(`${stack.publicUrl}/v1/regions/${region}`, { headers });
  return ((await reply.json()) as { status: string }).status;
}
const eventually = (status: string) => expect.poll(statusOf, { timeout: 40_000, interval: 100 }).toBe(status);

describe.skipIf(chromium === null)(`the catalogue and the grid in the dashboard${howToGetChromium}`, () => {
  let operators: Operators;
  let admin: Person;
  const api = () => apiOf(stack);
  beforeAll(async () => {
    await api().send('POST', '/operator/v1/providers', away);
    await api().send('POST', '/operator/v1/models', unknownSize);
    operators = await openOperators(hostile, 'the-catalogue');
    admin = await operators.logIn('admin');
  }, 60_000);
  afterAll(async () => {
    // Others use it too.
    await api().send('PATCH', `/operator/v1/regions/${region}`, { status: 'active' });
    await removeEntries(api(), `providers/${away.id}`, `models/${unknownSize.id}`);
    await operators?.close();
  });

  const openKind = async (person: Person, kind: string) => {
    await go(person, 'Catalogue');
    await person.page.getByRole('tab', { name: kind }).click();
    await person.page.getByRole('table', { name: kind }).waitFor();
  };
  const row = ({ page }: Person, text: string) => page.getByRole('row').filter({ hasText: text });

  test('an admin sets the incident mode of a region and lifts it, and clients are told', async () => {
    const { page } = admin;
    await openKind(admin, 'Regions');
    await admin.look('regions');
    await page.getByRole('button', { name: `Set incident mode: ${region}` }).click();
    await page.getByRole('dialog').getByText('calls that pin this region are refused').waitFor();
    await admin.look('incident');
    await page.getByRole('dialog').getByRole('button', { name: 'Cancel' }).click();
    expect(await statusOf()).toBe('active');
    await page.getByRole('button', { name: `Set incident mode: ${region}` }).click();
    await page.getByRole('dialog').getByRole('button', { name: 'Set incident mode' }).click();
    await eventually('degraded');
    await row(admin, region).getByText('incident mode', { exact: true }).waitFor();
    // Who did it, in words that somebody has chosen.
    await row(admin, region).getByText(`operator ${hostile}`).waitFor();

    await openKind(admin, 'Deployments');
    await row(admin, region).first().getByText('region in incident mode').waitFor();
    await admin.look('deployments');

    await openKind(admin, 'Regions');
    await page.getByRole('button', { name: `Lift incident mode: ${region}` }).click();
    await page.getByRole('dialog').getByRole('button', { name: 'Lift incident mode' }).click();
    await eventually('active');
    await row(admin, region).getByText('active', { exact: true }).waitFor();
    await go(admin, 'Audit log');
    await page
      .getByRole('cell', { name: `region:${region}` })
      .first()
      .waitFor();
  });

  test('an admin sees which credential is missing, and what a provider answers to a test call', async () => {
    const { page } = admin;
    await openKind(admin, 'Providers');
    const own = row(admin, away.id);
    await own.getByText('missing', { exact: true }).waitFor();
    await own.getByText('DASHBOARD_TEST', { exact: true }).waitFor();
    await own.getByText(hostile, { exact: true }).first().waitFor();
    await own.getByText('runs web_search, code_interpreter', { exact: true }).waitFor();
    await admin.look('providers');
    const dialog = page.getByRole('dialog');
    await page.getByRole('button', { name: 'Test call: simulator' }).click();
    await dialog.getByRole('button', { name: 'Make the call' }).click();
    await dialog.getByText('The provider works').waitFor();
    await dialog.getByText(/^HTTP 200 after [\d,]+ ms$/).waitFor();
    await dialog.getByText(/usage\.prompt_tokens/).waitFor();
    await admin.look('provider-test');
    await dialog.getByRole('button', { name: 'Close' }).last().click();

    await page.getByRole('button', { name: `Test call: ${away.id}` }).click();
    await dialog.getByLabel('Model, as the provider knows it').fill('any');
    await dialog.getByRole('button', { name: 'Make the call' }).click();
    await dialog.getByText('There is no credential DASHBOARD_TEST').waitFor();
    await dialog.getByRole('button', { name: 'Close' }).last().click();
    expect(await page.locator('img[src="x"]').count()).toBe(0);
  });

  test('models and prices are found by their ids, each kind at its own address', async () => {
    const { page } = admin;
    await openKind(admin, 'Models');
    await row(admin, 'sim-small').first().waitFor();
    const unsized = row(admin, unknownSize.id);
    await unsized.getByText('size unknown', { exact: true }).waitFor();
    await unsized.getByText(`./gw admin models set ${unknownSize.id} --total <billions>`).waitFor();
    await admin.look('models');
    await openKind(admin, 'Prices');
    await page.getByText('in force', { exact: true }).first().waitFor();
    await admin.look('prices');
    await page.getByLabel('Find by id').fill('nothing has this id');
    await page.getByText('No entry matches').waitFor();
    await page.goto(`${stack.controlUrl}/dashboard/catalogue/models`);
    await page.getByRole('table', { name: 'Models' }).waitFor();
    await page.goto(`${stack.controlUrl}/dashboard/catalogue/unheard-of`);
    await page.getByText('There is no such page').waitFor();
  });

  test('a deployment that calls have found out of reach says so', async () => {
    const { page } = admin;
    const trouble = {
      object: 'deployment_trouble',
      deployment: 'simulator-se',
      model: 'sim-small',
      status: 'degraded',
      failures: 7,
      failed_at: '2026-11-26T11:00:00.000Z',
      until: '2026-11-26T11:00:05.000Z',
    };
    const answers = (body: object) =>
      page.route('**/operator/v1/deployment-health', (route) => route.fulfill({ json: body }));
    const { data } = (await api().get('/operator/v1/deployments')) as { data: { id: string; region: string }[] };
    const id = data.find((each) => each.region === region)?.id ?? '';
    await answers({ object: 'list', known: true, data: [{ ...trouble, deployment: id }] });
    await openKind(admin, 'Deployments');
    await row(admin, id).getByText('out of reach', { exact: true }).waitFor();
    await row(admin, id).getByText('7 calls in a row failed').waitFor();
    await page.unroute('**/operator/v1/deployment-health');
  });

  test('the grid shows each zone with its value, its source and its age', async () => {
    const { page } = admin;
    await go(admin, 'Grid');
    const zone = row(admin, region);
    await zone.getByRole('cell', { name: 'SWE', exact: true }).waitFor();
    await zone.getByRole('cell', { name: '35.3', exact: true }).waitFor();
    await zone.getByText(/^ember-2025 .*, of 2025$/).waitFor();
    await zone.getByRole('cell', { name: 'life cycle', exact: true }).waitFor();
    await zone.getByRole('cell', { name: /^\d+ days$/ }).waitFor();
    await page.getByText('No live source', { exact: true }).waitFor();
    await admin.look('grid');
  });

  test('the grid says what is live, what is too old, and which source is not asked', async () => {
    const { page } = admin;
    const said = {
      g_per_kwh: 21.5,
      signal: 'average',
      fetched_at: '2026-11-21T09:10:00.000Z',
      period_start: '2026-11-21T09:00:00.000Z',
      period_end: '2026-11-21T10:00:00.000Z',
      observed_at: '2026-11-21T09:00:00.000Z',
    };
    const source = { source: 'electricity-maps', place: 'SE', newest: said, paused: null };
    const reading = {
      ...said,
      signal: undefined,
      source: 'electricity-maps',
      edition: null,
      vintage: null,
      basis: 'lifecycle',
      is_estimated: true,
      temporal_match: 'forecast',
      age_minutes: 70,
    };
    const zone = { object: 'grid_zone', regions: ['one'], too_old: false, sources: [source], reading };
    const silent = { ...source, source: 'entsoe', place: '10YFR-RTE------C', newest: null, paused: 'unauthorized' };
    const weekly = { ...reading, temporal_match: 'prior_week', age_minutes: 10_080, is_estimated: false };
    const zones = [
      { ...zone, id: 'SWE' },
      { ...zone, id: 'FRA', too_old: true, sources: [silent], reading: weekly },
      { ...zone, id: 'XYZ', reading: null, sources: [] },
      { ...zone, id: 'GBR', regions: [], reading: null, sources: [{ ...source, source: 'neso', place: '' }] },
    ];
    const list = { object: 'list', data: zones, has_more: false, first_id: 'SWE', last_id: 'GBR' };
    await page.route('**/operator/v1/grid', (route) => route.fulfill({ json: list }));
    await page.reload();
    await row(admin, 'SWE').first().getByText('up to date').waitFor();
    await row(admin, 'SWE').first().getByRole('cell', { name: '70 min', exact: true }).waitFor();
    await row(admin, 'FRA').first().getByText('too old', { exact: true }).waitFor();
    await row(admin, 'FRA').first().getByRole('cell', { name: '7 days', exact: true }).waitFor();
    await row(admin, 'XYZ').getByText('no value').waitFor();
    await row(admin, 'GBR').first().getByText('not used').waitFor();
    await row(admin, 'entsoe').getByText('not asked for a while: unauthorized').waitFor();
    await admin.look('grid-live');
    await page.unroute('**/operator/v1/grid');
  });

  test('a viewer sees it all, and is shown nothing to do', async () => {
    const viewer = await operators.logIn('viewer');
    await openKind(viewer, 'Regions');
    await row(viewer, region).getByText('active', { exact: true }).waitFor();
    await openKind(viewer, 'Providers');
    await row(viewer, away.id).getByText('missing', { exact: true }).waitFor();
    for (const name of [/incident mode/, /^Test call/])
      expect(await viewer.page.getByRole('button', { name }).count(), String(name)).toBe(0);
    await openKind(viewer, 'Regions');
    expect(await viewer.page.getByRole('button', { name: /incident mode/ }).count()).toBe(0);
    await go(viewer, 'Grid');
    await viewer.page.getByRole('cell', { name: 'SWE', exact: true }).waitFor();
  });
});
