/** A person sets a second factor, logs in with it, and removes it, by clicks alone. */
import { chromium, howToGetChromium } from '@gw/testing/chromium';
import { Secret, TOTP } from 'otpauth';
import type { Browser } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { apiOf } from '../operator-api.ts';
import { stack } from '../shared-stack.ts';
import { openBrowser, openPerson, type Person } from './browser.ts';

const people = '/operator/v1/accounts/acct_demo_audit/admins';
const email = 'tess@customer.example';
const stepMs = 30_000;

describe.skipIf(chromium === null)(`the second factor in the dashboard${howToGetChromium}`, () => {
  let browser: Browser;
  let person: Person;
  let adminId: string;
  let credential: string;
  beforeAll(async () => {
    browser = await openBrowser();
    const made = (await apiOf(stack).send('POST', people, { name: 'Tess', email })) as {
      id: string;
      credential: string;
    };
    adminId = made.id;
    credential = made.credential;
    person = await openPerson(browser, stack.controlUrl);
    await person.page.goto(`${stack.controlUrl}/dashboard/keys`);
  }, 120_000);
  afterAll(async () => {
    await person?.close();
    await browser?.close();
    if (adminId) await apiOf(stack).send('POST', `${people}/${adminId}/disable`);
    expect([...(person?.complaints ?? []), ...(person?.elsewhere ?? [])]).toEqual([]);
  });

  const showCredential = (label: RegExp) => person.page.getByLabel(label).fill(credential);
  const atKeys = () => person.page.getByRole('heading', { level: 1, name: 'Keys' }).waitFor();
  const open = () => person.page.getByRole('button', { name: 'Second factor', exact: true }).click();

  test('is set with an authenticator, asked for at the login, and removed', async () => {
    const { page } = person;
    const logIn = async () => {
      await page.getByLabel('E-mail').fill(email);
      await showCredential(/^Credential/);
      await page.getByRole('button', { name: 'Log in' }).click();
    };
    await logIn();
    await atKeys();
    await open();
    await showCredential(/^Credential/);
    await page.getByRole('button', { name: 'Set it up' }).click();
    await page.getByRole('img', { name: 'QR code for an authenticator' }).waitFor();
    const secret = (await page.getByRole('dialog').locator('pre').textContent()) ?? '';
    const totp = new TOTP({ secret: Secret.fromBase32(secret) });
    // A code is taken once, and none before it: each of these is of a later step than the one before.
    const code = (steps: number) => totp.generate({ timestamp: Date.now() + steps * stepMs });
    await person.look('second-factor-set-up');
    await page.getByLabel(/^Code/).fill(code(-1));
    await page.getByRole('button', { name: 'Ask for codes from now on' }).click();

    await page.getByRole('heading', { name: 'Log in' }).waitFor();
    await logIn();
    await page.getByLabel(/^Code/).waitFor();
    await person.look('login-with-code');
    await page.getByLabel(/^Code/).fill('000000');
    await page.getByRole('button', { name: 'Log in' }).click();
    await page.getByText('The code of the second factor is wrong').waitFor();
    // It belongs to this person alone.
    await page.getByLabel('E-mail').fill('somebody@customer.example');
    expect(await page.getByLabel(/^Code/).count()).toBe(0);
    await logIn();
    await page.getByLabel(/^Code/).waitFor();
    await page.getByLabel(/^Code/).fill(code(0));
    await page.getByRole('button', { name: 'Log in' }).click();
    await atKeys();

    await open();
    await page.getByText('Logins have asked for a code since').waitFor();
    await person.look('second-factor');
    await showCredential(/^Credential/);
    await page.getByLabel(/^Code/).fill(code(1));
    await page.getByRole('button', { name: 'Remove it' }).click();
    await page.getByRole('button', { name: 'Set it up' }).waitFor();
  }, 60_000);
});
