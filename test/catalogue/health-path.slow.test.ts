/** A provider that says how it is: while it says that it is unwell no call is sent there, and none waits for it. */
import { afterAll, beforeAll, expect, test } from 'vitest';
import { apiOf, removeEntries } from '../operator-api.ts';
import { additionsOf, eventually, messages, openAi, receiptOf, stack } from '../sdk/gateway.ts';
import { offerIn, startHeldProvider, withdraw } from './held-provider.ts';

const operator = apiOf(stack);
const model = 'checked/m';
const [first, second] = ['checked-a', 'checked-b'];
// Calls that steer the simulated provider tell nothing of how deployments are.
const client = openAi(stack.keys.enterprise, { defaultHeaders: {}, maxRetries: 0 });
const chat = (more: object = {}) => client.chat.completions.create({ model, messages, ...more });
const pinned = () => chat({ gw: { region: first } });

const [a, b] = await Promise.all([startHeldProvider(), startHeldProvider()]);

async function clear(): Promise<void> {
  await withdraw(model, [first, second]);
  await removeEntries(operator, 'credentials/CHECKED');
}
beforeAll(async () => {
  await clear();
  await operator.send('PUT', '/operator/v1/credentials/CHECKED', { value: 'secret-of-checked', base_url: a.origin });
  const checked = { base_url: `${a.origin}/llm/v1`, credential_ref: 'CHECKED', health_path: '/up?deep=1' };
  await offerIn(model, [
    { region: first, provider: checked, deployment: {} },
    { region: second, provider: { base_url: b.origin }, deployment: {} },
  ]);
  await eventually('free calls to begin there', async () => {
    const answer = await chat().catch(() => null);
    return (answer && receiptOf(answer).region === first) || null;
  });
});
afterAll(async () => {
  await clear();
  for (const provider of [a, b]) provider.stop();
});

test('it is asked at its health path, as its address says, and without its credential', async () => {
  const [check] = await eventually('a check', async () => (a.checks().length > 0 ? a.checks() : null));
  expect(check).toMatchObject({ url: '/up?deep=1', host: new URL(a.origin).host });
  expect(JSON.stringify(a.checks())).not.toMatch(/secret-of-checked|authorization/);
  // A provider without a health path is left alone.
  expect(b.checks()).toEqual([]);
});

test('while it says 500 and would hang, calls go elsewhere at once; when it is well again they come back', async () => {
  a.hold();
  a.say(500);
  a.forget();
  // Envoy acts on what the one before the last has told it.
  await eventually('two checks', async () => a.checks().length >= 2 || null);
  const asked = a.asked();
  try {
    const answer = await chat();
    expect(receiptOf(answer)).toMatchObject({ region: second });
    expect(additionsOf(answer).routing_trace).toMatchObject({
      attempts: { count: 2, failed: [{ deployment: first, outcome: 'unhealthy' }] },
    });
    await expect(pinned()).rejects.toMatchObject({ status: 503, code: 'region_degraded' });
    for (let at = 0; at < 5; at += 1) expect(receiptOf(await chat())).toMatchObject({ region: second });
    expect([a.asked(), a.waiting()]).toEqual([asked, 0]);
  } finally {
    a.say(200);
    a.release();
  }
  await eventually('free calls to begin there again', async () => receiptOf(await chat()).region === first || null);
  expect(receiptOf(await pinned())).toMatchObject({ region: first });
});
