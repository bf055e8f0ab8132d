/** Two deployments of one region: they share its calls, and calls that belong together begin at one of them. */
import { afterAll, beforeAll, expect, test } from 'vitest';
import { apiOf, removeEntries } from '../operator-api.ts';
import { additionsOf, eventually, messages, openAi, stack } from '../sdk/gateway.ts';
import { offerIn, startHeldProvider, withdraw } from './held-provider.ts';

const operator = apiOf(stack);
const model = 'sharing/m';
const [first, second] = ['sharing', 'sharing-2'];
// Calls that steer the simulated provider tell nothing of how deployments are.
const client = openAi(stack.keys.enterprise, { defaultHeaders: {}, maxRetries: 0 });
const chat = (more: object = {}) => client.chat.completions.create({ model, messages, ...more });
const traceOf = async (call: ReturnType<typeof chat>) => {
  const { routing_trace: trace } = additionsOf(await call);
  if (trace === undefined) throw new Error('The reply has no trace.');
  return trace;
};
const places = async (calls: number, more: object = {}) => {
  const counts: Record<string, number> = { [first]: 0, [second]: 0 };
  for (let call = 0; call < calls; call += 1) {
    const { deployment } = await traceOf(chat(more));
    counts[String(deployment)] = (counts[String(deployment)] || 0) + 1;
  }
  return counts;
};

const provider = await startHeldProvider();
const clear = async () => {
  await removeEntries(operator, `deployments/${second}`);
  await withdraw(model, [first]);
};
beforeAll(async () => {
  await clear();
  await offerIn(model, [{ region: first, provider: { base_url: provider.origin }, deployment: {} }]);
  const [where, models] = [{ provider: first, region: first, pue: 1.1 }, { [model]: 'm' }];
  await operator.send('POST', '/operator/v1/deployments', { id: second, ...where, models });
  await eventually('both to answer', async () => {
    const trace = await traceOf(chat()).catch(() => null);
    return trace?.deployment === second || null;
  });
});
afterAll(async () => {
  await clear();
  provider.stop();
});

/** Resolves once calls go by the new weight. */
async function weigh(weight: number) {
  await operator.send('PATCH', `/operator/v1/deployments/${second}`, { weight });
  const weightOf = async () => {
    const { deployment_choice: choice } = await traceOf(chat());
    const known = choice?.among.find(({ deployment }) => deployment === second);
    return known === undefined ? 0 : known.weight;
  };
  await eventually('the change', async () => (await weightOf()) === weight || null);
}

test('calls are shared by weight, also after a change of it, and none begins at one with weight 0', async () => {
  expect(await places(8)).toEqual({ [first]: 4, [second]: 4 });
  await weigh(0);
  expect(await places(3)).toEqual({ [first]: 3, [second]: 0 });
  await weigh(3);
  expect((await places(8))[second]).toBe(6);
  await weigh(1);
});

test('calls with one prompt_cache_key begin at one deployment, and the others get the rest', async () => {
  const counts = await places(6, { prompt_cache_key: 'session', user: 'nobody' });
  expect(Object.values(counts).sort()).toEqual([0, 6]);
  const kept = counts[first] === 6 ? first : second;
  const trace = await traceOf(chat({ prompt_cache_key: 'session' }));
  expect(trace).toMatchObject({
    deployment: kept,
    decision: expect.stringContaining(`Calls with the same prompt_cache_key begin at its deployment ${kept}.`),
    deployment_choice: { by: 'affinity', affinity: 'prompt_cache_key', affinity_saving: { cached_tokens: 0 } },
  });
  // The calls of a session count for the turns of the others.
  const other = kept === first ? second : first;
  expect((await traceOf(chat())).deployment).toBe(other);
});

test('a call that names nothing begins where less is under way', async () => {
  provider.hold();
  const held = Array.from({ length: 9 }, () => chat({ prompt_cache_key: 'session' }));
  await eventually('them to run', async () => provider.waiting() === 9 || null);
  const free = Array.from({ length: 4 }, () => chat());
  await eventually('them to run', async () => provider.waiting() === 13 || null);
  provider.release();
  const deploymentsOf = (calls: readonly ReturnType<typeof chat>[]) =>
    Promise.all(calls.map(async (call) => (await traceOf(call)).deployment));
  const begun = await deploymentsOf(held);
  // The ninth finds too much to do where the others are.
  const [kept, other] = begun.filter((id) => id === first).length === 8 ? [first, second] : [second, first];
  expect(begun.toSorted()).toEqual([...Array.from({ length: 8 }, () => kept), other].sort());
  expect(await deploymentsOf(free)).toEqual(free.map(() => other));
});
