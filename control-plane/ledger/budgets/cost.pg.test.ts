/** Budgets of money: what receipts cost by the prices of the catalogue, also where those are corrected, or missing. */

import type { Receipt } from '@gw/contract/receipt';
import { seedOperators, withToken } from '@gw/testing/control-plane/access';
import { startTestApp } from '@gw/testing/control-plane/app';
import { entryOf, receiptIdAt } from '@gw/testing/control-plane/fixtures';
import { forFile } from '@gw/testing/for-file';
import type { LedgerEntry } from '@gw/testing/ledger-entry';
import { beforeAll, beforeEach, expect, test } from 'vitest';
import { rebase } from './rebase.ts';

const now = new Date('2026-04-15T12:00:00.000Z');
const running = forFile(() => startTestApp(() => now));
let admin: ReturnType<typeof withToken>;
let accountId = '';
let accounts = 0;
beforeAll(async () => {
  admin = withToken(running.operator, (await seedOperators(running.context)).admin);
});

beforeEach(async () => {
  accounts += 1;
  accountId = `acct_money_${accounts}`;
  const { db } = running.stores;
  await db.account.create({ data: { id: accountId, name: accountId, tier: 'audit' } });
  await db.price.deleteMany();
});

const path = () => `/operator/v1/accounts/${accountId}/budgets`;
const set = async (amount: number, more: object = {}) =>
  (await admin('POST', path(), { scope: 'account', unit: 'cost', amount, kind: 'hard', ...more })).json();
const enter = (from: string, input: string, output: string, region: string | null = null) =>
  running.stores.db.price.create({
    data: {
      id: `${from} ${region}`,
      provider: 'p',
      model: 'm',
      region,
      validFrom: new Date(from),
      source: 'a test',
      inputPerMtok: input,
      outputPerMtok: output,
    },
  });
const call = (more: Partial<Receipt> = {}, at = '2026-04-03T10:00:00.000Z'): LedgerEntry =>
  entryOf(
    {
      id: receiptIdAt(new Date(at)),
      provider: 'p',
      model: 'm',
      region: 'eu',
      prompt_tokens: 1000,
      completion_tokens: 100,
      ...more,
    },
    accountId,
  );
const used = async () => {
  await rebase(running.context, { accountId, month: '2026-04' });
  const { data } = (await admin('GET', path())).json();
  // All of one moment, so their order is that of their ids, which are random.
  return data
    .toSorted((a: { unit: string }, b: { unit: string }) => a.unit.localeCompare(b.unit))
    .map(({ reserved, used: money }: { reserved: number; used: number }) => [money, reserved]);
};

test('money that is used is what its tokens cost in the hour of the call, of the region where that has a price of its own', async () => {
  await enter('2026-04-01T00:00:00.000Z', '2.5', '10');
  await enter('2026-04-05T00:00:00.000Z', '5', '10');
  await enter('2026-04-01T00:00:00.000Z', '100', '0', 'us');
  expect(await set(20)).toMatchObject({ unit: 'cost', amount: 20, used: 0, reserved: 0, percent: 0 });
  await running.store(call(), call({}, '2026-04-05T00:00:00.000Z'), call({ region: 'us' }));
  // 0.0035, 0.006 and 0.1.
  expect(await used()).toEqual([[0.1095, 0]]);
});

test('a price that is corrected corrects what was used', async () => {
  await enter('2026-04-01T00:00:00.000Z', '2', '0');
  await set(1);
  await running.store(call({ prompt_tokens: 200_000 }));
  expect(await used()).toEqual([[0.4, 0]]);
  await running.stores.db.price.updateMany({ data: { inputPerMtok: '3' } });
  expect(await used()).toEqual([[0.6, 0]]);
});

test('without a price in force money counts as nothing, and a price that is entered later for that hour counts it', async () => {
  await set(1);
  await set(1000, { unit: 'tokens' });
  await running.store(call(), call({ model: 'other' }));
  expect(await used()).toEqual([
    [0, 0],
    [2200, 0],
  ]);
  await enter('2026-04-01T00:00:00.000Z', '1', '0');
  expect(await used()).toEqual([
    [0.001, 0],
    [2200, 0],
  ]);
});

test('a budget of money that is set in the middle of the month counts what was used since its beginning', async () => {
  await enter('2026-03-01T00:00:00.000Z', '1', '0');
  await running.store(call(), call({ prompt_tokens: 5e6 }, '2026-03-31T23:59:59.999Z'));
  expect(await set(0.002)).toMatchObject({ used: 0.001, percent: 50 });
});

test('a call of which nobody knows the tokens costs what was assumed for it, apart from what receipts say', async () => {
  await enter('2026-04-01T00:00:00.000Z', '1', '0');
  await set(1);
  const none = {
    prompt_tokens: null,
    completion_tokens: null,
    tier: 'degraded',
    energy_wh: null,
    carbon_g: null,
  } as const;
  const degraded = { ...call(none), facts: null };
  const { created_at, id } = degraded.receipt;
  await running.store(call(), degraded);
  await running.stores.db.budgetEstimate.create({
    data: { receiptId: id, createdAt: new Date(created_at), accountId, cost: 0.25, tokens: 500 },
  });
  expect(await used()).toEqual([[0.001, 0]]);
  expect((await admin('GET', path())).json().data).toMatchObject([
    { used: 0.001, used_estimated: 0.25, percent: 25.1 },
  ]);
});
