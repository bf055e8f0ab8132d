/** Providers that refuse a field that the gateway adds to requests, in the words of several servers: the client hears nothing of it. */
import { createServer, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { refusalsOfAdded } from '@gw/testing/receipt-sidecar/refused-fields';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { answerChat } from '../chat-reply.ts';
import { apiOf, removeEntries } from '../operator-api.ts';
import { collect, eventually, messages, openAi, receiptOf, stack } from '../sdk/gateway.ts';

type Body = Readonly<Record<string, unknown>>;
/** Each refuses one field at a time; null: it takes the request. */
const refusals: Readonly<Record<string, (body: Body) => { readonly status: number; readonly text: string } | null>> = {
  openai: (body) =>
    'stream_options' in body
      ? { status: 400, text: JSON.stringify({ error: { message: 'Unknown parameter.', param: 'stream_options' } }) }
      : null,
  fastapi: (body) =>
    'stream_options' in body
      ? { status: 422, text: JSON.stringify({ detail: [{ loc: ['body', 'stream_options'], msg: 'extra fields' }] }) }
      : null,
  vllm: (body) =>
    'temperature' in body
      ? { status: 400, text: JSON.stringify({ object: 'error', message: "[{'loc': ('body', 'temperature')}]" }) }
      : null,
  plain: (body) => {
    const field = ['temperature', 'stream_options'].find((name) => name in body);
    return field ? { status: 400, text: `unsupported field: ${field}` } : null;
  },
  pair: (body) =>
    'temperature' in body && 'top_p' in body
      ? { status: 400, text: '{"message":"`temperature` and `top_p` cannot both be specified for this model."}' }
      : null,
  own: () => ({ status: 400, text: JSON.stringify({ error: { message: 'Too rude.', param: 'messages' } }) }),
  listed: ({ seed }) => ({ status: 400, text: JSON.stringify(refusalsOfAdded[Number(seed)]?.[2]) }),
};

const seen: Body[] = [];
function reply(response: ServerResponse, body: Body): void {
  seen.push(body);
  const refusal = refusals[String(body.model)]?.(body) ?? null;
  if (refusal === null) answerChat(response, body, 'Sunny.');
  else response.writeHead(refusal.status, { 'content-type': 'application/json' }).end(refusal.text);
}
const server = createServer((request, response) => {
  let text = '';
  request.setEncoding('utf8');
  request.on('data', (piece: string) => {
    text += piece;
  });
  request.on('end', () => reply(response, JSON.parse(text)));
});

const id = 'choosy';
const names = [...Object.keys(refusals), 'ready'];
const operator = apiOf(stack);
const client = openAi(stack.keys.enterprise, { maxRetries: 0 });
const clear = () =>
  removeEntries(operator, `deployments/${id}`, ...names.map((name) => `models/${id}/${name}`), `providers/${id}`);

beforeAll(async () => {
  await clear();
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const base_url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/v1`;
  await operator.send('POST', '/operator/v1/providers', { id, name: id, base_url });
  for (const name of names)
    await operator.send('POST', '/operator/v1/models', {
      id: `${id}/${name}`,
      owned_by: 'test',
      kind: 'chat',
      model_class: 'small',
    });
  const models = Object.fromEntries(names.map((name) => [`${id}/${name}`, name]));
  await operator.send('POST', '/operator/v1/deployments', { id, provider: id, region: 'us-east', pue: 1.1, models });
  await eventually('the provider to answer', async () => (await whole('ready').catch(() => null)) && true);
});
afterAll(async () => {
  await clear();
  server.closeAllConnections();
  server.close();
});

const whole = (name: string, more: object = {}) =>
  client.chat.completions.create({ model: `${id}/${name}`, messages, ...more });
const stream = async (name: string) =>
  collect(await client.chat.completions.create({ model: `${id}/${name}`, messages, stream: true }));
/** The added fields of each request that the provider has seen since the last time. */
const sent = () => seen.splice(0).map((body) => ['temperature', 'stream_options'].filter((name) => name in body));

test.each(['openai', 'fastapi'])(
  'a stream is asked for again without what was added, and then never with it: %s',
  async (name) => {
    sent();
    const chunks = await stream(name);
    expect(chunks[0]?.choices[0]?.delta.content).toBe('Sunny.');
    expect(sent()).toEqual([['temperature', 'stream_options'], ['temperature']]);
    await stream(name);
    expect(sent()).toEqual([['temperature']]);
  },
);

test('a field is left out of a JSON call, and two of a stream that names one after the other', async () => {
  sent();
  expect(receiptOf(await whole('vllm')).usage_source).toBe('provider');
  await whole('vllm');
  expect(sent()).toEqual([['temperature'], [], []]);
  await stream('plain');
  await stream('plain');
  expect(sent()).toEqual([['temperature', 'stream_options'], ['stream_options'], [], []]);
});

test('a field that is refused beside another is sent where that one is not', async () => {
  sent();
  await whole('pair', { top_p: 0.5 });
  await whole('pair', { top_p: 0.5 });
  await whole('pair');
  expect(sent()).toEqual([['temperature'], [], [], ['temperature']]);
});

test("a refusal of the client's own field reaches the client, and is asked for once", async () => {
  sent();
  await expect(whole('own')).rejects.toMatchObject({ status: 400, param: 'messages' });
  expect(sent()).toEqual([['temperature']]);
});

test('only a refusal that is about an added field is asked for again', async () => {
  const told = [];
  for (const [seed, [, server]] of refusalsOfAdded.entries()) {
    sent();
    const error = await client.chat.completions
      .create({ model: `${id}/listed`, messages, stream: true, seed })
      .catch(({ code }) => code);
    told.push([server, sent().length > 1 ? 'added' : 'client', error]);
  }
  expect(told).toEqual(
    refusalsOfAdded.map(([about, server]) => [server, about, expect.stringMatching(/^(?:invalid_\w+|upstream_\w+)$/)]),
  );
});
