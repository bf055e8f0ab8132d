/** Texts of a provider and names of catalogue entries stay text in the dashboard. */
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { chromium, howToGetChromium } from '@gw/testing/chromium';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { apiOf, removeEntries } from '../operator-api.ts';
import { stack } from '../shared-stack.ts';
import { hostile, type Person } from './browser.ts';
import { go, type Operators, openOperators } from './operators.ts';

const id = 'dashboard-hostile';
const credential = 'DASHBOARD_HOSTILE';

describe.skipIf(chromium === null)(`a hostile provider in the dashboard${howToGetChromium}`, () => {
  let operators: Operators;
  let admin: Person;
  let provider: Server;
  const api = apiOf(stack);
  beforeAll(async () => {
    provider = createServer((request, response) => {
      request.resume();
      response.writeHead(401, { 'content-type': 'application/json' });
      response.end(JSON.stringify({ error: { message: `No key ${hostile}`, type: hostile, code: hostile } }));
    });
    await new Promise<void>((resolve) => provider.listen(0, '127.0.0.1', resolve));
    const base_url = `http://127.0.0.1:${(provider.address() as AddressInfo).port}/v1`;
    await api.send('POST', '/operator/v1/providers', {
      id,
      name: hostile,
      base_url,
      credential_ref: credential,
      auth_header: 'authorization',
    });
    await api.send('PUT', `/operator/v1/credentials/${credential}`, { value: 'a-key-of-a-test', base_url });
    await api.send('POST', '/operator/v1/models', { id, owned_by: hostile, kind: 'chat', model_class: 'small' });
    operators = await openOperators(hostile, 'the-hostile');
    admin = await operators.logIn('admin');
  }, 60_000);
  afterAll(async () => {
    provider?.close();
    await removeEntries(api, `models/${id}`, `providers/${id}`, `credentials/${credential}`);
    await operators?.close();
  });

  const openKind = async (kind: string) => {
    await go(admin, 'Catalogue');
    await admin.page.getByRole('tab', { name: kind }).click();
    await admin.page.getByRole('table', { name: kind }).waitFor();
  };

  test('of the error of a provider nothing but its status is shown', async () => {
    const { page } = admin;
    await openKind('Providers');
    await page.getByRole('button', { name: `Test call: ${id}` }).click();
    const dialog = page.getByRole('dialog');
    await dialog.getByLabel('Model, as the provider knows it').fill(hostile);
    await dialog.getByRole('button', { name: 'Make the call' }).click();
    const refused = dialog.getByText(`It refuses the credential ${credential} (401).`);
    await refused.waitFor().catch(async () => expect(await dialog.textContent()).toContain(credential));
    expect(await dialog.getByText('No key').count()).toBe(0);
    await admin.look('hostile-provider');
    expect(await page.locator('img[src="x"]').count()).toBe(0);
    await dialog.getByRole('button', { name: 'Close' }).last().click();
  });

  test('so is the name of a model', async () => {
    await openKind('Models');
    const row = admin.page.getByRole('row').filter({ hasText: id });
    await row.getByText(hostile, { exact: true }).first().waitFor();
    expect(await admin.page.locator('img[src="x"]').count()).toBe(0);
  });
});
