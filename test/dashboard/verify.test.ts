/** A customer verifies evidence packs in the browser: one that was just made, altered ones, one by another key, long ones, and one after another. */
import { mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { chromium, howToGetChromium } from '@gw/testing/chromium';
import OpenAI from 'openai';
import type { Browser } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { apiOf } from '../operator-api.ts';
import { accountOf } from '../policy/rules.ts';
import { openTestAccounts, type TestAccounts } from '../sdk/test-account.ts';
import { stack } from '../shared-stack.ts';
import { openBrowser, openPerson, type Person } from './browser.ts';
import { madeBy, madePacks } from './made-packs.ts';

const email = 'vera@customer.example';
const hostile = '<img src=x onerror=alert(1)>';

describe.skipIf(chromium === null)(`verifying a pack in the dashboard${howToGetChromium}`, () => {
  let browser: Browser;
  let person: Person;
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
    const made = (await apiOf(stack).send('POST', `/operator/v1/accounts/${account}/admins`, {
      name: 'Vera',
      email,
    })) as { credential: string };
    person = await openPerson(browser, stack.controlUrl);
    const { page } = person;
    page.on('request', (request) => calls.push(`${request.method()} ${new URL(request.url()).pathname}`));
    await page.goto(`${stack.controlUrl}/dashboard/evidence`);
    await page.getByLabel('E-mail').fill(email);
    await page.getByLabel(/^Credential/).fill(made.credential);
    await page.getByRole('button', { name: 'Log in' }).click();
    await page.getByRole('heading', { level: 1, name: 'Evidence' }).waitFor();
  }, 60_000);
  afterAll(async () => {
    await accounts?.close();
    await person?.close();
    await browser?.close();
    expect([...(person?.complaints ?? []), ...(person?.elsewhere ?? [])]).toEqual([]);
  });

  const verify = () => person.page.getByRole('dialog').getByRole('button', { name: 'Verify', exact: true }).click();
  const choose = async (text: string) => {
    await person.page.getByRole('button', { name: 'Verify a pack' }).click();
    await person.page
      .getByRole('dialog')
      .locator('input[type=file]')
      .first()
      .setInputFiles({ name: `${hostile}.jsonld`, mimeType: 'application/json', buffer: Buffer.from(text) });
    await verify();
  };
  const says = (text: string | RegExp, timeout = 40_000) =>
    person.page.getByRole('dialog').getByText(text).first().waitFor({ timeout });
  const close = () => person.page.getByRole('dialog').getByRole('button', { name: 'Close' }).first().click();

  test('a pack that was just made holds, and all of its numbers are made again', async () => {
    const { page } = person;
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
    await verify();
    await says('The pack holds');
    await says(`Account ${account}`);
    await says(/^Selection \{/);
    await says('Signed by a key that is trusted');
    await says(`Versions of receipts: ${receipts}`);
    await says(/^Numbers made again: [1-9]\d*; without a lineage: \d+$/);
    await person.look('verify-holds');
    // Nothing but the keys, and the script that does it.
    expect(calls.filter((call) => !call.startsWith('GET /dashboard/assets/'))).toEqual([
      'GET /organisation/v1/evidence-keys',
    ]);
    await close();
  });

  test('a pack in which one number is another one does not hold, and the number is named', async () => {
    const altered = JSON.parse(pack) as { receipts: { carbon_g: string; lineage?: object }[] };
    const one = altered.receipts.find(({ lineage }) => lineage !== undefined);
    if (one) one.carbon_g = '0.5';
    await choose(JSON.stringify(altered));
    await says('The pack does not hold');
    await person.page.getByRole('dialog').getByRole('cell', { name: 'receipt.carbon_g' }).first().waitFor();
    await person.look('verify-fails');
    await close();
  });

  test('a window that is closed ends its work', async () => {
    const { page } = person;
    // It never gets its file, and so has no end of its own.
    await page.route('**/assets/worker-*.js', (route) =>
      route.fulfill({ contentType: 'text/javascript', body: 'setInterval(() => 0, 1000)' }),
    );
    await choose(pack);
    await expect.poll(() => page.workers().length).toBe(1);
    await close();
    await expect.poll(() => page.workers().length).toBe(0);
    await page.unroute('**/assets/worker-*.js');
  });

  test('a pack by a key that is not trusted does not hold, however right it is', async () => {
    await choose(pack);
    await says('The pack holds');
    await person.page.getByLabel(/^Thumbprint/).fill('AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA');
    await verify();
    await says('Signed by none of the keys that are trusted');
    await close();
  });

  test('what is no pack is said to be none, and what it says stays text', async () => {
    await choose(`{"account":"${hostile}"`);
    await says(`${hostile}.jsonld cannot be read as JSON`);
    await close();
    await choose(JSON.stringify({ account: hostile, receipts: [{ id: hostile }] }));
    await says('The pack does not hold');
    expect(await person.page.locator('img[src="x"]').count()).toBe(0);
    await close();
    await choose(JSON.stringify({ ...JSON.parse(pack), account: `${hostile}\u202e` }));
    await says('The pack does not hold');
    // What would turn the direction of a line stands there as what it is.
    await says(`Account ${hostile}\\u{202e}`);
    expect(await person.page.getByRole('dialog').textContent()).not.toContain('\u202e');
    expect(await person.page.locator('img[src="x"]').count()).toBe(0);
    await close();
  });

  describe('packs that were kept in files', () => {
    let dir: string;
    const file = (name: string) => join(dir, `${name}.jsonld`);
    beforeAll(async () => {
      dir = mkdtempSync(join(stack.dir, 'packs-'));
      // More than 32 MiB, and than a part of the manifest; of few receipts, since other tests have the processors too.
      const long = await madePacks(account, { receipts: 1100, model: 'sim-small-'.repeat(3200) });
      const short = await madePacks(account, { receipts: 20, model: 'sim-small' });
      const other = await madePacks(account, { receipts: 20, model: 'sim-large' });
      const files = {
        ...{ 'long-first': long.first, 'long-next': long.next, 'short-first': short.first, 'short-next': short.next },
        'long-altered': long.first.replace('-000000000800"', '-000000000801"'),
        'other-first': other.first,
      };
      for (const [name, text] of Object.entries(files)) writeFileSync(file(name), text);
      expect(statSync(file('long-first')).size).toBeGreaterThan(32 * 1024 * 1024);
    });
    afterAll(() => rmSync(dir, { recursive: true, force: true }));
    const verifyFiles = async (name: string, earlier: string | null) => {
      const { page } = person;
      await page.getByRole('button', { name: 'Verify a pack' }).click();
      const inputs = page.getByRole('dialog').locator('input[type=file]');
      await inputs.first().setInputFiles(file(name));
      if (earlier !== null) await inputs.nth(1).setInputFiles(file(earlier));
      await page.getByLabel(/^Thumbprint/).fill(madeBy);
      await verify();
    };

    // They take a few seconds each on a machine that has nothing else to do.
    const saysOfLong = (text: string) => says(text, 100_000);

    test('a long one is read in parts, and holds', async () => {
      await verifyFiles('long-first', null);
      await saysOfLong('The pack holds');
      await says('Versions of receipts: 1,100');
      await says('Proven to be in the log: 1,100; not in it yet: 0');
      await close();
    });

    test('it does not hold if one of its receipts is another one, which is named', async () => {
      await verifyFiles('long-altered', null);
      await saysOfLong('The pack does not hold');
      await says('the entry 800 of the log');
      await close();
    });

    test('the next one goes on from it', async () => {
      await verifyFiles('long-next', 'long-first');
      await saysOfLong('The pack holds');
      await says('Proven to be in the log: 3; not in it yet: 0');
      await close();
    });

    test('and from no other log of the same length and key, nor does a log become shorter', async () => {
      await verifyFiles('short-next', 'short-first');
      await says('The pack holds');
      await close();
      await verifyFiles('short-next', 'other-first');
      await says('The pack does not hold');
      await says('another log');
      await close();
      await verifyFiles('short-first', 'short-next');
      await says('The pack does not hold');
      await says('log.tree_size');
      await close();
    });
  });
});
