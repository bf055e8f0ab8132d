/**
 * A deployment that says how many calls it takes at once: what is above goes on to the next one at once, and a pinned call is told so.
 * A place is free again with the end of a call, and not after a rest.
 */
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest';
import { apiOf } from '../operator-api.ts';
import { additionsOf, eventually, messages, openAi, receiptOf, stack } from '../sdk/gateway.ts';
import { offerIn, startHeldProvider, withdraw } from './held-provider.ts';

const operator = apiOf(stack);
const model = 'bounded/m';
const [first, second] = ['bounded-a', 'bounded-b'];
// Calls that steer the simulated provider tell nothing of how deployments are.
const client = openAi(stack.keys.enterprise, { defaultHeaders: {}, maxRetries: 0 });
const chat = (more: object = {}) => client.chat.completions.create({ model, messages, ...more });
const pinned = (region: string) => chat({ gw: { region } });
const errorOf = (call: Promise<unknown>) => call.then(() => null).catch((error: unknown) => error);

const providers = await Promise.all([startHeldProvider(), startHeldProvider()]);
const [a, b] = providers;

beforeAll(async () => {
  await withdraw(model, [first, second]);
  await offerIn(model, [
    { region: first, provider: { base_url: a.origin }, deployment: { max_concurrent_requests: 2 } },
    { region: second, provider: { base_url: b.origin }, deployment: {} },
  ]);
  await eventually('both to answer', async () => {
    const tried = await Promise.allSettled([first, second].map(pinned));
    return tried.every(({ status }) => status === 'fulfilled') || null;
  });
});
afterAll(async () => {
  await withdraw(model, [first, second]);
  for (const provider of providers) provider.stop();
});
beforeEach(async () => {
  for (const provider of providers) provider.release();
  await eventually('free calls to begin there', async () => receiptOf(await chat()).region === first || null);
});

test('two calls run; free ones above go to the other region at once, pinned ones are refused at once, and none rests', async () => {
  a.hold();
  const held = [chat(), pinned(first)];
  await eventually('both to be there', async () => a.waiting() === 2 || null);
  const asked = a.asked();
  for (let at = 0; at < 8; at += 1) {
    const answer = await chat();
    expect(receiptOf(answer)).toMatchObject({ region: second });
    expect(additionsOf(answer).routing_trace).toMatchObject({
      decision: expect.stringContaining(`${first} (at capacity) failed`),
      attempts: { count: 2, failed: [{ deployment: first, outcome: 'at_capacity' }] },
    });
    const error = await errorOf(pinned(first));
    expect(error).toMatchObject({ status: 503, code: 'region_saturated', param: 'gw.region' });
    // No provider was asked, so there is no receipt.
    expect((error as { headers: Headers }).headers.get('x-gw-receipt-id')).toBeNull();
  }
  expect([a.asked(), a.waiting()]).toEqual([asked, 2]);
  a.release();
  for (const call of held) expect(receiptOf(await call)).toMatchObject({ region: first, status: 'complete' });
  expect(receiptOf(await pinned(first))).toMatchObject({ region: first });
  expect(receiptOf(await chat())).toMatchObject({ region: first });
});

test('of many calls at once exactly two get there, and none waits', async () => {
  a.hold();
  const before = a.connections();
  const calls = Array.from({ length: 30 }, () => chat());
  const regions: (string | null)[] = [];
  for (const call of calls) void call.then((answer) => regions.push(receiptOf(answer).region));
  await eventually('all others to be answered', async () => regions.length === 28 || null);
  expect(new Set(regions)).toEqual(new Set([second]));
  expect(a.waiting()).toBe(2);
  // The others did not get as far as a connection of their own.
  expect(a.connections() - before).toBeLessThanOrEqual(4);
  a.release();
  await Promise.all(calls);
});

test('a call that its client gives up makes room', async () => {
  a.hold();
  const abort = new AbortController();
  const left = client.chat.completions.create({ model, messages }, { signal: abort.signal }).catch(() => null);
  const held = chat();
  await eventually('both to be there', async () => a.waiting() === 2 || null);
  abort.abort();
  await left;
  await eventually('the provider to see it', async () => a.waiting() === 1 || null);
  const next = chat();
  await eventually('the next one to be there', async () => a.waiting() === 2 || null);
  a.release();
  expect(receiptOf(await next)).toMatchObject({ region: first });
  await held;
});

test('where every deployment is at capacity a free call is told so, and after which time to come back', async () => {
  await operator.send('PATCH', `/operator/v1/deployments/${second}`, { max_concurrent_requests: 1 });
  for (const provider of providers) provider.hold();
  const held: Promise<unknown>[] = [];
  try {
    // Envoy takes the new bound up within two seconds; until then the call above it waits like the others.
    const error = await eventually('a refusal', async () => {
      const outcome = errorOf(chat());
      held.push(outcome);
      return Promise.race([outcome, new Promise<null>((resolve) => setTimeout(resolve, 1000, null))]);
    });
    expect(error).toMatchObject({ status: 503, code: 'overloaded' });
    const { headers } = error as { headers: Headers };
    expect([headers.get('retry-after'), headers.get('x-gw-receipt-id')]).toEqual(['1', null]);
  } finally {
    for (const provider of providers) provider.release();
    // Calls that were under way when the limit changed are answered like the others.
    for (const outcome of await Promise.all(held))
      expect(outcome === null || (outcome as { code: string }).code === 'overloaded', String(outcome)).toBe(true);
    await operator.send('PATCH', `/operator/v1/deployments/${second}`, { max_concurrent_requests: null });
  }
});
