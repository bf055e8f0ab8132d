/** The story of a customer by clicks alone: log in, see the first call, follow a number, take care of keys, order a pack. */
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { chromium, howToGetChromium } from '@gw/testing/chromium';
import OpenAI from 'openai';
import type { Browser } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from 'vitest';
import { gw } from '../cli/gateway-of-its-own.ts';
import { apiOf } from '../operator-api.ts';
import { stack } from '../shared-stack.ts';
import { hostile, openBrowser, openPerson, type Person } from './browser.ts';

const account = 'acct_demo_audit_plus';
const email = 'grace@customer.example';

/** Whether the gateway takes a call with this key. */
async function statusOf(key: string): Promise<number> {
  const reply = await fetch(`${stack.publicUrl}/v1/models`, { headers: { authorization: `Bearer ${key}` } });
  await reply.arrayBuffer();
  return reply.status;
}
const eventually = (key: string, status: number) =>
  expect.poll(() => statusOf(key), { timeout: 40_000, interval: 100 }).toBe(status);

describe.skipIf(chromium === null)(`the dashboard of a customer${howToGetChromium}`, () => {
  let browser: Browser;
  let person: Person;
  let dir: string;
  let adminId: string;
  let otherId: string | undefined;
  let credential: string;
  let receiptId: string;
  beforeAll(async () => {
    dir = mkdtempSync(join(stack.dir, 'dashboard-'));
    browser = await openBrowser();
    const made = (await apiOf(stack).send('POST', `/operator/v1/accounts/${account}/admins`, {
      name: hostile,
      email,
    })) as { id: string; credential: string };
    adminId = made.id;
    credential = made.credential;
    const client = new OpenAI({ apiKey: stack.keys.auditPlus, baseURL: `${stack.publicUrl}/v1`, maxRetries: 0 });
    const reply = await client.chat.completions.create({
      model: 'sim-small',
      messages: [{ role: 'user', content: 'Hello' }],
      max_tokens: 8,
      metadata: { project: hostile.slice(0, 60) },
    });
    receiptId = (reply as unknown as { gw: { id: string } }).gw.id;
    person = await openPerson(browser, stack.controlUrl);
    await person.page.goto(`${stack.controlUrl}/`);
    await person.look('login');
    await logIn(credential);
    await person.page.getByRole('heading', { name: 'Overview' }).waitFor();
  }, 120_000);
  afterAll(async () => {
    await person?.close();
    await browser?.close();
    if (adminId) await apiOf(stack).send('POST', `/operator/v1/accounts/${account}/admins/${adminId}/disable`);
    if (otherId) await apiOf(stack).send('POST', `/operator/v1/accounts/acct_demo_audit/admins/${otherId}/disable`);
    if (dir) rmSync(dir, { recursive: true, force: true });
    expect([...(person?.complaints ?? []), ...(person?.elsewhere ?? [])]).toEqual([]);
  });
  const logIn = async (with_: string) => {
    await person.page.getByLabel('E-mail').fill(email);
    await person.page.getByLabel(/^Credential/).fill(with_);
    await person.page.getByRole('button', { name: 'Log in' }).click();
  };
  const shownKey = async () => (await person.page.getByRole('dialog').locator('pre').textContent()) ?? '';
  /** Uses the menu, as a person does. */
  const go = async (name: string) => {
    await person.page.getByRole('link', { name, exact: true }).click();
    await person.page.getByRole('heading', { level: 1, name }).waitFor();
  };

  test('the overview shows what was used, with its bounds, from less than 300 kB of scripts', async () => {
    await expect
      .poll(async () => person.page.getByText(/^between .* and/).count(), { timeout: 40_000 })
      .toBeGreaterThan(0);
    await person.page.getByText('Saved by the choice of regions').waitFor();
    // With its charts.
    await expect.poll(() => person.scriptBytes(), { timeout: 40_000 }).toBeGreaterThan(200_000);
    expect(person.scriptBytes()).toBeLessThan(300_000);
    await person.look('overview');
  });

  test('a key is issued, rotated, revoked and restored, and the gateway knows at once', async () => {
    const { page } = person;
    await go('Keys');
    await page.getByRole('button', { name: 'Issue a key' }).click();
    await page.getByLabel('Name').fill(hostile);
    await page.getByLabel('read where the numbers of receipts come from').check();
    await page.getByRole('dialog').getByRole('button', { name: 'Issue a key' }).click();
    const first = await shownKey();
    await eventually(first, 200);
    await page.getByRole('button', { name: 'I have stored it' }).click();
    expect(await page.getByText(first).count()).toBe(0);

    await page.getByRole('button', { name: `Rotate ${hostile}` }).click();
    await page.getByRole('dialog').getByRole('button', { name: 'Rotate' }).click();
    const second = await shownKey();
    await eventually(second, 200);
    await page.getByRole('button', { name: 'I have stored it' }).click();
    await page.getByText(/^succeeds /).waitFor();
    expect(await page.getByRole('cell', { name: 'gw:lineage' }).count()).toBeGreaterThanOrEqual(2);

    // The predecessor stands below its successor.
    await page
      .getByRole('button', { name: `Revoke ${hostile}` })
      .nth(1)
      .click();
    await page.getByRole('dialog').getByRole('button', { name: 'Revoke' }).click();
    await eventually(first, 401);
    expect(await statusOf(second)).toBe(200);
    await page.getByRole('button', { name: `Restore ${hostile}` }).click();
    await page.getByRole('dialog').getByRole('button', { name: 'Restore' }).click();
    await eventually(first, 200);
    await person.look('keys');
    for (const left of [1, 0]) {
      await page
        .getByRole('button', { name: `Revoke ${hostile}` })
        .first()
        .click();
      await page.getByRole('dialog').getByRole('button', { name: 'Revoke' }).click();
      await expect.poll(() => page.getByRole('button', { name: `Revoke ${hostile}` }).count()).toBe(left);
    }
  });

  test('a number is followed to its source, and made again in the browser', async () => {
    const { page } = person;
    await go('Receipts');
    await person.look('receipts');
    await page.getByRole('table').getByRole('link').first().waitFor();
    await page.getByLabel('Receipt id').fill(receiptId);
    await page.getByRole('button', { name: 'Find' }).click();
    await page.getByText(/^Recomputed in this browser: all \d+ checks hold$/).waitFor();
    await page.getByRole('button', { name: /^carbon_g / }).click();
    await page.getByRole('button', { name: 'request_usage_gwp', exact: true }).first().click();
    await page.getByRole('button', { name: /^request_usage_gwp .* g$/, expanded: true }).waitFor();
    await page.getByText('grid_intensity').first().waitFor();
    await person.look('receipt');
  });

  test('limits in tokens and those of keys are shown as they were agreed on', async () => {
    const { page } = person;
    const operator = apiOf(stack);
    const path = `/operator/v1/accounts/${account}`;
    const change = (body: object) => operator.send('PATCH', path, body);
    const limits = { per_s: 50, burst: 100, per_day: 5000 };
    await change({ tier: 'enterprise', limits, tokens: { per_minute: 6000 } });
    onTestFinished(async () => {
      await change({ tier: 'audit_plus', tokens: { per_minute: null } });
    });
    await operator.send('POST', `${path}/keys`, {
      name: 'held',
      limits: { per_s: 5, burst: 9, tokens_per_day: 4000 },
    });
    await go('Limits and budgets');
    await page.reload();
    await page.getByText('Limits in tokens: 6,000 a minute, those of the tier a day').waitFor();
    await person.look('limits');
    await go('Keys');
    const held = 'at most 5 calls a second, 9 calls at once, 4,000 tokens a day (UTC)';
    await page.getByText(held).waitFor();
    await person.look('keys-held');
  });

  test('a budget is set and removed', async () => {
    const { page } = person;
    await go('Limits and budgets');
    await page.getByRole('button', { name: 'Set a budget' }).click();
    await page.getByLabel('Name of the project').fill('chatbot');
    await page.getByLabel('Amount for a month (UTC)').fill('2500');
    await page.getByRole('dialog').getByRole('button', { name: 'Set a budget' }).click();
    await page.getByText('of 2.5 kg').waitFor();
    await person.look('budgets');
    await page.getByRole('button', { name: 'Remove' }).click();
    await page.getByRole('dialog').getByRole('button', { name: 'Remove' }).click();
    await page.getByText('No budgets').waitFor();
  });

  test('a pack is ordered and taken along, and verifies without the gateway', async () => {
    const { page } = person;
    await go('Evidence');
    await page.getByLabel(/^With the lineage/).check();
    await page.getByRole('button', { name: 'Order the pack' }).click();
    const downloading = page.waitForEvent('download');
    await page
      .getByRole('alert')
      .getByRole('link', { name: /^Download/ })
      .click();
    const file = join(dir, 'pack.jsonld');
    await (await downloading).saveAs(file);
    const keys = await (await fetch(`${stack.publicUrl}/.well-known/jwks.json`)).text();
    const jwks = join(dir, 'jwks.json');
    writeFileSync(jwks, keys);
    const verified = await gw(['verify', file, '--jwks', jwks]);
    expect(verified).toMatchObject({ code: 0 });
    await person.look('evidence');
  });

  test('the audit log names who did it, and what was hostile stays text', async () => {
    await go('Audit log');
    await person.page
      .getByRole('cell', { name: `${hostile} (session` })
      .first()
      .waitFor();
    await person.look('audit');
    expect(await person.page.locator('img[src="x"]').count()).toBe(0);
  });

  test('a credential is changed, and the old one no longer logs in', async () => {
    const { page } = person;
    const next = `${credential} changed`;
    await page.getByRole('button', { name: 'Credential', exact: true }).click();
    await page.getByLabel(/^Current credential/).fill(credential);
    await page.getByLabel(/^New credential/).fill(next);
    await person.look('credential');
    await page.getByRole('button', { name: 'Change it' }).click();
    await page.getByRole('heading', { name: 'Log in' }).waitFor();
    expect(await page.title()).toBe('Log in · Inference gateway');
    await logIn(credential);
    await page.getByText('The gateway refused this').waitFor();
    await logIn(next);
    // Where the person was before.
    await page.getByRole('heading', { level: 1, name: 'Audit log' }).waitFor();
  });

  test('what one person has read is gone from every tab when another one logs in', async () => {
    const { page } = person;
    await go('Keys');
    await page.getByText('demo auditPlus', { exact: true }).waitFor();
    const other = (await apiOf(stack).send('POST', '/operator/v1/accounts/acct_demo_audit/admins', {
      name: 'Lin of the other account',
      email: 'lin@other.example',
    })) as { id: string; credential: string };
    // Not before the end: her session would end with it, while the page shows it.
    otherId = other.id;
    const tab = await page.context().newPage();
    await tab.goto(`${stack.controlUrl}/dashboard/`);
    await tab.getByRole('button', { name: 'Log out' }).click();
    await tab.getByLabel('E-mail').fill('lin@other.example');
    await tab.getByLabel(/^Credential/).fill(other.credential);
    await tab.getByRole('button', { name: 'Log in' }).click();
    await tab.getByText('Lin of the other account').waitFor();
    // The first tab learns only who it is now: what it shows of keys is what it has kept.
    await page.route('**/organisation/v1/keys*', () => {});
    await page.bringToFront();
    await page.evaluate(() => window.dispatchEvent(new Event('visibilitychange')));
    await page.getByText('Lin of the other account').waitFor();
    expect(await page.getByText('demo auditPlus').count()).toBe(0);
    await page.unroute('**/organisation/v1/keys*');
    await tab.close();
  });

  test('who has logged out sees nothing any more', async () => {
    await person.page.getByRole('button', { name: 'Log out' }).click();
    await person.page.getByRole('heading', { name: 'Log in' }).waitFor();
    await person.page.goto(`${stack.controlUrl}/dashboard/keys`);
    await person.page.getByRole('heading', { name: 'Log in' }).waitFor();
  });
});
