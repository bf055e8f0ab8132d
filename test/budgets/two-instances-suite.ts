/** A budget over two ext-authz and two sidecars, of which one is killed. */
import { randomUUID } from 'node:crypto';
import type { OperatorApi } from '@gw/cli/internals/commands/admin/api';
import { redisBudgetUse } from '@gw/service/budgets';
import { Redis } from 'ioredis';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { aFewAtATime } from '../at-a-time.ts';
import { apiOf } from '../operator-api.ts';
import { instancesOf } from '../outage/instances.ts';
import { eventually } from '../outage/own-gateway.ts';
import { gateway } from '../outage/paired-gateway.ts';
import { type Budget, changeBudget, readBudget, removeBudget, setBudget, spend, usedByReceipts } from './spend.ts';

describe('budgets', () => {
  const accountId = 'acct_demo_enterprise';
  let api: OperatorApi;
  let key: string;
  let budget: Budget;

  beforeAll(async () => {
    api = apiOf(gateway.stack);
    key = gateway.stack.keys.enterprise;
    budget = await setBudget(api, accountId, 1e9);
  });
  afterAll(() => removeBudget(api, accountId, budget.id));

  /** Streams whose second half the provider holds until it is released. */
  function heldStreams(): { readonly replies: Promise<Response>[]; readonly release: () => Promise<void> } {
    const marker = randomUUID();
    const headers = {
      authorization: `Bearer ${key}`,
      'content-type': 'application/json',
      'x-sim-tokens-per-second': '0',
      'x-sim-hold': 'middle',
      'x-sim-marker': marker,
    };
    const messages = [{ role: 'user', content: 'Hello' }];
    const body = JSON.stringify({ model: 'sim-small', stream: true, max_tokens: 30, messages });
    const url = `${gateway.stack.publicUrl}/v1/chat/completions`;
    const replies = Array.from({ length: 10 }, () => fetch(url, { method: 'POST', headers, body }));
    return { replies, release: () => gateway.client.release(marker) };
  }

  const now = () => readBudget(api, accountId, budget.id);
  /** Sets it so that so many tokens are left. */
  async function leave(tokens: number): Promise<Budget> {
    const before = await now();
    await changeBudget(api, accountId, budget.id, before.used + before.used_estimated + tokens);
    // Both sidecars see it with the key of the next calls.
    await new Promise((resolve) => setTimeout(resolve, 1000));
    return before;
  }

  test('of many calls side by side over two of each, no more is spent than there is, and what is spent are the receipts', async () => {
    const left = 3600;
    const before = await leave(left);
    const served = async () => (await instancesOf(gateway.stack, 'receipt-sidecar')).map(({ calls }) => calls);
    const servedBefore = await served();
    // `test/long/budget-at-once.test.ts` has more at once than can be answered.
    const calls = await spend(gateway.stack, key, 400, aFewAtATime);
    const spent = calls.reduce((sum, { tokens }) => sum + tokens, 0);
    const refused = calls.filter(({ status }) => status !== 200);
    expect(new Set(refused.map(({ code, status }) => `${status} ${code}`))).toEqual(
      new Set(['429 token_budget_exceeded']),
    );
    expect(spent).toBeLessThanOrEqual(left);
    // A call is refused only where its estimate does not fit any more.
    expect(spent).toBeGreaterThan(left / 2);
    for (const [at, count] of (await served()).entries()) expect(count).toBeGreaterThan((servedBefore[at] ?? 0) + 100);
    await eventually('all reservations to be settled', async () => (await now()).reserved === 0);
    expect(await now()).toMatchObject({ used: before.used + spent, used_estimated: before.used_estimated });
    await eventually(
      'the receipts to say the same',
      async () => (await usedByReceipts(api, accountId)).tokens === (await now()).used,
    );
  }, 120_000);

  test('a Valkey that is emptied under calls is right again, to the token, by the sums of the receipts', async () => {
    const { used, used_estimated: estimated } = await leave(1e6);
    const before = await usedByReceipts(api, accountId);
    const { release, replies } = heldStreams();
    await eventually('the calls to run', async () => (await now()).reserved >= 10 * 30);
    const redis = new Redis(gateway.stack.redisUrl);
    await redis.flushall();
    await release();
    for (const text of await Promise.all(replies.map(async (reply) => (await reply).text())))
      expect(text.trimEnd().endsWith('data: [DONE]')).toBe(true);
    const counted = async () => {
      const [budget, receipts] = [await now(), await usedByReceipts(api, accountId)];
      return {
        reserved: budget.reserved,
        apart: budget.used - receipts.tokens,
        estimated: budget.used_estimated,
        calls: receipts.requests - before.requests,
      };
    };
    await expect
      .poll(counted, { timeout: 90_000 })
      .toEqual({ reserved: 0, apart: used - before.tokens, estimated, calls: 10 });
    // The next calls are decided by these figures, which are not only displayed.
    const book = { accountId, month: new Date().toISOString().slice(0, 7) };
    const all = (await now()).used + estimated;
    await expect
      .poll(() => redisBudgetUse(redis).state(book, budget.id), { timeout: 60_000 })
      .toEqual({ base: all, used: all, held: 0, estimated });
    redis.disconnect();
  }, 180_000);

  test('what a killed sidecar had reserved is settled by the receipts of its calls, and by the estimate where they have no number', async () => {
    const before = await leave(1e6);
    const degradedBefore = (await usedByReceipts(api, accountId)).degraded;
    const tokensBefore = (await usedByReceipts(api, accountId)).tokens;
    const { release, replies } = heldStreams();
    // Calls that have reserved but not reached a provider when their sidecar dies have no receipt, and are given back later.
    const begun = await Promise.all(replies);
    const each = (await now()).reserved / 10;
    expect(each).toBeGreaterThanOrEqual(30);
    gateway.kill('receipt-sidecar-2');
    await release();
    await Promise.all(begun.map((reply) => reply.text().catch(() => '')));
    await eventually('all reservations to be settled', async () => (await now()).reserved === 0, 90_000);
    const { degraded, tokens } = await usedByReceipts(api, accountId);
    expect(degraded - degradedBefore).toBeGreaterThan(0);
    const { used, used_estimated } = await now();
    expect(used - before.used).toBe(tokens - tokensBefore);
    expect(used_estimated - before.used_estimated).toBe((degraded - degradedBefore) * each);
  }, 180_000);

  test('what sidecars had reserved that die while Valkey is away counts as estimated too', async () => {
    const before = await leave(1e6);
    const receiptsBefore = await usedByReceipts(api, accountId);
    const estimates = () =>
      gateway.db.budgetEstimate.aggregate({ where: { accountId }, _count: true, _sum: { tokens: true } });
    const estimatesBefore = await estimates();
    await gateway.killForGood('valkey');
    const { release, replies } = heldStreams();
    const begun = await Promise.all(replies);
    expect(begun.map(({ status }) => status)).toEqual(begun.map(() => 200));
    for (const name of ['receipt-sidecar', 'receipt-sidecar-2'] as const) gateway.kill(name);
    await release();
    await Promise.all(begun.map((reply) => reply.text().catch(() => '')));
    await gateway.start('valkey');
    const apart = async () => {
      const [receipts, stored] = [await usedByReceipts(api, accountId), await estimates()];
      const { reserved, used, used_estimated } = await now();
      const estimated = Number(stored._sum.tokens) - Number(estimatesBefore._sum.tokens);
      return {
        degraded: receipts.degraded - receiptsBefore.degraded,
        estimated: stored._count - estimatesBefore._count,
        apart: used - before.used - (receipts.tokens - receiptsBefore.tokens),
        estimatesApart: used_estimated - before.used_estimated - estimated,
        reserved,
      };
    };
    await expect
      .poll(apart, { timeout: 90_000, interval: 500 })
      .toEqual({ degraded: 10, estimated: 10, apart: 0, estimatesApart: 0, reserved: 0 });
  }, 180_000);
});
