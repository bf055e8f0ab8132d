/** The limits as a client meets them, through the whole gateway. */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { issuedKeySchema } from '@gw/contract/keys';
import { expect, test } from 'vitest';
import { apiOf } from '../operator-api.ts';
import { readFrom } from '../outage/instances.ts';
import { eventually, stack } from '../sdk/gateway.ts';
import { accountsForFile } from '../sdk/test-account.ts';
import { accountOf, ask as askStack, figureOf, idOf, untilMidnightS } from './limited-call.ts';

const accounts = accountsForFile();
const { redis } = accounts;
const operators = apiOf(stack);

const ask = (key: string, path?: string) => askStack(stack, key, path);
const many = (count: number, key: string) => Promise.all(Array.from({ length: count }, () => ask(key)));
/** The first reply in which a change shows. */
const standing = (what: string, key: string, name: string, value: number) =>
  eventually(what, async () => {
    const reply = await ask(key);
    return reply.limit(name) === value ? reply : null;
  });
const account = (key: string, ...rest: string[]) => ['/operator/v1/accounts', accountOf(key), ...rest].join('/');

test('over ten seconds at three times the rate as much is admitted as the rate allows, within 2 %', async () => {
  // So large a burst that the emptied bucket is full again at no pause of a busy machine: a full one gains nothing.
  const [perS, burst] = [20, 200];
  const key = await accounts.create({ perS, burst });
  /** Reads what the bucket has, in calls, and when it had it, s. */
  const bucket = async () => {
    const [thousandths, ms] = await redis.hmget(`gw:limit:{${accountOf(key)}}:calls`, 'b', 'm');
    return { calls: Number(thousandths) / 1000, atS: Number(ms) / 1000 };
  };
  await eventually('a call that is refused', async () => (await many(50, key)).find(({ status }) => status === 429));
  const began = await bucket();
  const beganMs = performance.now();
  const replies: ReturnType<typeof ask>[] = [];
  // As many as are due, however late a turn comes on a busy machine.
  for (let ms = 0; ms < 10_000; ms = performance.now() - beganMs) {
    while (replies.length < (3 * perS * ms) / 1000) replies.push(ask(key));
    await delay(50);
  }
  const counts: Record<string, number> = {};
  for (const { code, status } of await Promise.all(replies)) counts[code ?? status] = (counts[code ?? status] ?? 0) + 1;
  const ended = await bucket();
  const expected = perS * (ended.atS - began.atS) + began.calls - ended.calls;
  // Where a machine has no time to answer in, a call may have been counted, and is answered with 503.
  const { 200: admitted = 0, requests_per_second_exceeded: refused = 0, overloaded = 0, ...others } = counts;
  const told = `${JSON.stringify(counts)}, where ${expected} were expected: ${JSON.stringify({ began, ended })}`;
  expect(others, told).toEqual({});
  expect(refused, told).toBeGreaterThan(expected * 0.5);
  expect(admitted, told).toBeLessThanOrEqual(expected * 1.02);
  expect(admitted + overloaded, told).toBeGreaterThanOrEqual(expected * 0.98);
});

test('every reply says where the client stands; whoever waits as long as it says is let in', async () => {
  const key = await accounts.create({ perS: 1, burst: 3, perDay: 1000 });
  const first = await ask(key);
  expect(first.status).toBe(200);
  const names = ['limit-requests', 'remaining-requests', 'reset-requests', 'limit-day', 'remaining-day'] as const;
  expect(names.map(first.limit)).toEqual([3, 2, 0, 1000, 999]);
  expect(Math.abs(first.limit('reset-day') - untilMidnightS())).toBeLessThan(30);
  const refusedOf = async () => (await many(4, key)).find(({ status }) => status === 429);
  const refused = await refusedOf();
  expect(refused).toMatchObject({ code: 'requests_per_second_exceeded', retryAfter: 1, shouldRetry: null });
  expect(refused?.message).toContain('this account');
  expect(refused?.limit('remaining-requests')).toBe(0);
  expect(refused?.limit('reset-requests')).toBeGreaterThan(0);
  expect(refused?.limit('reset-requests')).toBeLessThanOrEqual(1);
  await delay(1000 * (refused?.limit('reset-requests') ?? 0));
  expect((await ask(key)).status).toBe(200);
  const again = await refusedOf();
  await delay(1000 * (again?.retryAfter ?? 0));
  expect((await ask(key)).status).toBe(200);
});

