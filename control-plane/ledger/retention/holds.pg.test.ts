/** Legal holds by the command line and the operators' API. */
import { seedOperators, withToken } from '@gw/testing/control-plane/access';
import { runAs } from '@gw/testing/control-plane/admin';
import { startTestApp } from '@gw/testing/control-plane/app';
import { eventually } from '@gw/testing/control-plane/fixtures';
import { forFile } from '@gw/testing/for-file';
import { beforeAll, expect, test } from 'vitest';
import { readAudit } from '../../people/audit/read.ts';
import { heldAccounts } from './holds.ts';

const running = forFile(startTestApp);
let tokens: Awaited<ReturnType<typeof seedOperators>>;
beforeAll(async () => {
  tokens = await seedOperators(running.context);
});

const gw = (...args: string[]) => runAs(running, tokens.admin, args);
const idIn = (out: string) => String(/^id +(\S+)/m.exec(out)?.[1]);
const held = async () => {
  const { accounts, all, reasonFor } = await heldAccounts(running.stores.databases.ledger);
  return { all, accounts: [...accounts], own: reasonFor('acct_demo_audit'), other: reasonFor('acct_demo_enterprise') };
};

test('a hold is on one account or on all until it is lifted, and the audit log has who, when and why', async () => {
  expect(await held()).toEqual({ all: false, accounts: [], own: null, other: null });
  const one = idIn((await gw('hold', 'place', 'acct_demo_audit', '--reason', 'Case 7')).out);
  expect(await held()).toEqual({ all: false, accounts: ['acct_demo_audit'], own: 'Case 7', other: null });
  const all = idIn((await gw('hold', 'place', 'all', '--reason', 'Inquiry')).out);
  expect(await held()).toMatchObject({ all: true, own: 'Inquiry', other: 'Inquiry' });
  expect((await gw('hold', 'list')).out).toMatch(/ all +Inquiry (.|\n)* acct_demo_audit +Case 7 /);
  expect((await gw('hold', 'lift', all, '--reason', 'Over')).code).toBe(0);
  expect(await held()).toMatchObject({ all: false, own: 'Case 7', other: null });
  await gw('hold', 'lift', one, '--reason', 'Settled');
  expect(await held()).toEqual({ all: false, accounts: [], own: null, other: null });
  expect((await gw('hold', 'list')).out).toBe('No hold.\n');
  expect((await gw('hold', 'list', '--state', 'all')).out).toMatch(/Over(.|\n)*Settled/);
  const entries = await readAudit(running.stores.db, 'operators', { order: 'asc', limit: 9 });
  expect(entries.map(({ action, after, target }) => [action, target, after])).toEqual([
    ['legal_hold.placed', `legal_hold:${one}`, { account: 'acct_demo_audit', reason: 'Case 7' }],
    ['legal_hold.placed', `legal_hold:${all}`, { account: null, reason: 'Inquiry' }],
    ['legal_hold.lifted', `legal_hold:${all}`, { account: null, reason: 'Over' }],
    ['legal_hold.lifted', `legal_hold:${one}`, { account: 'acct_demo_audit', reason: 'Settled' }],
  ]);
});

test('no hold comes between the look at the holds and the removal that follows it', async () => {
  let placed: Promise<unknown> = Promise.resolve();
  const seen = await running.stores.databases.customers.$transaction(async (tx) => {
    const before = await heldAccounts(tx);
    let isPlaced = false;
    placed = gw('hold', 'place', 'acct_demo_audit', '--reason', 'too late').then(() => {
      isPlaced = true;
    });
    await eventually(async () => {
      const waiting = await running.stores.db.$queryRaw<object[]>`
        SELECT 1 FROM pg_locks WHERE locktype = 'advisory' AND NOT granted`;
      return waiting.length > 0;
    });
    const after = await heldAccounts(tx);
    return { before: before.accounts.size, after: after.accounts.size, isPlaced };
  });
  expect(seen).toEqual({ before: 0, after: 0, isPlaced: false });
  await placed;
  expect((await held()).own).toBe('too late');
});

test('what is refused: others than admins, unknown accounts and holds, a second lifting, and a change of the row', async () => {
  const path = '/operator/v1/legal-holds';
  const as = (role: 'admin' | 'support' | 'viewer') => withToken(running.operator, tokens[role]);
  const body = { account: 'acct_demo_audit_plus', reason: 'x' };
  expect((await as('support')('POST', path, body)).statusCode).toBe(403);
  expect((await as('viewer')('GET', path)).statusCode).toBe(200);
  expect((await as('admin')('POST', path, { ...body, account: 'acct_none' })).json().error.code).toBe(
    'invalid_account',
  );
  expect((await as('admin')('POST', path, { account: null, reason: ' ' })).statusCode).toBe(400);
  const { id } = (await as('admin')('POST', path, body)).json();
  expect((await as('admin')('POST', `${path}/hold_x/lift`, { reason: 'x' })).statusCode).toBe(404);
  expect((await as('admin')('POST', `${path}/${id}/lift`, { reason: 'x' })).statusCode).toBe(200);
  expect((await as('admin')('POST', `${path}/${id}/lift`, { reason: 'x' })).json().error.code).toBe(
    'invalid_transition',
  );
  for (const statement of [`UPDATE legal_holds SET lifted_at = NULL`, 'DELETE FROM legal_holds'])
    await expect(running.stores.db.$executeRawUnsafe(statement)).rejects.toThrow(/is lifted once|permission/);
});
