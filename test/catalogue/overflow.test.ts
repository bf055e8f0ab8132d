/** A region of many deployments with a bound each: what one has no room for goes to the next, also behind the fifth. */
import { afterAll, beforeAll, expect, test } from 'vitest';
import { apiOf, removeEntries } from '../operator-api.ts';
import { eventually, messages, openAi, receiptOf, stack } from '../sdk/gateway.ts';
import { offerIn, startHeldProvider, withdraw } from './held-provider.ts';

const operator = apiOf(stack);
const model = 'overflowing/m';
const region = 'overflow';
const more = ['overflow-2', 'overflow-3', 'overflow-4', 'overflow-5', 'overflow-6', 'overflow-7'];
// Calls that steer the simulated provider tell nothing of how deployments are.
const client = openAi(stack.keys.enterprise, { defaultHeaders: {}, maxRetries: 0 });
const pinned = () => client.chat.completions.create({ model, messages, gw: { region } } as never);

const provider = await startHeldProvider();
const clear = async () => {
  await removeEntries(operator, ...more.map((id) => `deployments/${id}`));
  await withdraw(model, [region]);
};

beforeAll(async () => {
  await clear();
  const deployment = { max_concurrent_requests: 1 };
  await offerIn(model, [{ region, provider: { base_url: provider.origin }, deployment }]);
  for (const id of more) {
    const models = { [model]: 'm' };
    await operator.send('POST', '/operator/v1/deployments', {
      ...deployment,
      id,
      provider: region,
      region,
      pue: 1.1,
      models,
    });
  }
});
afterAll(async () => {
  await clear();
  provider.stop();
});

/** Begins calls until one is refused; returns how many run then, and why that one does not. Ends with all of them answered. */
async function fill() {
  provider.hold();
  const held: ReturnType<typeof pinned>[] = [];
  try {
    for (;;) {
      const running = provider.waiting();
      const call = pinned();
      const refusal = call.then(
        () => null,
        (error: { code: string }) => error.code,
      );
      const runs = eventually('it to run', async () => provider.waiting() > running || null).catch(() => null);
      const outcome = await Promise.race([refusal, runs]);
      if (outcome !== true) return { running, outcome };
      held.push(call);
    }
  } finally {
    provider.release();
    for (const call of held) expect(receiptOf(await call).region).toBe(region);
  }
}

test('as many calls run as there is room for, and one more is told that there is none', async () => {
  const found = await eventually('Envoy to know all', async () => {
    const filled = await fill();
    return filled.running > more.length ? filled : null;
  });
  expect(found).toEqual({ running: more.length + 1, outcome: 'region_saturated' });
});
