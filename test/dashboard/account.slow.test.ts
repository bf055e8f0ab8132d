/** Operators change an account's tier and limits, shadow, tolerance, impacts, models, identity provider, budgets, and the webhook of its budgets. */
import { setTimeout as delay } from 'node:timers/promises';
import { chromium, howToGetChromium } from '@gw/testing/chromium';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { apiOf } from '../operator-api.ts';
import { accountOf } from '../policy/rules.ts';
import { openTestAccounts, type TestAccounts } from '../sdk/test-account.ts';
import { stack } from '../shared-stack.ts';
import { hostile, type Person } from './browser.ts';
import { type Operators, openOperators } from './operators.ts';

describe.skipIf(chromium === null)(`an account in the dashboard of operators${howToGetChromium}`, () => {
  let operators: Operators;
  let admin: Person;
  let accounts: TestAccounts;
  /** Nobody else knows it, so nothing is put back. */
  let account: string;
  beforeAll(async () => {
    accounts = openTestAccounts();
    account = await accountOf(accounts.db, await accounts.create());
    operators = await openOperators(hostile, 'the-account');
    admin = await operators.logIn('admin');
    await openAccount(admin);
  }, 60_000);
  afterAll(async () => {
    await accounts?.close();
    // The browser tells that a form was refused.
    await operators?.close(/status of 400/);
  });

  const openAccount = async ({ page }: Person) => {
    await page.goto(`${stack.controlUrl}/dashboard/accounts/${account}`);
    await page.getByRole('heading', { name: 'Settings' }).waitFor();
  };
  const row = ({ page }: Person, text: string) => page.getByRole('row').filter({ hasText: text });
  const stored = () => apiOf(stack).get(`/operator/v1/accounts/${account}`);
  const change = (name: string) => admin.page.getByRole('button', { name: `Change: ${name}` }).click();
  const save = async () => {
    const dialog = admin.page.getByRole('dialog');
    await dialog.getByLabel(/^Reason/).fill(hostile);
    await dialog.getByRole('button', { name: 'Save' }).click();
    await dialog.waitFor({ state: 'hidden' });
  };

  test('an admin gives it Enterprise with limits of its own, and takes them away with the tier', async () => {
    const { page } = admin;
    await change('Tier and limits');
    const dialog = page.getByRole('dialog');
    await dialog.getByLabel('Tier').selectOption('Enterprise');
    await dialog.getByLabel('Calls a second').fill('7');
    await dialog.getByLabel('Calls a day (UTC)').fill('1234');
    await admin.look('account-tier');
    const streams = Number((await dialog.getByLabel('Open streams').inputValue()).replaceAll(' ', ''));
    // The account keeps the streams it had: nobody has agreed on more of them with the tier.
    expect(streams).toBe(25);
    await save();
    await row(admin, 'Tier and limits')
      .getByText(/^Enterprise: 7 calls a second, .* 1,234 calls a day .* \(of its own\)$/)
      .waitFor();
    // As the form has shown it.
    const limits = { per_s: 7, per_day: 1234, streams };
    expect(await stored()).toMatchObject({ tier: 'enterprise', negotiated: true, limits });
    await change('Tier and limits');
    await dialog.getByLabel('Calls a second').fill('8');
    const sent = page.waitForRequest((request) => request.method() === 'PATCH');
    const read = `**/operator/v1/accounts/${account}`;
    // A slow gateway: whoever opens the window again the moment it has gone must not be told of a conflict with himself.
    await page.route(read, async (route) => {
      if (route.request().method() === 'GET') await delay(500);
      await route.fallback();
    });
    await save();
    const asked = (await sent).postDataJSON().limits;
    expect([asked.per_s, 'streams' in asked]).toEqual([8, false]);
    expect(await stored()).toMatchObject({ limits: { ...limits, per_s: 8 } });
    await change('Tier and limits');
    await page.unroute(read);
    await dialog.getByLabel('Tier').selectOption('Audit Plus');
    await dialog.getByText('The limits of its own go').waitFor();
    await save();
    await row(admin, 'Tier and limits')
      .getByText(/^Audit Plus: 200 calls a second/)
      .waitFor();
    expect(await stored()).toMatchObject({ tier: 'audit_plus', negotiated: false });
  });

  test('an admin sets shadow, tolerance, impacts and models', async () => {
    const { page } = admin;
    const dialog = page.getByRole('dialog');
    await change('Limits in shadow');
    await dialog.getByLabel('calls a day').check();
    await save();
    await row(admin, 'Limits in shadow').getByText('calls a day', { exact: true }).waitFor();
    await change('Tolerance for low carbon');
    await dialog.getByLabel('Added latency, ms').fill('250');
    await admin.look('account-tolerance');
    await save();
    await row(admin, 'Tolerance').getByText('up to 250 ms slower, however dear').waitFor();
    await change('Impacts in `usage`');
    await dialog.getByLabel('Replies state usage.impacts').check();
    await save();
    await row(admin, 'Impacts').getByText('stated', { exact: true }).waitFor();
    await change('Models');
    await dialog.getByLabel('These alone').check();
    await dialog.getByLabel('Show those whose name holds').fill('sim-');
    await dialog.getByLabel('sim-small', { exact: true }).check();
    expect(await dialog.getByRole('checkbox').count()).toBeGreaterThan(1);
    await admin.look('account-models');
    await save();
    await row(admin, 'Models').getByText('sim-small', { exact: true }).waitFor();
    expect(await stored()).toMatchObject({
      shadow: ['day'],
      models: ['sim-small'],
      tolerance: { added_latency_ms: 250, added_cost_percent: null },
      usage_impacts: true,
    });
  });

  test('what somebody else has changed meanwhile is not overwritten, and the page shows it', async () => {
    const { page } = admin;
    const dialog = page.getByRole('dialog');
    await change('Models');
    await apiOf(stack).send('PATCH', `/operator/v1/accounts/${account}`, { models: ['sim-large'] });
    await dialog.getByLabel('Every model').check();
    admin.expectConflict();
    await dialog.getByRole('button', { name: 'Save' }).click();
    await dialog.getByText('Somebody has changed `models` of this account meanwhile: it is ["sim-large"].').waitFor();
    await row(admin, 'Models').getByText('sim-large', { exact: true }).waitFor();
    expect(await stored()).toMatchObject({ models: ['sim-large'] });
    // Who has seen what it is now can put something else in its place.
    await dialog.getByText('Save again to put yours in its place.').waitFor();
    await save();
    await row(admin, 'Models').getByText('every model', { exact: true }).waitFor();
    expect(await stored()).toMatchObject({ models: null });
    await apiOf(stack).send('PATCH', `/operator/v1/accounts/${account}`, { models: ['sim-small'] });
  });

  test('an admin sets and removes a budget of the account and one of a project', async () => {
    const { page } = admin;
    const dialog = page.getByRole('dialog');
    for (const [scope, name] of [
      ['Account', null],
      ['Project', hostile],
    ] as const) {
      await page.getByRole('button', { name: 'Set a budget' }).click();
      await dialog.getByLabel('Of', { exact: true }).selectOption(scope);
      if (name !== null) await dialog.getByLabel('Name of the project').fill(name);
      await dialog.getByLabel('Amount for a month (UTC)').fill('2500');
      await dialog.getByRole('button', { name: 'Set a budget' }).click();
      await dialog.waitFor({ state: 'hidden' });
    }
    await row(admin, hostile).getByText('of 2.5 kg').waitFor();
    await admin.look('account-settings');
    for (const left of [1, 0]) {
      await page.getByRole('button', { name: 'Remove', exact: true }).first().click();
      await dialog.getByRole('button', { name: 'Remove' }).click();
      await expect.poll(() => page.getByRole('button', { name: 'Remove', exact: true }).count()).toBe(left);
    }
    await page.getByText('No budgets').waitFor();
  });

  test('an admin sets a webhook, is shown its secret once, and removes it', async () => {
    const { page } = admin;
    const dialog = page.getByRole('dialog');
    await page.getByText('No address is set').waitFor();
    await page.getByRole('button', { name: 'Set an address' }).click();
    await dialog.getByLabel(/^Address/).fill('http://127.0.0.1:9/hooks');
    await dialog.getByRole('button', { name: 'Set an address' }).click();
    const secret = (await dialog.locator('pre').textContent()) ?? '';
    expect(secret).toMatch(/^gwwh_\S{40,}$/);
    await admin.look('account-secret');
    await page.getByRole('button', { name: 'I have handed it on' }).click();
    await page.getByText('http://127.0.0.1:9/hooks').waitFor();
    expect(await page.getByText(secret).count()).toBe(0);
    await page.getByRole('button', { name: 'Remove the webhook' }).click();
    await dialog.getByRole('button', { name: 'Remove the webhook' }).click();
    await page.getByText('No address is set').waitFor();
    expect(await page.locator('img[src="x"]').count()).toBe(0);
  });

  test('an admin sets an identity provider, is told the record and the callback, verifies the domain and removes it', async () => {
    const { page } = admin;
    const dialog = page.getByRole('dialog');
    const domain = `${account.replaceAll('_', '-').toLowerCase()}.example`;
    await page.getByText('No identity provider is set').waitFor();
    await page.getByRole('button', { name: 'Set an identity provider' }).click();
    await dialog.getByLabel(/^Issuer/).fill('http://127.0.0.1:9');
    await dialog.getByLabel(/^Client id/).fill(hostile);
    await dialog.getByLabel(/^Client secret/).fill('a-secret-of-the-tests');
    await dialog.getByLabel(/^Domain/).fill('no domain');
    await dialog.getByRole('button', { name: 'Save' }).click();
    await dialog.getByText('must be a domain').waitFor();
    await dialog.getByLabel(/^Domain/).fill(domain);
    await admin.look('account-issuer-form');
    await dialog.getByRole('button', { name: 'Save' }).click();
    await dialog.waitFor({ state: 'hidden' });
    await page.getByText('Nobody can log in with it before the domain is verified.').waitFor();
    await page.getByText(`${stack.controlUrl}/session/oidc/callback/${account}`).waitFor();
    expect(await page.content()).not.toContain('a-secret-of-the-tests');
    await admin.look('account-issuer');
    await page.getByRole('button', { name: 'Verify the domain' }).click();
    await dialog.getByLabel(/^Reason/).fill('a contract');
    await dialog.getByRole('button', { name: 'Verify the domain' }).click();
    await dialog.waitFor({ state: 'hidden' });
    await page.getByText('by the word of an operator').waitFor();
    expect(await apiOf(stack).get(`/operator/v1/accounts/${account}/issuer`)).toMatchObject({
      issuer: 'http://127.0.0.1:9',
      client_id: hostile,
      domain,
      verified_by: 'operator',
    });
    await page.getByRole('button', { name: 'Remove the identity provider' }).click();
    await dialog.getByRole('button', { name: 'Remove the identity provider' }).click();
    await page.getByText('No identity provider is set').waitFor();
  });

  test('a viewer sees what was agreed on, and is offered nothing that changes it', async () => {
    const viewer = await operators.logIn('viewer');
    const { page } = viewer;
    await openAccount(viewer);
    await row(viewer, 'Tier and limits')
      .getByText(/^Audit Plus/)
      .waitFor();
    await page.getByText('No budgets').waitFor();
    for (const name of [/^Change:/, 'Set a budget', 'Set an address', 'Set an identity provider', 'Remove'])
      expect(await page.getByRole('button', { name }).count(), String(name)).toBe(0);
    expect(await page.getByText('Webhook of budgets').count()).toBe(0);
    await viewer.look('account-viewer');
  });
});
