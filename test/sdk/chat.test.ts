/** Chat completions by the official client for Node. */
import { chatResponseSchema } from '@gw/contract/chat';
import OpenAI from 'openai';
import { expect, test } from 'vitest';
import { additionsOf, collect, messages, openAi, quick, receiptOf, stack } from './gateway.ts';

const client = openAi();
const withTokens = (tokens: number, more: Record<string, string> = {}) => ({
  headers: { ...quick, 'x-sim-tokens': String(tokens), ...more },
});
const weather = {
  type: 'function' as const,
  function: {
    name: 'weather',
    parameters: { type: 'object', properties: { city: { type: 'string' }, days: { type: 'integer' } } },
  },
};

test('a completion has text, usage, a receipt that agrees with both, and a routing trace', async () => {
  const reply = await client.chat.completions.create({ model: 'sim-large', messages }, withTokens(12));
  expect(reply.choices[0]?.message.content).toContain('simulated');
  expect(reply.choices[0]?.finish_reason).toBe('stop');
  const { gw, routing_trace: trace } = chatResponseSchema.parse(reply);
  expect(gw).toMatchObject({
    status: 'complete',
    tier: 'parametric',
    requested_tier: 'auto',
    boundary: 'comprehensive',
    model: 'sim-large',
    provider: 'simulator',
    usage_source: 'provider',
    prompt_tokens: reply.usage?.prompt_tokens,
    completion_tokens: 12,
  });
  expect(trace).toMatchObject({ policy: 'provider_preference', region: gw.region, attempts: { count: 1, failed: [] } });
});

test('request id, receipt id and limits are in the headers, and the ids are those of the receipt', async () => {
  const { data, response } = await client.chat.completions.create({ model: 'sim-small', messages }).withResponse();
  const { id, request_id: requestId } = receiptOf(data);
  expect(response.headers.get('x-gw-receipt-id')).toBe(id);
  expect(response.headers.get('x-request-id')).toBe(requestId);
  const reply = await client.chat.completions.create({ model: 'sim-small', messages });
  expect(reply._request_id).toBe(receiptOf(reply).request_id);
  const names = ['limit', 'remaining', 'reset'].flatMap((kind) => [`${kind}-requests`, `${kind}-day`]);
  for (const name of names) expect(response.headers.get(`x-ratelimit-${name}`), name).toMatch(/^\d+$/);
  expect(Number(response.headers.get('x-ratelimit-limit-requests'))).toBe(800);
  expect(Number(response.headers.get('x-ratelimit-limit-day'))).toBe(400_000);
});

test('the options of the gateway are taken from gw and from extra_body', async () => {
  const gw = { region: 'eu-west', boundary: 'narrow' as const, tier: 'proxy' as const };
  for (const options of [{ gw }, { extra_body: { gw } }]) {
    const request = { model: 'sim-small', messages, ...options };
    const { gw: receipt, routing_trace: trace } = chatResponseSchema.parse(
      await client.chat.completions.create(request),
    );
    expect(receipt).toMatchObject({
      region: 'eu-west',
      grid_zone: 'FRA',
      boundary: 'narrow',
      tier: 'proxy',
      requested_tier: 'proxy',
    });
    expect(trace).toMatchObject({ policy: 'pinned', region: 'eu-west', deployment: 'sim-eu-west' });
  }
});

test('every chunk of a stream has a choice, and the receipt rides on the last one', async () => {
  const whole = await client.chat.completions.create({ model: 'sim-small', messages }, withTokens(9));
  const stream = await client.chat.completions.create({ model: 'sim-small', messages, stream: true }, withTokens(9));
  const chunks = await collect(stream);
  // Many programs read choices[0] of every chunk without a look.
  expect(chunks.every((chunk) => chunk.choices[0] !== undefined)).toBe(true);
  expect(chunks.map((chunk) => chunk.choices[0]?.delta.content ?? '').join('')).toBe(whole.choices[0]?.message.content);
  expect(chunks.some((chunk) => chunk.usage)).toBe(false);
  const carriers = chunks.map(additionsOf).map(({ gw, routing_trace: trace }) => Boolean(gw && trace));
  expect(carriers).toEqual(chunks.map((_, at) => at === chunks.length - 1));
  expect(receiptOf(chunks.at(-1))).toMatchObject({ completion_tokens: 9, usage_source: 'provider' });
});

test('a client that asks for usage gets it on a chunk of its own, with the receipt, which the chunk before has too', async () => {
  const request = { model: 'sim-small', messages, stream: true as const, stream_options: { include_usage: true } };
  const chunks = await collect(await client.chat.completions.create(request, withTokens(9)));
  const last = chunks.at(-1);
  expect(last?.choices).toEqual([]);
  expect(last?.usage).toMatchObject({ completion_tokens: 9 });
  const receipt = receiptOf(last);
  expect(receipt).toMatchObject({ prompt_tokens: last?.usage?.prompt_tokens, completion_tokens: 9 });
  // Many frameworks keep the keys of `usage` and no others.
  const { id: receipt_id, energy_wh, carbon_g } = receipt;
  expect(last?.usage).toMatchObject({ gw: { receipt_id, energy_wh, carbon_g } });
  expect(chunks.slice(0, -1).every((chunk) => chunk.choices[0])).toBe(true);
  expect(chunks.map((chunk) => additionsOf(chunk).gw?.id)).toEqual(
    chunks.map((_, at) => (at < chunks.length - 2 ? undefined : receipt_id)),
  );
});

