/** The limits over two ext-authz, even while Valkey is killed under them. */
import { setTimeout as delay } from 'node:timers/promises';
import type { OperatorApi } from '@gw/cli/internals/commands/admin/api';
import { beforeAll, describe, expect, test } from 'vitest';
import { aFewAtATime } from '../at-a-time.ts';
import { apiOf } from '../operator-api.ts';
import { instancesOf } from '../outage/instances.ts';
import { eventually } from '../outage/own-gateway.ts';
import { gateway } from '../outage/paired-gateway.ts';
import { ask, figureOf, type LimitedReply, untilMidnightS } from './limited-call.ts';

describe('limits', () => {
  const instances = 2;
  const path = '/operator/v1/accounts/acct_demo_audit';
  let api: OperatorApi;

  beforeAll(async () => {
    api = apiOf(gateway.stack);
  });

  /** A key of its own of an account with these limits, which hold in both instances. */
  async function keyWith(limits: { per_s: number; burst: number; per_day: number }): Promise<string> {
    await api.send('PATCH', path, { tier: 'enterprise', limits });
    await delay(1000);
    const { keys } = gateway.stack;
    for (let known = 0; known < 4; known += 1) await ask(gateway.stack, keys.audit, '/v1/usage');
    return keys.audit;
  }

  const answered = async () => (await instancesOf(gateway.stack, 'ext-authz')).map(({ calls }) => calls);
  const admittedOf = (replies: readonly LimitedReply[]) => replies.filter(({ status }) => status === 200).length;

  /** Four times what is left of the day, side by side. */
  async function overdraw(key: string, left: number): Promise<void> {
    const before = await answered();
    const replies = await aFewAtATime(4 * left, () => ask(gateway.stack, key));
    expect(admittedOf(replies)).toBe(left);
    for (const { code, limit, retryAfter, status } of replies) {
      if (status === 200) continue;
      expect([status, code, limit('remaining-day')]).toEqual([429, 'daily_budget_exceeded', 0]);
      expect(Math.abs((retryAfter ?? 0) - untilMidnightS())).toBeLessThan(60);
    }
    const after = await answered();
    expect(after).toHaveLength(instances);
    for (const [index, count] of after.entries()) expect(count - (before[index] ?? 0)).toBeGreaterThan(left);
  }

  test('of four times the budget, side by side over two instances, exactly the budget passes', async () => {
    const key = await keyWith({ per_s: 1_000_000, burst: 1_000_000, per_day: 100 });
    await overdraw(key, 100);
  });

  test('calls that an ext-authz holds while it stands still count once, though another one answers for it', async () => {
    const perDay = 1_000_000;
    const key = await keyWith({ per_s: perDay, burst: perDay, per_day: perDay });
    const left = async () => (await ask(gateway.stack, key)).limit('remaining-day') ?? 0;
    const calls = 40;
    const first = await left();
    const goOn = gateway.pause('ext-authz');
    const replies = await Promise.all(Array.from({ length: calls }, () => ask(gateway.stack, key)));
    goOn();
    expect(admittedOf(replies)).toBe(calls);
    // It resumes, counts half of the calls, and gives them back. On a busy machine an answer of the other instance can cross
    // Envoy's time-out; then its call counts twice, as if the instance had died.
    let looks = 0;
    const counted = async () => {
      looks += 1;
      return first - (await left()) - looks;
    };
    await expect.poll(counted, { timeout: 30_000, interval: 500 }).toBeLessThanOrEqual(calls + calls / 4);
    expect(await counted()).toBeGreaterThanOrEqual(calls);
  });

  test('killed under load, Valkey takes no limit with it: what all admit stays burst and rate, and is exact afterwards', async () => {
    // Little, and each client waits for its answer: a slow machine overdraws it too, and has no queue.
    const [perS, burst, clients] = [6, 24, 4];
    const key = await keyWith({ per_s: perS, burst, per_day: 1_000_000 });
    const replies: LimitedReply[] = [];
    let isLoaded = true;
    const began = performance.now();
    const client = async () => {
      for (; isLoaded; await delay(50)) replies.push(await ask(gateway.stack, key));
    };
    const loading = Promise.all(Array.from({ length: clients }, client));
    await delay(2000);
    await gateway.killForGood('valkey');
    await eventually('the fallback', async () => (await figureOf(gateway.stack, 'gw_limits_local\\{.*\\}')) === 1);
    await delay(4000);
    await gateway.start('valkey');
    await eventually('exact limits', async () => (await figureOf(gateway.stack, 'gw_limits_local\\{.*\\}')) === 0);
    await delay(2000);
    isLoaded = false;
    await loading;
    const most = burst + (perS * (performance.now() - began)) / 1000;
    // More was asked for than was admitted, by both.
    expect(new Set(replies.map(({ status }) => status))).toEqual(new Set([200, 429]));
    // Each instance rounds its share up. It does not see what the other one took since its own last word from Valkey, nor does
    // Valkey at its return what an instance tells it a moment later: on a stalled machine, what all clients have asked then.
    expect(admittedOf(replies)).toBeLessThanOrEqual(most + instances + 2 * clients);
    expect(admittedOf(replies)).toBeGreaterThan(Math.min(most, replies.length) * 0.6);

    const { limit } = await ask(gateway.stack, key);
    const used = 1_000_000 - limit('remaining-day');
    // Calls admitted meanwhile have been counted, and those given up at the moment of the fall perhaps twice.
    expect(used).toBeGreaterThanOrEqual(admittedOf(replies));
    await overdraw(await keyWith({ per_s: 1_000_000, burst: 1_000_000, per_day: used + 100 }), 100);
  }, 120_000);
});
