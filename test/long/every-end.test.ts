/** Ten thousand calls at 32 connections that end in every way: the budgets are held against the receipts, call by call. */
import { forFile } from '@gw/testing/for-file';
import { expect, test } from 'vitest';
import { addBrokenProviders, balanceOf, endInEveryWay, setEveryBudget } from '../budgets/every-end.ts';
import { apiOf } from '../operator-api.ts';
import { eventually, startOwnGateway } from '../outage/own-gateway.ts';
import { openTestAccounts } from '../sdk/test-account.ts';

const gateway = forFile(() => startOwnGateway({ instances: 2 }));

test('10,000 calls use what their receipts say, and each explains what is estimated', async () => {
  const { dir, stack } = gateway;
  const api = apiOf(stack);
  const accounts = openTestAccounts({ ...stack, dir });
  const removeProviders = await addBrokenProviders(api, { publicUrl: stack.publicUrl, key: stack.keys.enterprise });
  try {
    const key = await accounts.create({ perDay: 1_000_000, perS: 10_000, streams: 100 });
    const accountId = `acct_test_${key.split('_')[1]}`;
    await setEveryBudget(api, accountId);
    await new Promise((resolve) => setTimeout(resolve, 1500));
    const calls = await endInEveryWay({ publicUrl: stack.publicUrl, key }, 10_000, 32);
    const balance = () => balanceOf({ api, db: accounts.db, accountId, calls });
    const isEven = async () => (await balance()).differences.length === 0;
    await eventually('the books to balance', isEven, 90_000).catch(() => undefined);
    const { differences, ...sums } = await balance();
    console.log(JSON.stringify(sums));
    expect(differences).toEqual([]);
  } finally {
    await removeProviders();
    await accounts.close();
  }
}, 900_000);
