/** The story of an operator by clicks alone: who used what, a login for a customer, an account stopped and started, an application decided. */
import { chromium, howToGetChromium } from '@gw/testing/chromium';
import OpenAI from 'openai';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { apiOf } from '../operator-api.ts';
import { stack } from '../shared-stack.ts';
import { hostile, type Person } from './browser.ts';
import { go, type Operators, openOperators } from './operators.ts';

const account = 'acct_demo_audit';

describe.skipIf(chromium === null)(`the dashboard of operators${howToGetChromium}`, () => {
  let operators: Operators;
  let admin: Person;
  let isSuspended = false;
  beforeAll(async () => {
    operators = await openOperators(hostile, 'the-dashboard');
    const client = new OpenAI({ apiKey: stack.keys.audit, baseURL: `${stack.publicUrl}/v1`, maxRetries: 0 });
    await client.chat.completions.create({ model: 'sim-small', messages: [{ role: 'user', content: 'Hello' }] });
  }, 60_000);
  afterAll(async () => {
    // Others use it too.
    if (isSuspended)
      await apiOf(stack).send('POST', `/operator/v1/accounts/${account}/reinstate`, { reason: 'a test' });
    await operators?.close();
  });

  const openAccount = async (person: Person) => {
    await go(person, 'Accounts');
    await person.page
      .getByRole('row', { name: new RegExp(` ${account} `) })
      .getByRole('link')
      .click();
    await person.page.getByRole('heading', { name: 'People who can log in' }).waitFor();
  };
  const statusOf = async () => {
    const reply = await fetch(`${stack.publicUrl}/v1/chat/completions`, {
      method: 'POST',
      headers: { authorization: `Bearer ${stack.keys.audit}`, 'content-type': 'application/json' },
      body: JSON.stringify({ model: 'sim-small', messages: [{ role: 'user', content: 'Hello' }], max_tokens: 1 }),
    });
    await reply.arrayBuffer();
    return reply.status;
  };

  test('an admin sees the fleet, makes a login for a customer, and stops an account and starts it again', async () => {
    admin = await operators.logIn('admin');
    const { page } = admin;
    // They are left out where calls of others were no simulated ones.
    const simulated = page.getByLabel('Count simulated calls');
    await simulated.waitFor({ state: 'attached' });
    await page.getByRole('table').waitFor({ timeout: 40_000 });
    if (!(await simulated.isChecked())) await simulated.press('Space');
    await page.getByRole('cell', { name: account, exact: true }).waitFor({ timeout: 40_000 });
    await admin.look('fleet');
    await go(admin, 'Accounts');
    await admin.look('accounts');
    await openAccount(admin);
    await page.getByRole('button', { name: 'Add a person' }).click();
    await page.getByLabel(/^Name/).fill(hostile);
    await page.getByLabel(/^E-mail/).fill(`lin-${Date.now()}@customer.example`);
    await page.getByRole('dialog').getByRole('button', { name: 'Add a person' }).click();
    expect(await page.getByRole('dialog').locator('pre').textContent()).toMatch(/^\S{16,}$/);
    await page.getByRole('button', { name: 'I have handed it on' }).click();
    await page.getByRole('cell', { name: hostile }).first().waitFor();
    await admin.look('account');
    for (const [deed, status] of [
      ['Suspend', 403],
      ['Reinstate', 200],
    ] as const) {
      await page.getByRole('button', { name: deed }).click();
      await page.getByLabel(/^Reason/).fill('a test of the dashboard');
      if (status === 403) isSuspended = true;
      await page.getByRole('dialog').getByRole('button', { name: deed }).click();
      await expect.poll(statusOf, { timeout: 40_000, interval: 100 }).toBe(status);
    }
    isSuspended = false;
    await go(admin, 'Live');
    await page.getByText('Postgres', { exact: true }).waitFor();
    await page.getByText(/^1 sidecar reports|sidecars report$/).waitFor();
    // One that is refused before a provider is asked counts, too.
    const refused = page.locator('.mantine-Card-root', { hasText: 'Refused by the gateway' });
    const isCounted = async () => {
      expect((await fetch(`${stack.publicUrl}/v1/models`)).status).toBe(401);
      return refused.getByText(/^0\.\d+ \/s$/).isVisible();
    };
    await expect.poll(isCounted, { timeout: 40_000, interval: 1000 }).toBe(true);
    await page.getByRole('img', { name: /^Calls a second/ }).waitFor();
    await admin.look('live');
    await go(admin, 'Audit log');
    await page.getByLabel('Chain', { exact: true }).selectOption(account);
    await page.getByRole('cell', { name: 'account.reinstated' }).first().waitFor();
    await admin.look('chains');
  });

  test('an admin decides about an application, by its evidence', async () => {
    const { page } = admin;
    const name = `Rakuda ${Date.now()} ${hostile}`;
    const contact = { name: 'Lin Chen', email: 'lin@customer.example' };
    const api = apiOf(stack);
    const made = (await api.send('POST', '/operator/v1/applications', {
      name,
      tier: 'audit_plus',
      billing_contact: contact,
      technical_contact: contact,
    })) as { account_id: string };
    const policy = (await api.get('/operator/v1/use-policy')) as { industries: { id: string; high_risk: boolean }[] };
    const industry = policy.industries.find(({ high_risk }) => high_risk)?.id;
    await api.send('POST', `/operator/v1/applications/${made.account_id}/declaration`, {
      intended_use: 'Summaries of letters for our own staff.',
      uses: ['customer_support'],
      industry,
      countries: ['DE'],
    });
    await go(admin, 'Onboarding');
    await page.getByRole('link', { name }).click();
    await page.getByRole('button', { name: 'Approve' }).waitFor({ timeout: 30_000 });
    await admin.look('application');
    await page.getByRole('button', { name: 'Approve' }).click();
    await page.getByLabel(/^Reason/).fill('Reviewed with the contract in hand.');
    await page.getByRole('dialog').getByRole('button', { name: 'Approve' }).click();
    await page.getByText('waits for the contract').waitFor();
    await go(admin, 'Onboarding');
    await admin.look('onboarding');
  });

  test('a viewer is shown nothing to do', async () => {
    const viewer = await operators.logIn('viewer');
    await openAccount(viewer);
    await viewer.page.getByRole('cell', { name: 'demo audit', exact: true }).waitFor();
    for (const name of ['Suspend', 'Revoke', 'Add a person'])
      expect(await viewer.page.getByRole('button', { name }).count(), name).toBe(0);
  });
});
