/** Operators look after the rules of screening: an admin tries, publishes and lifts them, and sees what they found. */
import { chromium, howToGetChromium } from '@gw/testing/chromium';
import type { Locator, Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { apiOf, removeEntries } from '../operator-api.ts';
import { accountOf, becomes, blockingPhrase, chat, rollBackTo, rulesInForce, send } from '../policy/rules.ts';
import { openTestAccounts, type TestAccounts } from '../sdk/test-account.ts';
import { stack } from '../shared-stack.ts';
import { hostile, type Person } from './browser.ts';
import { go, type Operators, openOperators } from './operators.ts';

const phrase = 'tell of the marshquoll';
const rule = { ...blockingPhrase('dashboard-story', phrase), title: hostile };

describe.skipIf(chromium === null)(`the rules of screening in the dashboard${howToGetChromium}`, () => {
  let operators: Operators;
  let admin: Person;
  let accounts: TestAccounts;
  let before: number;
  let key: string;
  let account: string;
  const ask = () => send(key, 'chat/completions', chat(phrase));
  beforeAll(async () => {
    before = (await rulesInForce()).version;
    accounts = openTestAccounts();
    key = await accounts.create();
    account = await accountOf(accounts.db, key);
    operators = await openOperators(hostile, 'the-policy');
    admin = await operators.logIn('admin');
  }, 60_000);
  afterAll(async () => {
    // Others use it too.
    await removeEntries(apiOf(stack), `policy/exemptions/${account}/${rule.id}`);
    await rollBackTo(before);
    await accounts?.close();
    await operators?.close();
  });

  const open = async (person: Person, view: string) => {
    await go(person, 'Policy');
    await person.page.getByRole('tab', { name: view }).click();
  };
  const row = ({ page }: Person, text: string) => page.getByRole('row').filter({ hasText: text });
  const accountIn = (place: Page | Locator) => place.getByLabel(/^Account/);
  const chooseAccount = async (person: Person) => {
    await accountIn(person.page).fill(account);
    await person.page.getByRole('button', { name: 'Find' }).click();
  };

  test('an admin reads the rules that hold, tries a draft, and publishes it', async () => {
    const { page } = admin;
    await open(admin, 'Rules');
    await row(admin, 'chemical-weapons').getByText('blocks the call').waitFor();
    await page.getByText(`Version ${before} holds`).waitFor();
    await admin.look('policy');

    await open(admin, 'Draft');
    const field = page.getByLabel('Rules as JSON');
    await field.fill('[{');
    await page.getByText('This is not a list of rules as JSON.').waitFor();
    await page.getByRole('button', { name: 'Begin with the rules that hold' }).click();
    const rules = JSON.parse(await field.inputValue()) as object[];
    await page.getByText(`Version ${before} held when it was put in here.`).waitFor();
    await open(admin, 'Rules');
    await open(admin, 'Draft');
    expect(JSON.parse(await field.inputValue())).toEqual(rules);
    const file = { rules: [...rules, rule], version: before };
    await page
      .locator('input[type=file]')
      .setInputFiles({ name: 'rules.json', mimeType: 'application/json', buffer: Buffer.from(JSON.stringify(file)) });
    await page.getByText(`Made from version ${before}.`).waitFor();
    // Or a browser would not tell of the same file, chosen again after it was changed.
    expect(await page.locator('input[type=file]').inputValue()).toBe('');
    await page.getByLabel(/^Texts to try/).fill(`Please ${phrase}\n\nGood day ${hostile}`);
    await page.getByRole('button', { name: 'Try the rules' }).click();
    await page.getByText(`Adds ${rule.id}.`).waitFor();
    await row(admin, `Please ${phrase}`).getByText('blocked', { exact: true }).waitFor();
    await row(admin, 'Good day').getByText('passes', { exact: true }).waitFor();
    await admin.look('policy-draft');
    expect((await ask()).outcome).toBe('200');

    await page.getByRole('button', { name: 'Publish', exact: true }).click();
    const dialog = page.getByRole('dialog');
    await dialog.getByText(`Adds ${rule.id}.`).waitFor();
    await dialog.getByLabel(/^Note/).fill(hostile);
    await admin.look('policy-publish');
    await dialog.getByRole('button', { name: 'Publish' }).click();
    await dialog.waitFor({ state: 'hidden' });
    await becomes('acceptable_use_violation', ask);
    await open(admin, 'Rules');
    await row(admin, rule.id).getByText(hostile).waitFor();
    expect(await page.locator('img[src="x"]').count()).toBe(0);
  });

  test('what the rules have found is listed by account', async () => {
    const found = () => apiOf(stack).get(`/operator/v1/audit?chain=${account}&action=policy.blocked`);
    await expect
      .poll(async () => ((await found()) as { data: object[] }).data.length, { timeout: 40_000 })
      .toBeGreaterThan(0);
    await open(admin, 'Findings');
    await admin.page.getByText('Choose an account').waitFor();
    await chooseAccount(admin);
    await row(admin, rule.id).first().getByText('acceptable_use_violation').waitFor();
    await admin.look('policy-findings');
    await admin.page.getByLabel('Kind').selectOption('flagged');
    await admin.page.getByRole('button', { name: 'Find' }).click();
    await admin.page.getByText('Nothing was found').waitFor();
    for (const view of ['Findings', 'Exemptions']) {
      await open(admin, view);
      await accountIn(admin.page).fill('acct_nobody');
      await admin.page.getByRole('button', { name: 'Find' }).click();
      await admin.page.getByText('There is no such account.').waitFor();
    }
  });

  test('a rule is lifted for one account, and holds for it again', async () => {
    const { page } = admin;
    const dialog = page.getByRole('dialog');
    await open(admin, 'Exemptions');
    await page.getByRole('button', { name: 'Lift a rule' }).click();
    await accountIn(dialog).fill(account);
    await dialog.getByLabel('Rule').selectOption(rule.id);
    await dialog.getByLabel(/^Reason/).fill(hostile);
    await dialog.getByRole('button', { name: 'Lift a rule' }).click();
    await becomes('200', ask);
    await chooseAccount(admin);
    await row(admin, account).getByText(hostile).first().waitFor();
    await admin.look('policy-exemptions');
    await page.getByRole('button', { name: `Let ${rule.id} hold for ${account} again` }).click();
    await dialog.getByRole('button', { name: 'End' }).click();
    await page.getByText('No rule is lifted').waitFor();
    await becomes('acceptable_use_violation', ask);
  });

  test('support reads and tries, and is offered nothing that changes the rules', async () => {
    const support = await operators.logIn('support');
    const { page } = support;
    for (const view of ['Rules', 'Versions', 'Exemptions', 'Findings', 'Draft']) {
      await open(support, view);
      await page.getByRole('tab', { name: view, selected: true }).waitFor();
      for (const name of ['Publish', 'Lift a rule', /again$/, 'End'])
        expect(await page.getByRole('button', { name, exact: true }).count(), `${view}: ${name}`).toBe(0);
    }
    await page.getByLabel(/^Texts to try/).fill(phrase);
    await page.getByRole('button', { name: 'Try the rules' }).click();
    await row(support, phrase).getByText('blocked', { exact: true }).waitFor();
  });

  test('a viewer is not led to the rules, and sees none of them', async () => {
    const viewer = await operators.logIn('viewer');
    expect(await viewer.page.getByRole('link', { name: 'Policy' }).count()).toBe(0);
    await viewer.page.goto(`${stack.controlUrl}/dashboard/policy`);
    await viewer.page.getByText('The rules are not shown to viewers').waitFor();
    expect(await viewer.page.getByRole('table').count()).toBe(0);
  });

  test('the rules of an older version are published again', async () => {
    const { page } = admin;
    await open(admin, 'Versions');
    await row(admin, hostile).getByText('holds', { exact: true }).waitFor();
    await admin.look('policy-versions');
    await page.getByRole('button', { name: `Publish the rules of version ${before} again` }).click();
    const dialog = page.getByRole('dialog');
    await dialog.getByText(`Removes ${rule.id}.`).waitFor();
    await dialog.getByLabel(/^Note/).fill('After a test');
    await dialog.getByRole('button', { name: 'Publish' }).click();
    await becomes('200', ask);
  });
});