test('a spent day is refused until midnight UTC, and no SDK waits for that; reads have a rate of their own', async () => {
  const key = await accounts.create({ perDay: 2 });
  await many(2, key);
  const refused = await ask(key);
  const leftS = untilMidnightS();
  expect(refused.code).toBe('daily_budget_exceeded');
  expect(refused.limit('remaining-day')).toBe(0);
  expect(refused.limit('reset-day')).toBe(refused.retryAfter);
  expect(refused.retryAfter).toBeGreaterThanOrEqual(1);
  expect(Math.abs((refused.retryAfter ?? 0) - leftS)).toBeLessThan(30);
  if (leftS > 120) expect(refused.shouldRetry).toBe('false');
  const read = await ask(key, '/v1/usage');
  expect(read.status).toBe(200);
  expect(read.limit('limit-requests')).toBe(50);
  expect(read.limit('limit-day')).toBeNaN();
});

test('a key that is given less than its account has it a second later, and the other keys of the account go on', async () => {
  const key = await accounts.create({ perS: 100, perDay: 1000 });
  const other = issuedKeySchema.parse(
    await operators.send('POST', account(key, 'keys'), { name: 'other', limits: { per_day: 2 } }),
  );
  const replies = await many(5, other.key);
  expect(replies.filter(({ status }) => status === 200)).toHaveLength(2);
  const refused = replies.find(({ status }) => status === 429);
  expect(refused?.message).toContain('this API key');
  expect(refused?.limit('limit-day')).toBe(2);
  // A call that the key's limit refused took nothing from the account.
  expect((await ask(key)).limit('remaining-day')).toBe(997);

  // A day and not a rate: however long the calls take, it brings no more of them.
  await operators.send('PATCH', account(key, 'keys', idOf(key)), { limits: { per_s: 50, burst: 90, per_day: 4 } });
  const first = await standing('the limits of the key', key, 'limit-requests', 90);
  const limited = await many(6, key);
  expect(limited.filter(({ status }) => status === 200)).toHaveLength(first.limit('remaining-day'));
  expect(limited.map(({ limit }) => limit('limit-requests'))).toEqual(Array(6).fill(90));
  await operators.send('PATCH', account(key, 'keys', idOf(key)), { limits: null });
  await standing('no limits of the key', key, 'limit-requests', 100);
});

test('a limit in shadow refuses nobody, shows what it would show, is counted, and owes nothing when it is enforced', async () => {
  const key = await accounts.create({ perS: 1, burst: 2, perDay: 3 });
  const patch = (shadow: string[]) => operators.send('PATCH', account(key), { shadow });
  await patch(['rate', 'day']);
  const counted = (limit: string) =>
    figureOf(stack, `gw_limits_decisions_total\\{limit="${limit}",outcome="shadowed".*\\}`);
  const before = [await counted('rate'), await counted('day')];
  const replies = await many(10, key);
  expect(replies.every(({ status }) => status === 200)).toBe(true);
  expect(Math.min(...replies.map(({ limit }) => limit('remaining-requests')))).toBe(0);
  expect(Math.min(...replies.map(({ limit }) => limit('remaining-day')))).toBe(0);
  expect((await counted('rate')) - (before[0] ?? 0)).toBeGreaterThanOrEqual(5);
  expect((await counted('day')) - (before[1] ?? 0)).toBeGreaterThanOrEqual(5);
  const lines = () =>
    readFileSync(join(stack.logs, 'ext-authz.log'), 'utf8')
      .split('\n')
      .filter((line) => line.includes('in shadow would have refused') && line.includes(accountOf(key)));
  await eventually('the line in the log', async () => lines().length || null);
  expect(lines()).toHaveLength(1);

  await patch(['day']);
  await delay(1000);
  // A second has brought one token: there is no debt to be paid first.
  expect((await ask(key)).status).toBe(200);
  await patch([]);
  await eventually('the enforced day', async () => (await ask(key)).code === 'daily_budget_exceeded' || null);
});

test('a call that has room is one question to ext-authz, and only about one without room there is a second', async () => {
  const key = await accounts.create({ perS: 1, burst: 5, perDay: 1000 });
  /** How often Envoy has asked about limits and not about a key. */
  const asked = async () => {
    const figures = await readFrom(
      join(stack.sockets, 'envoy-admin.sock'),
      '/stats?filter=ratelimit.(ok|over_limit|error)',
    );
    return [...figures.matchAll(/: (\d+)$/gm)].reduce((sum, [, count]) => sum + Number(count), 0);
  };
  // The first look-up of a key takes its time, in which nothing of the burst comes back.
  await ask(key, '/v1/usage');
  const before = await asked();
  const replies = await many(5, key);
  expect(replies.map(({ status }) => status)).toEqual(Array(5).fill(200));
  expect(replies.map(({ limit }) => limit('remaining-day')).sort()).toEqual([995, 996, 997, 998, 999]);
  expect(await asked()).toBe(before);
  expect((await many(8, key)).filter(({ status }) => status === 429).length).toBeGreaterThan(0);
  expect(await asked()).toBeGreaterThan(before);
});
