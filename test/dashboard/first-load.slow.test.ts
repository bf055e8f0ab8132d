/** How long a person waits for the first page, with nothing kept in the browser. It is told and not asserted: it is the machine's. */
import { chromium, howToGetChromium } from '@gw/testing/chromium';
import type { Browser } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { apiOf } from '../operator-api.ts';
import { stack } from '../shared-stack.ts';
import { openBrowser, openPerson } from './browser.ts';

const account = 'acct_demo_audit_plus';
const email = 'flo@customer.example';
const rounds = 5;

describe.skipIf(chromium === null)(`the first load of the dashboard${howToGetChromium}`, () => {
  let browser: Browser;
  let made: { id: string; credential: string };
  beforeAll(async () => {
    browser = await openBrowser();
    const admins = `/operator/v1/accounts/${account}/admins`;
    made = (await apiOf(stack).send('POST', admins, { name: 'Flo', email })) as typeof made;
  }, 60_000);
  afterAll(async () => {
    await browser.close();
    await apiOf(stack).send('POST', `/operator/v1/accounts/${account}/admins/${made.id}/disable`);
  });

  test('each of five people, one after the other, logs in on a page that was never loaded before', async () => {
    const times: { login: number; overview: number }[] = [];
    for (let round = 0; round < rounds; round += 1) {
      const person = await openPerson(browser, stack.controlUrl);
      const { page } = person;
      const opened = performance.now();
      await page.goto(`${stack.controlUrl}/dashboard/`);
      // The form keeps its input once the script has taken it over.
      await page.getByLabel('E-mail').fill(email);
      const login = performance.now() - opened;
      await page.getByLabel(/^Credential/).fill(made.credential);
      await page.getByRole('button', { name: 'Log in' }).click();
      await page.getByRole('heading', { level: 1, name: 'Overview' }).waitFor();
      // Everything again, with the session: the page is in use when its menu answers.
      const again = performance.now();
      await page.reload();
      await page.getByRole('link', { name: 'Keys', exact: true }).click();
      await page.getByRole('heading', { level: 1, name: 'Keys' }).waitFor();
      times.push({ login, overview: performance.now() - again });
      expect([...person.complaints, ...person.elsewhere]).toEqual([]);
      await person.close();
    }
    const told = times.map(({ login, overview }) => `${Math.round(login)} / ${Math.round(overview)}`);
    console.log(`ms until the login takes a letter / until a loaded page has changed to another: ${told.join(', ')}`);
  });
});
