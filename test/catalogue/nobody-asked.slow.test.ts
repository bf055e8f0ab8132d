/**
 * Calls that end where no provider was asked, since one says that it is unwell, alone or behind one that is full: no receipt, and an
 * error that says so. What a provider forges of it counts for nothing.
 */
import { openDatabase } from '@gw/prisma/client';
import { afterAll, afterEach, beforeAll, expect, test } from 'vitest';
import { apiOf } from '../operator-api.ts';
import { eventually, messages, openAi, receiptOf, stack } from '../sdk/gateway.ts';
import { offerIn, startHeldProvider, withdraw } from './held-provider.ts';

const model = 'unasked/m';
const [first, second] = ['unasked-a', 'unasked-b'];
// Calls that steer the simulated provider tell nothing of how deployments are.
const client = openAi(stack.keys.enterprise, { defaultHeaders: {}, maxRetries: 0 });
const chat = (more: object = {}) => client.chat.completions.create({ model, messages, ...more });
const pinned = (region: string) => chat({ gw: { region } });

const db = openDatabase(stack.databaseUrl, { connections: 1 });
const providers = await Promise.all([startHeldProvider(), startHeldProvider()]);
const [a, b] = providers;

async function refusalOf(call: Promise<unknown>) {
  const error = await call.then(() => null).catch((thrown: unknown) => thrown);
  const { status, code, param, headers } = error as { status: number; code: string; param: string; headers: Headers };
  const [receiptId, retryAfter] = ['x-gw-receipt-id', 'retry-after'].map((name) => headers.get(name));
  return { status, code, param, receiptId, retryAfter };
}

beforeAll(async () => {
  await withdraw(model, [first, second]);
  await offerIn(model, [
    { region: first, provider: { base_url: a.origin }, deployment: { max_concurrent_requests: 1 } },
    { region: second, provider: { base_url: b.origin, health_path: '/up' }, deployment: {} },
  ]);
});
const allWell = () =>
  eventually('both to answer', async () => {
    const tried = await Promise.allSettled([pinned(first), pinned(second)]);
    return tried.every(({ status }) => status === 'fulfilled') || null;
  });
beforeAll(allWell);
afterEach(async () => {
  for (const provider of providers) {
    provider.release();
    provider.say(200);
    provider.failWith(null);
  }
  await allWell();
});
afterAll(async () => {
  await withdraw(model, [first, second]);
  for (const provider of providers) provider.stop();
  await db.$disconnect();
});

async function untilUnwell(): Promise<void> {
  b.say(500);
  b.forget();
  // Envoy acts on what the one before the last has told it.
  await eventually('two checks', async () => b.checks().length >= 2 || null);
}

test('where its region is unhealthy a pinned call is told so, and where all are unhealthy or full a free one is', async () => {
  await untilUnwell();
  const asked = b.asked();
  expect(await refusalOf(pinned(second))).toEqual({
    status: 503,
    code: 'region_degraded',
    param: 'gw.region',
    receiptId: null,
    retryAfter: null,
  });
  a.hold();
  const held = pinned(first);
  await eventually('it to be full', async () => a.waiting() === 1 || null);
  expect(await refusalOf(chat())).toMatchObject({ status: 503, code: 'overloaded', receiptId: null, retryAfter: '1' });
  expect(b.asked()).toBe(asked);
  // Nor is it lost to whoever looks at the gateway at this moment.
  const live = async () => (await apiOf(stack).get('/operator/v1/live')) as { errors_per_s: number };
  await expect.poll(async () => (await live()).errors_per_s).toBeGreaterThan(0);
  a.release();
  expect(receiptOf(await held)).toMatchObject({ region: first });
});

test('where another one was asked and failed, the trace says of both what they were', async () => {
  await untilUnwell();
  a.failWith(500);
  const { receiptId, ...refusal } = await refusalOf(chat());
  expect(refusal).toMatchObject({ status: 502, code: 'upstream_error' });
  const attempts = await eventually('its receipt', async () => {
    const row = await db.receipt.findFirst({ where: { id: receiptId ?? '' } });
    return (row?.routingTrace as { attempts: object } | null | undefined)?.attempts ?? null;
  });
  const failed = [
    { deployment: first, region: first, outcome: 'server_error' },
    { deployment: second, region: second, outcome: 'unhealthy' },
  ];
  expect(attempts).toEqual({ count: 2, failed });
});

test.each(['x-gw-unhealthy', 'x-gw-at-capacity', 'x-gw-credential-missing', 'x-gw-not-ready'])(
  'a provider that sends %s itself was asked all the same',
  async (header) => {
    b.failWith(503, { [header]: '1' });
    expect(await refusalOf(pinned(second))).toMatchObject({
      status: 502,
      code: 'upstream_error',
      receiptId: expect.stringMatching(/^rcpt_/),
    });
    b.failWith(null);
    a.failWith(503, { [header]: '1' });
    expect(receiptOf(await chat())).toMatchObject({ region: second });
  },
);
