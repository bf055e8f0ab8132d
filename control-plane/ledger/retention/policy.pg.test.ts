/** A policy removes the rows that it no longer keeps, and nothing else. */
import { seedOperators, withToken } from '@gw/testing/control-plane/access';
import { runAs } from '@gw/testing/control-plane/admin';
import { startTestApp } from '@gw/testing/control-plane/app';
import { forFile } from '@gw/testing/for-file';
import { beforeAll, beforeEach, expect, test } from 'vitest';
import { readAudit } from '../../people/audit/read.ts';
import { removeDue } from './job.ts';
import { retentionOf } from './policy.ts';

const running = forFile(startTestApp);
let tokens: Awaited<ReturnType<typeof seedOperators>>;
beforeAll(async () => {
  tokens = await seedOperators(running.context);
});
beforeEach(() => running.stores.empty('budget_events', 'retention_policies', 'legal_holds'));

const path = '/operator/v1/retention';
const ask = (method: 'GET' | 'PUT' | 'POST', url: string, body?: object) =>
  withToken(running.operator, tokens.admin)(method, url, body);
const set = async (kind: string, keep: number | null, account: string | null = null) =>
  expect((await ask('PUT', `${path}/${kind}`, { keep, account })).statusCode).toBe(200);
const accounts = ['acct_demo_audit', 'acct_demo_audit_plus', 'acct_demo_enterprise'];

/** One of each account for each age in days; those of age 0 are still to be delivered, and seem as old as the oldest. */
async function budgetEvents(...ages: number[]): Promise<void> {
  for (const account of accounts)
    for (const age of ages)
      await running.stores.db.$executeRaw`
        INSERT INTO budget_events (budget_id, month, threshold, account_id, body, noted_at, next_at)
        VALUES (${`${account} ${age}`}, '2026-01', 80, ${account}, '{}',
          now() - make_interval(days => ${age === 0 ? 4000 : age}::int), ${age === 0 ? new Date() : null})`;
}
async function left(): Promise<string[]> {
  await removeDue(running.stores);
  const rows = await running.stores.db.$queryRaw<{ id: string }[]>`SELECT budget_id AS id FROM budget_events`;
  return rows.map(({ id }) => id.replace('acct_demo_', '')).sort();
}

test('without a policy all is kept; with one what is older goes, unless it is still to be delivered', async () => {
  await budgetEvents(0, 50, 70, 3000);
  expect(await left()).toHaveLength(12);
  await set('budget_events', 100);
  expect(await left()).toEqual(
    ['audit', 'audit_plus', 'enterprise'].flatMap((name) => [0, 50, 70].map((age) => `${name} ${age}`)),
  );
});

test('an account has a policy of its own, shorter, longer or for ever, and a hold keeps what is due', async () => {
  await budgetEvents(70, 200, 300);
  await set('budget_events', 250);
  await set('budget_events', null, 'acct_demo_audit');
  await set('budget_events', 100, 'acct_demo_enterprise');
  const hold = await ask('POST', '/operator/v1/legal-holds', { account: 'acct_demo_enterprise', reason: 'x' });
  const all = await ask('POST', '/operator/v1/legal-holds', { account: null, reason: 'x' });
  expect(await left()).toHaveLength(9);
  await ask('POST', `/operator/v1/legal-holds/${all.json().id}/lift`, { reason: 'x' });
  expect(await left()).toEqual([
    ...['audit 200', 'audit 300', 'audit 70'],
    ...['audit_plus 200', 'audit_plus 70'],
    ...['enterprise 200', 'enterprise 300', 'enterprise 70'],
  ]);
  await ask('POST', `/operator/v1/legal-holds/${hold.json().id}/lift`, { reason: 'x' });
  expect(await left()).toEqual([
    'audit 200',
    'audit 300',
    'audit 70',
    'audit_plus 200',
    'audit_plus 70',
    'enterprise 70',
  ]);
  const before = ['audit 200', 'audit 300', 'audit 70', 'audit_plus 200', 'audit_plus 70', 'enterprise 70'];
  // A hold counts as well for an account that has no policy of its own.
  await set('budget_events', 65);
  await ask('POST', '/operator/v1/legal-holds', { account: 'acct_demo_audit_plus', reason: 'x' });
  expect(await left()).toEqual(before);
});

test('a policy is audited, has bounds, and goes back to what it was without', async () => {
  const { db } = running.stores;
  await set('receipts', 24);
  await set('receipts', 60, 'acct_demo_audit');
  const kept = await retentionOf(db, 'receipts');
  expect([kept.everybody, kept.of('acct_demo_audit'), kept.of('acct_demo_enterprise')]).toEqual([24, 60, 24]);
  const [entry] = await readAudit(db, 'operators', { order: 'desc', limit: 1 });
  expect(entry).toMatchObject({
    action: 'retention.changed',
    target: 'retention:receipts',
    before: { account: 'acct_demo_audit', keep: 24, is_own: false },
    after: { account: 'acct_demo_audit', keep: 60, is_own: true },
  });
  for (const [kind, body] of [
    ['receipts', { keep: 1 }],
    ['receipts', { keep: 3651 }],
    ['budget_events', { keep: 61 }],
    ['audit', { keep: 100 }],
    ['key_uses', { keep: 1.5 }],
  ] as const)
    expect((await ask('PUT', `${path}/${kind}`, body)).statusCode, kind).toBe(400);
  expect((await ask('PUT', `${path}/receipts`, { keep: 9, account: 'acct_no' })).json().error.code).toBe(
    'invalid_account',
  );
  expect((await withToken(running.operator, tokens.support)('PUT', `${path}/receipts`, { keep: 9 })).statusCode).toBe(
    403,
  );
  expect((await ask('POST', `${path}/receipts/reset`, {})).json()).toMatchObject({
    keep: null,
    accounts: [{ keep: 60 }],
  });
  await ask('POST', `${path}/receipts/reset`, { account: 'acct_demo_audit' });
  expect((await retentionOf(db, 'receipts')).of('acct_demo_audit')).toBeNull();
});

test('the shell says for how long, for all and for each account that has a policy of its own', async () => {
  const gw = async (...args: string[]) => (await runAs(running, tokens.admin, ['retention', ...args])).out;
  expect(await gw('set', 'receipts', '--keep', '24')).toMatch(/default +forever\nkeep +24\naccounts +-\n/);
  await gw('set', 'receipts', '--keep', '60', '--account', 'acct_demo_audit');
  await gw('set', 'receipts', '--keep', 'forever', '--account', 'acct_demo_enterprise');
  expect(await gw('list')).toMatch(
    /receipts +24 +months +forever +acct_demo_audit: 60, acct_demo_enterprise: forever +receipts(.|\n)*key_uses +forever +days/,
  );
});

test('the day of a last use goes too, and the key stays', async () => {
  const { db } = running.stores;
  const [key] = await db.$queryRaw<{ public_id: string }[]>`SELECT public_id FROM api_keys ORDER BY 1 LIMIT 1`;
  await db.$executeRaw`
    INSERT INTO key_uses (public_id, last_used_on) VALUES (${key?.public_id}, '2020-01-01') ON CONFLICT DO NOTHING`;
  const uses = () => db.$queryRaw<{ n: number }[]>`SELECT count(*)::int AS n FROM key_uses`;
  await left();
  expect(await uses()).toEqual([{ n: 1 }]);
  await set('key_uses', 400);
  await left();
  expect(await uses()).toEqual([{ n: 0 }]);
});
