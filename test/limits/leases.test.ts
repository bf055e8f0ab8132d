/** Calls that a lease lets in, through the whole gateway: their limits are as exact as those of all others. */
import { randomUUID } from 'node:crypto';
import { Agent, request } from 'node:http';
import { afterAll, expect, test } from 'vitest';
import { aFewAtATime } from '../at-a-time.ts';
import { chatBody, quick } from '../input/ask.ts';
import { stack } from '../sdk/gateway.ts';
import { accountsForFile } from '../sdk/test-account.ts';

const accounts = accountsForFile();
const agent = new Agent({ keepAlive: true, maxSockets: 12 });
afterAll(() => agent.destroy());

interface Reply {
  readonly status: number;
  readonly code: string | null;
  readonly limit: (name: string) => number;
}

/** On connections that stay open, as those of an SDK. */
function complete(key: string, headers: Readonly<Record<string, string>> = {}, fields: object = {}): Promise<Reply> {
  const body = chatBody(fields);
  const { hostname, port } = new URL(stack.publicUrl);
  const sent = { ...quick, 'content-type': 'application/json', 'content-length': Buffer.byteLength(body), ...headers };
  const options = { hostname, port, agent, method: 'POST', path: '/v1/chat/completions' };
  return new Promise((resolve, reject) => {
    const outgoing = request({ ...options, headers: { ...sent, authorization: `Bearer ${key}` } }, (reply) => {
      const chunks: Buffer[] = [];
      reply.on('data', (chunk: Buffer) => chunks.push(chunk));
      reply.on('end', () => {
        const text = Buffer.concat(chunks).toString();
        const code = reply.statusCode === 200 ? null : JSON.parse(text).error.code;
        const limit = (name: string) => Number(reply.headers[`x-ratelimit-${name}`] ?? Number.NaN);
        resolve({ status: reply.statusCode ?? 0, code, limit });
      });
    });
    outgoing.on('error', reject);
    outgoing.end(body);
  });
}

/** How many calls the sidecar has decided, which are those of leases. */
async function leased(limit: 'day' | 'rate'): Promise<number> {
  const text = await (await fetch(`${stack.healthUrls['receipt-sidecar']}/metrics`)).text();
  const figure = new RegExp(`^gw_limits_decisions_total\\{limit="${limit}",outcome="admitted".*\\} (\\d+)$`, 'm');
  return Number(figure.exec(text)?.[1]);
}

const numbers = (count: number) => Array.from({ length: count }, (_, at) => at);

test('of twice the day, side by side, exactly the day passes, and each reply says where it stands', async () => {
  const [perDay, perS] = [400, 1_000_000];
  const key = await accounts.create({ perS, perDay });
  const before = await leased('day');
  const replies = await aFewAtATime(2 * perDay, () => complete(key));
  const passed = replies.filter(({ status }) => status === 200);
  expect(passed.map(({ limit }) => limit('remaining-day')).sort((a, b) => a - b)).toEqual(numbers(perDay));
  expect(new Set(passed.map(({ limit }) => limit('limit-day')))).toEqual(new Set([perDay]));
  const refused = replies.filter(({ status }) => status !== 200);
  expect(new Set(refused.map(({ code }) => code))).toEqual(new Set(['daily_budget_exceeded']));
  expect(new Set(refused.map(({ limit }) => limit('remaining-day')))).toEqual(new Set([0]));
  // Else this would say nothing of leases.
  expect((await leased('day')) - before).toBeGreaterThan(perDay / 4);
});

test('of twice the burst no more passes than the bucket held and got', async () => {
  const [perS, burst] = [1, 300];
  const key = await accounts.create({ perS, burst, perDay: 100_000 });
  const before = await leased('rate');
  const began = performance.now();
  const replies = await aFewAtATime(2 * burst, () => complete(key));
  const tookS = (performance.now() - began) / 1000;
  const passed = replies.filter(({ status }) => status === 200).length;
  expect(passed).toBeGreaterThanOrEqual(burst);
  expect(passed).toBeLessThanOrEqual(burst + perS * tookS + 1);
  expect(new Set(replies.flatMap(({ code }) => code ?? []))).toEqual(new Set(['requests_per_second_exceeded']));
  expect((await leased('rate')) - before).toBeGreaterThan(burst / 4);
});

test('streams, refusals and replays of leased calls count and say so, as all others', async () => {
  const key = await accounts.create({ perS: 1000, perDay: 1000 });
  const before = await leased('day');
  const replayed = { 'idempotency-key': randomUUID() };
  let left = 1000;
  for (let round = 0; round < 15; round += 1) {
    for (const [status, headers, fields] of [
      [200, {}, {}],
      [200, {}, { stream: true }],
      [400, {}, { model: 'unknown' }],
      [400, {}, { messages: 'none' }],
    ] as const) {
      const reply = await complete(key, headers, fields);
      left -= 1;
      expect([reply.status, reply.limit('remaining-day'), reply.limit('limit-requests')]).toEqual([status, left, 1000]);
    }
  }
  for (let round = 0; round < 10; round += 1) expect((await complete(key, replayed)).status).toBe(200);
  // All ten count once, together with the call that they are of; what the others took is given back.
  left -= 1;
  const counted = async () => {
    left -= 1;
    return (await complete(key)).limit('remaining-day') - left;
  };
  await expect.poll(counted).toBe(0);
  expect((await leased('day')) - before).toBeGreaterThan(30);
});
