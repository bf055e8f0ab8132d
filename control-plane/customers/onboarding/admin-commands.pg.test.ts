import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { runAdmin } from '@gw/cli/internals/commands/admin';
import { findTarget, openOperatorApi } from '@gw/cli/internals/commands/admin/api';
import { openDatabase } from '@gw/prisma/client';
import { seedOperators } from '@gw/testing/control-plane/access';
import { startTestApp, type TestApp } from '@gw/testing/control-plane/app';
import { synthetic } from '@gw/testing/control-plane/onboarding';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
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
  url = running.operatorUrl;
}, 120_000);
afterAll(async () => {
  await running?.stop();
  rmSync(dir, { recursive: true, force: true });
});

const gw = async (...args: string[]): Promise<string> => (await run('onboarding', ...args)).out;

async function run(...args: string[]): Promise<{ out: string; code: number }> {
  let out = '';
  const code = await runAdmin(args, {
    openApi: () => openOperatorApi(findTarget({ GW_CONTROL_URL: url, GW_OPERATOR_TOKEN: token }, null)),
    print: (text) => {
      out += text;
    },
    tell: () => {},
  });
  return { out, code };
}

/** With the rights of the owner, and past the triggers. */
async function unguarded(...statements: string[]): Promise<void> {
  const owner = openDatabase(running.stores.postgres.url, { connections: 1 });
  await owner.$transaction(
    ['SET LOCAL session_replication_role = replica', ...statements].map((sql) => owner.$executeRawUnsafe(sql)),
  );
  await owner.$disconnect();
}

async function screen(accountId: string): Promise<void> {
  const { db } = running.stores;
  await screenApplication(accountId, {
    db,
    now,
    ...openOnboarding(running.context, running.services.people.keys, synthetic),
  });
}

const contacts = [
  ...['--billing-name', 'Ada Beck', '--billing-email', 'a@northwind.example'],
  ...['--technical-name', 'Lin Weber', '--technical-email', 'l@northwind.example'],
];

test('an applicant is brought from the application to the first key from the shell, past a match and a review', async () => {
  const made = JSON.parse(await gw('create', '--name', 'Borealis Munitions', '--tier', 'audit', ...contacts, '--json'));
  const id: string = made.account_id;
  const use = 'Summaries of maintenance manuals for our engineers.';
  const declare = (countries: string) =>
    gw('declare', id, '--use', use, '--uses', 'summaries', '--industry', 'defence', '--countries', countries);
  await expect(declare('DE,UK')).rejects.toThrow(/write GB.*--countries/);
  await declare('DE,FR');
  await screen(id);
  expect(await gw('list', '--stage', 'sanctions_match')).toMatch(new RegExp(`^${id} +Borealis Munitions +audit`, 'm'));
  expect(await gw('show', id)).toContain('synthetic-1');
  await gw('clear-match', id, '--reason', 'Another company with the same name.');
  await gw('approve-review', id, '--reason', 'Known to us; the use is harmless.');
  const document = join(dir, 'contract.pdf');
  writeFileSync(document, 'the signed contract');
  const signing = (signedAt: string) => [
    '--document',
    document,
    '--reference',
    'contracts/42',
    '--signed-at',
    signedAt,
  ];
  await expect(gw('sign', id, ...signing('2099-01-01'))).rejects.toThrow(/future.*--signed-at: .*2026-11-20/);
  await expect(gw('sign', id, ...signing('last week'))).rejects.toThrow(/--signed-at: .*2026-11-20/);
  const sign = signing('2026-03-01');
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
  await run('accounts', 'change', id, '--name', 'Zarya Metall OOO', '--reason', 'It was renamed.');
  await screen(id);
  const reinstate = ['accounts', 'reinstate', id, '--reason', 'Looked at.'];
  await expect(run(...reinstate)).rejects.toThrow(/waits for a decision/);
  await expect(run(...reinstate, '--accept', 'all')).rejects.toThrow(/takes "match"/);
  expect((await run(...reinstate, '--accept', 'match')).out).toMatch(/^state +active$/m);
  expect(await gw('show', id)).toMatch(/ accept_match +complete +complete +op_admin$/m);
  await expect(gw('issue-key', id, '--name', 'second')).rejects.toThrow(/invalid_transition/);
});

describe('what somebody with the rights of a superuser changes in a step is found', () => {
  test.each<[string, (id: string) => string, RegExp]>([
    [
      'one altered',
      (id) => `UPDATE onboarding_steps SET input = '{}' WHERE account_id = '${id}' AND action = 'declare'`,
      /altered at \d+\n/,
    ],
    [
      'one deleted',
      (id) => `DELETE FROM onboarding_steps WHERE account_id = '${id}' AND action = 'declare'`,
      /altered at \d+\n/,
    ],
    [
      'one put in',
      (id) =>
        `INSERT INTO onboarding_steps SELECT id + 1000, account_id, 4, 'approve_review', "from", "to", actor_kind, actor_id, at, input, outcome FROM onboarding_steps WHERE account_id = '${id}' AND action = 'declare'`,
      /missing at \d+\n/,
    ],
  ])('%s', async (_, sql, fault) => {
    const made = JSON.parse(await gw('create', '--name', 'Northwind', '--tier', 'audit', ...contacts, '--json'));
    const use = 'Summaries of maintenance manuals for our engineers.';
    const declared = ['--use', use, '--uses', 'summaries', '--industry', 'retail', '--countries', 'DE'];
    await gw('declare', made.account_id, ...declared);
    expect((await run('audit', 'verify')).code).toBe(0);
    await unguarded('CREATE TABLE steps_before AS TABLE onboarding_steps', sql(made.account_id));
    const { code, out } = await run('audit', 'verify');
    expect(code).toBe(1);
    expect(out).toMatch(fault);
    // The operators' chain tells it, and it alone has to be read for it.
    expect((await run('audit', 'verify', '--chain', 'operators')).code).toBe(1);
    expect((await run('audit', 'verify', '--chain', made.account_id)).code).toBe(0);
    await unguarded(
      'DELETE FROM onboarding_steps',
      'INSERT INTO onboarding_steps TABLE steps_before',
      'DROP TABLE steps_before',
    );
    expect((await run('audit', 'verify')).code).toBe(0);
  });
});

test('the document of a contract is not sent, and one that is missing is told', async () => {
  const sign = ['--document', join(dir, 'none.pdf'), '--reference', 'x', '--signed-at', '2026-11-20T10:00:00Z'];
  await expect(gw('sign', 'acct_x', ...sign)).rejects.toThrow(/cannot be read/);
});

test('the use policy is shown with its version', async () => {
  expect(await gw('policy')).toMatch(/^Version \S+[\s\S]+^weapons [\s\S]+^defence .+ true$/m);
});
