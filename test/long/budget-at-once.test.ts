/**
 * 4,000 calls at once over two ext-authz and two sidecars: never more than the budget. What Envoy has no connection for is
 * lost, what it has no time for is 503 `overloaded`, and neither has used anything.
 */
import { forFile } from '@gw/testing/for-file';
import { expect, test } from 'vitest';
import { readBudget, setBudget, spend, usedByReceipts } from '../budgets/spend.ts';
import { apiOf } from '../operator-api.ts';
import { eventually, startOwnGateway } from '../outage/own-gateway.ts';

const accountId = 'acct_demo_enterprise';
const gateway = forFile(() => startOwnGateway({ instances: 2 }));

test('4,000 calls at once spend no more than the budget, and every reservation is settled', async () => {
  const api = apiOf(gateway.stack);
  const limits = { per_s: 1_000_000, burst: 1_000_000, per_day: 1_000_000, streams: 100 };
  await api.send('PATCH', `/operator/v1/accounts/${accountId}`, { limits });
  const { id } = await setBudget(api, accountId, 12_000);
  await new Promise((resolve) => setTimeout(resolve, 1500));
  const calls = await spend(gateway.stack, gateway.stack.keys.enterprise, 4000);
  const spent = calls.reduce((sum, { tokens }) => sum + tokens, 0);
  const kinds = new Map<string, number>();
  for (const { code, status } of calls) kinds.set(`${status} ${code}`, (kinds.get(`${status} ${code}`) ?? 0) + 1);
  console.log(`${spent} of 12000 tokens; ${JSON.stringify([...kinds])}`);
  expect(spent).toBeLessThanOrEqual(12_000);
  // Who finds no answer in time is told when to come again.
  const odd = [...kinds.keys()].filter((kind) => kind.startsWith('5') && kind !== '503 overloaded');
  expect(odd).toEqual([]);
  // Else it did not run out.
  expect(kinds.get('429 token_budget_exceeded')).toBeGreaterThan(100);
  await eventually('all settled', async () => (await readBudget(api, accountId, id)).reserved === 0, 90_000);
  const { used } = await readBudget(api, accountId, id);
  expect(used).toBeLessThanOrEqual(12_000);
  await eventually(
    'the receipts say the same',
    async () => (await usedByReceipts(api, accountId)).tokens === used,
    60_000,
  );
}, 300_000);
