/**
 * A customer verifies evidence packs in the browser: one that was just made, altered ones, one by another key, and one after
 * another. `verify.long.test.ts` has some of more than 32 MiB.
 */
import { readFileSync } from 'node:fs';
import { chromium, howToGetChromium } from '@gw/testing/chromium';
import OpenAI from 'openai';
import type { Browser } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { apiOf } from '../operator-api.ts';
import { accountOf } from '../policy/rules.ts';
import { openTestAccounts, type TestAccounts } from '../sdk/test-account.ts';
import { stack } from '../shared-stack.ts';
import { hostile, openBrowser } from './browser.ts';
import { type EvidencePage, openEvidencePage } from './evidence-page.ts';
import { madeBy, madePacks } from './made-packs.ts';

const fileOf = (text: string) => ({
  name: `${hostile}.jsonld`,
  mimeType: 'application/json',
  buffer: Buffer.from(text),
});

describe.skipIf(chromium === null)(`verifying a pack in the dashboard${howToGetChromium}`, () => {
  let browser: Browser;
  let evidence: EvidencePage;
  let accounts: TestAccounts;
  /** With few receipts, or the pack would be made by a job. */
  let account: string;
  /** As it was taken along. */
  let pack: string;
  const calls: string[] = [];
  beforeAll(async () => {
    browser = await openBrowser();
    accounts = openTestAccounts();
    const apiKey = await accounts.create();
    account = await accountOf(accounts.db, apiKey);
    await apiOf(stack).send('PATCH', `/operator/v1/accounts/${account}`, { tier: 'audit_plus' });
    const client = new OpenAI({ apiKey, baseURL: `${stack.publicUrl}/v1`, maxRetries: 0 });
    await client.chat.completions.create({ model: 'sim-small', messages: [{ role: 'user', content: 'Hello' }] });
    evidence = await openEvidencePage(browser, stack, account);
    evidence.page.on('request', (request) => calls.push(`${request.method()} ${new URL(request.url()).pathname}`));
  }, 60_000);
  afterAll(async () => {
    await accounts?.close();
    await evidence?.close();
    await browser?.close();
  });

  test('a pack that was just made holds, and all of its numbers are made again', async () => {
    const { page, says } = evidence;
    await page.getByLabel(/^With the lineage/).check();
    await page.getByRole('button', { name: 'Order the pack' }).click();
    const downloading = page.waitForEvent('download');
    await page
      .getByRole('alert')
      .getByRole('link', { name: /^Download/ })
      .click();
    pack = readFileSync(await (await downloading).path(), 'utf8');
    const receipts = (JSON.parse(pack) as { receipts: object[] }).receipts.length;
    await page.getByRole('button', { name: 'Verify', exact: true }).click();
    calls.length = 0;
    await evidence.verify();
    await says('The pack holds');
    await says(`Account ${account}`);
    await says(/^Selection \{/);
    await says('Signed by a key that is trusted');
    await says(`Versions of receipts: ${receipts}`);
    await says(/^Numbers made again: [1-9]\d*; without a lineage: \d+$/);
    await evidence.look('verify-holds');
    // Nothing but the keys, and the script that does it.
    expect(calls.filter((call) => !call.startsWith('GET /dashboard/assets/'))).toEqual([
      'GET /organisation/v1/evidence-keys',
    ]);
    await evidence.closeWindow();
  });

  test('a pack in which one number is another one does not hold, and the number is named', async () => {
    const altered = JSON.parse(pack) as { receipts: { carbon_g: string; lineage?: object }[] };
    const one = altered.receipts.find(({ lineage }) => lineage !== undefined);
    if (one) one.carbon_g = '0.5';
    await evidence.verifyFile(fileOf(JSON.stringify(altered)));
    await evidence.says('The pack does not hold');
    await evidence.page.getByRole('dialog').getByRole('cell', { name: 'receipt.carbon_g' }).first().waitFor();
    await evidence.look('verify-fails');
    await evidence.closeWindow();
  });

  test('a window that is closed ends its work', async () => {
    const { page } = evidence;
    // It never gets its file, and so has no end of its own.
    await page.route('**/assets/worker-*.js', (route) =>
      route.fulfill({ contentType: 'text/javascript', body: 'setInterval(() => 0, 1000)' }),
    );
    await evidence.verifyFile(fileOf(pack));
    await expect.poll(() => page.workers().length).toBe(1);
    await evidence.closeWindow();
    await expect.poll(() => page.workers().length).toBe(0);
    await page.unroute('**/assets/worker-*.js');
  });

  test('a pack by a key that is not trusted does not hold, however right it is', async () => {
    await evidence.verifyFile(fileOf(pack));
    await evidence.says('The pack holds');
    await evidence.page.getByLabel(/^Thumbprint/).fill('AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA');
    await evidence.verify();
    await evidence.says('Signed by none of the keys that are trusted');
    await evidence.closeWindow();
  });

  test('what is no pack is said to be none, and what it says stays text', async () => {
    const { page, says } = evidence;
    await evidence.verifyFile(fileOf(`{"account":"${hostile}"`));
    await says(`${hostile}.jsonld cannot be read as JSON`);
    await evidence.closeWindow();
    await evidence.verifyFile(fileOf(JSON.stringify({ account: hostile, receipts: [{ id: hostile }] })));
    await says('The pack does not hold');
    expect(await page.locator('img[src="x"]').count()).toBe(0);
    await evidence.closeWindow();
    await evidence.verifyFile(fileOf(JSON.stringify({ ...JSON.parse(pack), account: `${hostile}\u202e` })));
    await says('The pack does not hold');
    // Characters that would turn the direction of a line are shown as such.
    await says(`Account ${hostile}\\u{202e}`);
    expect(await page.getByRole('dialog').textContent()).not.toContain('\u202e');
    expect(await page.locator('img[src="x"]').count()).toBe(0);
    await evidence.closeWindow();
  });

  test('a pack goes on from one that was kept, and from none of another log of the same length and key', async () => {
    const one = await madePacks(account, { receipts: 20, model: 'sim-small' });
    const other = await madePacks(account, { receipts: 20, model: 'sim-large' });
    const verify = (pack: string, earlier: string) =>
      evidence.verifyFile(fileOf(pack), { earlier: fileOf(earlier), thumbprint: madeBy });
    await verify(one.next, one.first);
    await evidence.says('The pack holds');
    await evidence.says('Proven to be in the log: 3; not in it yet: 0');
    await evidence.closeWindow();
    await verify(one.next, other.first);
    await evidence.says('The pack does not hold');
    await evidence.says('the log tells two stories');
    await evidence.closeWindow();
    // Nor does a log become shorter.
    await verify(one.first, one.next);
    await evidence.says('The pack does not hold');
    await evidence.says('log.tree_size');
    await evidence.closeWindow();
  });

  test('a machine without a network, on which the gateway runs, keeps nobody waiting', async () => {
    const { page } = evidence;
    await page.evaluate(() => window.dispatchEvent(new Event('offline')));
    await evidence.verifyFile(fileOf(pack));
    await evidence.says('The pack holds');
    await evidence.closeWindow();
    await page.getByRole('link', { name: 'Keys', exact: true }).click();
    await page.getByRole('row').filter({ hasText: 'Test' }).waitFor();
    // A request that failed meanwhile is repeated.
    const asked = page.waitForRequest((request) => new URL(request.url()).pathname === '/organisation/v1/keys');
    await page.evaluate(() => window.dispatchEvent(new Event('online')));
    await asked;
  });
});
