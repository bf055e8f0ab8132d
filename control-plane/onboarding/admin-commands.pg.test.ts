import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { runAdmin } from '@gw/cli/commands/admin';
import { findTarget, openOperatorApi } from '@gw/cli/commands/admin/api';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { seedOperators } from '../access/access-for-tests.ts';
import { startTestApp, type TestApp } from '../app-for-tests.ts';
import { listen } from '../server.ts';
import { synthetic } from './fixtures-for-tests.ts';
import { screenApplication } from './screening-run.ts';
import { openOnboarding } from './services.ts';

let running: TestApp;
let url: string;
let token: string;
const dir = mkdtempSync(join(tmpdir(), 'gwonb-'));
const now = (): Date => new Date('2026-11-21T09:00:00.000Z');

beforeAll(async () => {
  running = await startTestApp(now);
  token = (await seedOperators(running.context)).admin;
  url = await listen(running.operator, '127.0.0.1:0');
}, 120_000);
afterAll(async () => {
  await running?.stop();
  rmSync(dir, { recursive: true, force: true });
});

async function gw(...args: string[]): Promise<string> {
  let out = '';
  await runAdmin(['onboarding', ...args], {
    openApi: () => openOperatorApi(findTarget({ GW_CONTROL_URL: url, GW_OPERATOR_TOKEN: token }, null)),
    print: (text) => {
      out += text;
    },
    tell: () => {},
  });
  return out;
}

async function screen(accountId: string): Promise<void> {
  const { db } = running.stores;
  await screenApplication(accountId, { db, now, ...openOnboarding(running.context, synthetic) });
}

const contacts = [
  ...['--billing-name', 'Ada Beck', '--billing-email', 'a@northwind.example'],
  ...['--technical-name', 'Lin Weber', '--technical-email', 'l@northwind.example'],
];

test('an applicant is brought from the application to the first key from the shell, past a match and a review', async () => {
  const made = JSON.parse(await gw('create', '--name', 'Borealis Munitions', '--tier', 'audit', ...contacts, '--json'));
  const id: string = made.account_id;
  const use = 'Summaries of maintenance manuals for our engineers.';
  await gw('declare', id, '--use', use, '--uses', 'summaries', '--industry', 'defence', '--countries', 'DE,FR');
  await screen(id);
  expect(await gw('list', '--stage', 'sanctions_match')).toMatch(new RegExp(`^${id} +Borealis Munitions +audit`, 'm'));
  expect(await gw('show', id)).toContain('synthetic-1');
  await gw('clear-match', id, '--reason', 'Another company with the same name.');
  await gw('approve-review', id, '--reason', 'Known to us; the use is harmless.');
  const document = join(dir, 'contract.pdf');
  writeFileSync(document, 'the signed contract');
  const sign = ['--document', document, '--reference', 'contracts/42', '--signed-at', '2026-11-20T10:00:00Z'];
  const signed = JSON.parse(await gw('sign', id, ...sign, '--json'));
  // sha256sum of the file above.
  expect(signed.contract.sha256).toBe('5ad1d41cb26f9ee77c3f3dcd9e8fb6efd7480dc8a029710e0d614c5bc14e7b8f');
  // Expiry is for other tiers, and says that it has arrived.
  const expiring = gw('issue-key', id, '--name', 'first', '--expires-at', '2027-11-21T09:00:00Z');
  await expect(expiring).rejects.toThrow(/expir/);
  expect(await gw('issue-key', id, '--name', 'first')).toMatch(/^gw_\S{62}\n$/);
  const story = await gw('show', id);
  const actions = [...story.matchAll(/^\S+Z +\d +(\w+)/gm)].map(([, action]) => action);
  expect(actions).toEqual([
    'create',
    'declare',
    'pass_use',
    'match_sanctions',
    'clear_match',
    'approve_review',
    'sign_contract',
    'issue_key',
  ]);
  await expect(gw('issue-key', id, '--name', 'second')).rejects.toThrow(/invalid_transition/);
});

test('the document of a contract is not sent, and one that is missing is told', async () => {
  const sign = ['--document', join(dir, 'none.pdf'), '--reference', 'x', '--signed-at', '2026-11-20T10:00:00Z'];
  await expect(gw('sign', 'acct_x', ...sign)).rejects.toThrow(/can not be read/);
});

test('the use policy is shown with its version', async () => {
  expect(await gw('policy')).toMatch(/^Version \S+[\s\S]+^weapons [\s\S]+^defence .+ true$/m);
});
