/** The ways of calls inside Envoy change with the catalogue: none leads where nobody is any more, or not yet. */
import { setTimeout as delay } from 'node:timers/promises';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { apiOf, removeEntries } from '../operator-api.ts';
import { eventually, messages, openAi, stack } from '../sdk/gateway.ts';
import { offerIn, startHeldProvider, withdraw } from './held-provider.ts';

const id = 'changed-ways';
const model = `${id}/m`;
const further = `${id}-further`;
const [before, after] = await Promise.all([startHeldProvider(), startHeldProvider()]);

const operator = apiOf(stack);
const client = openAi(stack.keys.enterprise, { maxRetries: 0 });
const pinned = { gw: { region: id } };
const ask = (of = model) => client.chat.completions.create({ model: of, messages, ...pinned });
const atOnce = (calls: number) => Promise.all(Array.from({ length: calls }, () => ask()));

const clear = async () => {
  await removeEntries(operator, `deployments/${further}`, `models/${further}`);
  await withdraw(model, [id]);
};
beforeAll(async () => {
  await clear();
  // Such an address is behind the listener of its deployment.
  await offerIn(model, [{ region: id, provider: { base_url: before.origin }, deployment: {} }]);
  await eventually('the first call', () => ask().catch(() => null));
});
afterAll(async () => {
  await clear();
  before.stop();
  after.stop();
});

test('a new deployment is reached by the first call that may name it', async () => {
  await operator.send('POST', '/operator/v1/models', { id: further, owned_by: id, kind: 'chat', model_class: 'small' });
  const models = { [further]: 'm' };
  await operator.send('POST', '/operator/v1/deployments', { id: further, provider: id, region: id, pue: 1.1, models });
  const first = await eventually('a call that may name it', () =>
    ask(further).then(
      () => 'answered',
      ({ code }) => (code === 'invalid_model' ? null : code),
    ),
  );
  expect(first).toBe('answered');
});

test('of the calls on eight connections none is lost while a provider changes fifty times', async () => {
  const lost: string[] = [];
  let running = true;
  const customer = async () => {
    while (running) await ask().catch((error) => lost.push(String(error)));
  };
  const customers = Array.from({ length: 8 }, customer);
  for (let change = 0; change < 50; change += 1)
    await operator.send('PATCH', `/operator/v1/providers/${id}`, {
      headers: { 'x-change': String(change) },
      base_url: (change % 10 < 5 ? after : before).origin,
    });
  // The last change leads back to the former address.
  const asked = before.asked();
  await eventually('the last change', async () => before.asked() > asked || null);
  running = false;
  await Promise.all(customers);
  expect(lost).toEqual([]);
});

test('where a provider has moved, no connection inside Envoy leads to its former address', async () => {
  const asked = before.asked();
  await eventually('a call at the former address', () => ask().then(() => before.asked() > asked || null));
  before.hold();
  const calls = atOnce(16);
  await eventually('so many connections', async () => before.waiting() === 16 || null);
  before.release();
  await calls;
  const askedThere = after.asked();
  await operator.send('PATCH', `/operator/v1/providers/${id}`, { base_url: after.origin });
  await eventually('a call at the new address', () => ask().then(() => after.asked() > askedThere || null));
  // As long as a connection may lead to the former one.
  await delay(1100);
  before.stop();
  await atOnce(16);
});