test("the client's own stream reader ends with the text, the usage and the receipt", async () => {
  const stream = client.chat.completions.stream(
    { model: 'sim-small', messages, stream_options: { include_usage: true } },
    withTokens(9),
  );
  const final = await stream.finalChatCompletion();
  expect(final.usage?.completion_tokens).toBe(9);
  expect(receiptOf(final)).toMatchObject({ status: 'complete', completion_tokens: 9 });
});

test('tools are called with arguments that fit, in JSON and in a stream', async () => {
  const request = { model: 'sim-small', messages, tools: [weather], tool_choice: 'required' as const };
  const reply = await client.chat.completions.create(request);
  expect(reply.choices[0]?.finish_reason).toBe('tool_calls');
  const calls = reply.choices[0]?.message.tool_calls ?? [];
  expect(calls).toMatchObject([{ function: { name: 'weather', arguments: '{"city":"simulated","days":1}' } }]);
  chatResponseSchema.parse(reply);
  const streamed = await client.chat.completions.stream(request).finalChatCompletion();
  expect(streamed.choices[0]?.message.tool_calls).toMatchObject(calls);
  expect(receiptOf(streamed).completion_tokens).toBe(reply.usage?.completion_tokens);
});

test('several choices come with one receipt that counts all of them, in JSON and in a stream', async () => {
  const request = { model: 'sim-small', messages, n: 3 };
  const reply = await client.chat.completions.create(request, withTokens(7));
  expect(reply.choices.map((choice) => choice.index)).toEqual([0, 1, 2]);
  expect(receiptOf(reply).completion_tokens).toBe(21);
  const chunks = await collect(await client.chat.completions.create({ ...request, stream: true }, withTokens(7)));
  const texts = reply.choices.map(({ index }) =>
    chunks
      .flatMap((chunk) => chunk.choices.filter((choice) => choice.index === index))
      .map((choice) => choice.delta.content ?? '')
      .join(''),
  );
  expect(texts).toEqual(reply.choices.map((choice) => choice.message.content));
  expect(chunks.filter((chunk) => additionsOf(chunk).gw)).toHaveLength(1);
  expect(receiptOf(chunks.at(-1)).completion_tokens).toBe(21);
});

test('a JSON schema is followed, log probabilities and characters of every alphabet arrive unchanged', async () => {
  const schema = { type: 'object', properties: { sunny: { type: 'boolean' } }, required: ['sunny'] };
  const typed = await client.chat.completions.create({
    model: 'sim-small',
    messages,
    response_format: { type: 'json_schema', json_schema: { name: 'weather', schema } },
  });
  expect(JSON.parse(typed.choices[0]?.message.content ?? '')).toEqual({ sunny: true });
  const unicode = { 'x-sim-text': 'unicode', 'x-sim-fault': 'split' };
  const request = { model: 'sim-small', messages, logprobs: true, top_logprobs: 2 };
  const reply = await client.chat.completions.create(request, withTokens(60, unicode));
  const text = reply.choices[0]?.message.content ?? '';
  expect(text).toContain('模拟的回答 🧪');
  expect(reply.choices[0]?.logprobs?.content?.map((entry) => entry.token).join('')).toBe(text);
  const chunks = await collect(
    await client.chat.completions.create({ ...request, stream: true }, withTokens(60, unicode)),
  );
  expect(chunks.map((chunk) => chunk.choices[0]?.delta.content ?? '').join('')).toBe(text);
});

test('what a provider claims to be a receipt never reaches the client', async () => {
  const forged = withTokens(6, { 'x-sim-fault': 'own-gw' });
  const reply = await client.chat.completions.create({ model: 'sim-small', messages }, forged);
  expect(chatResponseSchema.parse(reply).gw.energy_wh).toBeGreaterThan(0);
  const chunks = await collect(
    await client.chat.completions.create({ model: 'sim-small', messages, stream: true }, forged),
  );
  expect(chunks.filter((chunk) => 'gw' in chunk)).toEqual([chunks.at(-1)]);
  expect(receiptOf(chunks.at(-1)).energy_wh).toBeGreaterThan(0);
});

test('an error in the middle of a stream is raised with its code', async () => {
  const stream = await client.chat.completions.create(
    { model: 'sim-small', messages, stream: true },
    withTokens(10, { 'x-sim-fault': 'error-event' }),
  );
  const failure = await collect(stream).catch((error: unknown) => error);
  expect(failure).toBeInstanceOf(OpenAI.APIError);
  expect(failure).toMatchObject({ code: 'upstream_error', type: 'inference_error' });
});

test('the demo key of each tier works', async () => {
  for (const key of Object.values(stack.keys)) {
    const reply = await openAi(key).chat.completions.create({ model: 'sim-small', messages }, withTokens(1));
    expect(receiptOf(reply).status).toBe('complete');
  }
});
