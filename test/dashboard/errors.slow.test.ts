/** A person follows `doc_url` in a browser, and reads on from there. */
import { chromium, howToGetChromium } from '@gw/testing/chromium';
import type { Browser } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { call } from '../input/ask.ts';
import { stack } from '../shared-stack.ts';
import { openBrowser, openPerson, type Person } from './browser.ts';

describe.skipIf(chromium === null)(`the pages about errors${howToGetChromium}`, () => {
  let browser: Browser;
  let person: Person;
  beforeAll(async () => {
    browser = await openBrowser();
    person = await openPerson(browser, stack.publicUrl);
  }, 60_000);
  afterAll(async () => {
    const { complaints, elsewhere } = person;
    await person.close();
    await browser.close();
    // The browser itself names the one page that is not there.
    expect([...complaints.filter((text) => !/status of 404/.test(text)), ...elsewhere]).toEqual([]);
  });

  test('the page of an error can be read by everybody, on a phone and in the dark', async () => {
    const { error } = JSON.parse((await call({ model: 'none' })).text);
    await person.page.goto(error.doc_url);
    expect(await person.page.title()).toBe('invalid_model – inference gateway');
    await person.page.getByRole('heading', { level: 1, name: 'invalid_model' }).waitFor();
    await person.page.getByText('Choose a model from GET /v1/models.').waitFor();
    await person.look('error');
  });

  test('the longest one fits too', async () => {
    await person.page.goto(`${stack.publicUrl}/errors/invalid_field`);
    await person.look('error-of-fields');
  });

  test('from a code that there is not, and from the list, it is one step to each code', async () => {
    const { page } = person;
    await page.goto(`${stack.publicUrl}/errors/no_such_code`);
    await person.look('unknown-error');
    await page.getByRole('link', { name: 'overloaded' }).click();
    await page.getByRole('heading', { level: 1, name: 'overloaded' }).waitFor();
    await page.getByRole('link', { name: 'All errors' }).click();
    await page.getByRole('heading', { level: 1, name: 'Errors' }).waitFor();
    await person.look('errors');
    await page.getByRole('link', { name: 'invalid_session' }).click();
    await page.getByText('on the operators’ port alone').waitFor();
  });

  test('nothing runs and nothing is asked from elsewhere', () => expect(person.scriptBytes()).toBe(0));
});
