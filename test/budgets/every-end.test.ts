/** Budgets against receipts after calls that end in every way; `test/long/every-end.test.ts` has ten thousand of them. */
import { expect, test } from 'vitest';
import { apiOf } from '../operator-api.ts';
import { eventually } from '../outage/own-gateway.ts';
import { openTestAccounts } from '../sdk/test-account.ts';
import { stack } from '../shared-stack.ts';
import { addBrokenProviders, balanceOf, endInEveryWay, setEveryBudget, ways } from './every-end.ts';

test('what is used is the sum of the receipts, and each call explains what is estimated', async () => {
  const api = apiOf(stack);
  const accounts = openTestAccounts(stack);
  const removeProviders = await addBrokenProviders(api, { publicUrl: stack.publicUrl, key: stack.keys.enterprise });
  try {
    const key = await accounts.create({ perDay: 1_000_000, perS: 10_000, streams: 100 });
    const accountId = `acct_test_${key.split('_')[1]}`;
    await setEveryBudget(api, accountId);
    await new Promise((resolve) => setTimeout(resolve, 1500));
    const calls = await endInEveryWay({ publicUrl: stack.publicUrl, key }, 2 * Object.keys(ways).length, 16);
    const balance = () => balanceOf({ api, db: accounts.db, accountId, calls });
    await eventually('the books to balance', async () => (await balance()).differences.length === 0).catch(
      () => undefined,
    );
    expect((await balance()).differences).toEqual([]);
  } finally {
    await removeProviders();
    await accounts.close();
  }
}, 120_000);
