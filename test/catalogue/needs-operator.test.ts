/**
 * One deployment whose credential was revoked, whose account is empty or which has no such model, beside one that is well: the model stays
 * up, the trace and the operators hear why, and a pinned call gets the error as it is.
 */
import { afterAll, afterEach, beforeAll, expect, test } from 'vitest';
import { apiOf, removeEntries } from '../operator-api.ts';
import { additionsOf, eventually, messages, openAi, receiptOf, stack } from '../sdk/gateway.ts';
import { offerIn, startHeldProvider, withdraw } from './held-provider.ts';

const [model, embedder] = ['needy/m', 'needy/e'];
const [first, second] = ['needy-a', 'needy-b'];
const client = openAi(stack.keys.enterprise, { defaultHeaders: {}, maxRetries: 0 });
const chat = (more: object = {}) => client.chat.completions.create({ model, messages, ...more });
const embed = (more: object = {}) =>
  client.embeddings.create({ model: embedder, input: 'Weather?', encoding_format: 'float', ...more });
const pinned = () => chat({ gw: { region: first } }).catch((thrown: unknown) => thrown as Record<string, unknown>);

const providers = await Promise.all([startHeldProvider(), startHeldProvider()]);
const [a, b] = providers;

const operator = apiOf(stack);
const leave = async () => {
  await withdraw(model, [first, second]);
  await removeEntries(operator, `models/${embedder}`);
};

const untilWell = () =>
  eventually('free calls to begin at the first', async () => {
    const asked = a.asked();
    await Promise.allSettled([chat({ gw: { region: first } }), chat({ gw: { region: second } })]);
    const free = await chat().catch(() => null);
    return free && receiptOf(free)?.region === first && a.asked() > asked ? true : null;
  });

beforeAll(async () => {
  await leave();
  const offer = (region: string, base_url: string) => ({ region, provider: { base_url }, deployment: {} });
  await offerIn(model, [offer(first, a.origin), offer(second, b.origin)]);
  const facts = { owned_by: 'test', kind: 'embedding', active_parameters_b: 1, total_parameters_b: 1 };
  await operator.send('POST', '/operator/v1/models', { id: embedder, ...facts });
  for (const region of [first, second])
    await operator.send('PATCH', `/operator/v1/deployments/${region}`, { models: { [model]: 'm', [embedder]: 'e' } });
  await eventually('embeddings', () => embed().catch(() => null));
  await untilWell();
});
afterEach(async () => {
  a.failWith(null);
  // A pinned call is sent to a deployment that rests, and its answer ends the rest.
  await untilWell();
});
afterAll(async () => {
  await leave();
  for (const provider of providers) provider.stop();
});

interface Trouble {
  readonly deployment: string;
  readonly status: string;
}
const troubles = async () =>
  ((await operator.get('/operator/v1/deployment-health')) as { data: readonly Trouble[] }).data
    .filter(({ deployment }) => deployment === first)
    .map(({ status }) => status);

const error = (fields: object) => ({ error: { message: 'no', ...fields } });
test.each([
  [401, error({ code: 'invalid_api_key' }), 'auth_failed', 'upstream_auth_failed'],
  [402, error({}), 'quota_exhausted', 'upstream_auth_failed'],
  [429, error({ code: 'insufficient_quota' }), 'quota_exhausted', 'upstream_auth_failed'],
  [404, error({ code: 'DeploymentNotFound' }), 'model_missing', 'upstream_error'],
  [400, error({ message: 'The model `m` does not exist', param: 'model' }), 'model_missing', 'upstream_error'],
])('%i %j: the next one answers, and this one rests', async (status, body, outcome, code) => {
  a.failWith(status, {}, body);
  const { routing_trace } = additionsOf(await chat());
  expect(routing_trace).toMatchObject({
    region: second,
    attempts: { count: 2, failed: [{ deployment: first, outcome }] },
  });
  const asked = a.asked();
  for (let call = 0; call < 5; call += 1) expect(receiptOf(await chat())).toMatchObject({ region: second });
  expect(a.asked()).toBe(asked);
  await eventually('operators to be told', async () => (await troubles()).includes(outcome) || null);
  const refused = (await pinned()) as { status: number; code: string; headers: Headers };
  expect(refused).toMatchObject({ status: 502, code, param: null });
  expect(refused.headers.get('x-should-retry')).toBe('false');
  a.failWith(null);
  await pinned();
  await eventually('the notice to be taken back', async () => (await troubles()).length === 0 || null);
});

test('embeddings go on to the next one too, and a pinned call gets the error', async () => {
  a.failWith(404, {}, error({ code: 'model_not_found', message: 'The model `e` does not exist' }));
  const reply = await embed();
  expect(reply.data).toMatchObject([{ embedding: [0.5, -0.5] }]);
  expect(additionsOf(reply).routing_trace).toMatchObject({
    region: second,
    attempts: { count: 2, failed: [{ deployment: first, region: first, outcome: 'model_missing' }] },
  });
  expect(receiptOf(await embed())).toMatchObject({ region: second, prompt_tokens: 3 });
  await expect(embed({ gw: { region: first } })).rejects.toMatchObject({ status: 502, code: 'upstream_error' });
  // This model alone is missing there.
  a.failWith(null);
  expect(receiptOf(await embed({ gw: { region: first } }))).toMatchObject({ region: first, status: 'complete' });
});

test('a first one that answers 200 without an answer rests after three calls, and the next one answers', async () => {
  a.failWith(200, {}, { object: 'list', data: [] });
  expect(additionsOf(await embed()).routing_trace).toMatchObject({
    region: second,
    attempts: { count: 2, failed: [{ deployment: first, outcome: 'server_error' }] },
  });
  a.failWith(200, {}, { id: 'c', choices: [] });
  await eventually('free calls to begin at the second', async () => {
    const asked = a.asked();
    const { routing_trace } = additionsOf(await chat());
    expect(routing_trace).toMatchObject({ region: second });
    return a.asked() === asked || null;
  });
  expect(await troubles()).toEqual([]);
});

test('the mistake of a client rests nothing, and neither does a safety block', async () => {
  for (const [status, body, code] of [
    [400, error({ param: 'top_p' }), 'invalid_top_p'],
    [400, error({ code: 'content_filter', param: 'prompt' }), 'content_filter'],
    [403, error({ message: 'Your input was flagged for "x".' }), 'content_filter'],
    [200, error({ code: 'data_inspection_failed', message: 'No' }), 'content_filter'],
    [200, { object: 'error', message: 'No', code: 'context_length_exceeded' }, 'prompt_too_long'],
  ] as const) {
    a.failWith(status, {}, body);
    const asked = b.asked();
    for (let call = 0; call < 3; call += 1) {
      const refused = await chat().catch((thrown: unknown) => thrown);
      expect(refused).toMatchObject({ status: 400, code });
    }
    expect(b.asked()).toBe(asked);
  }
  expect(await troubles()).toEqual([]);
});

test('the time that the last provider asks for reaches the client', async () => {
  a.failWith(429, { 'retry-after': new Date(Date.now() + 30_000).toUTCString() });
  const refused = (await pinned()) as { headers: Headers };
  expect(Number(refused.headers.get('retry-after'))).toBeGreaterThan(25);
});
