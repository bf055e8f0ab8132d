/** The official client against the simulator itself: what it accepts here, it has to accept through the gateway. */
import { forFile } from '@gw/testing/for-file';
import OpenAI from 'openai';
import { beforeAll, expect, test } from 'vitest';
import { collect, startSimulator } from './start-for-test.ts';
import { countTokens } from './text.ts';

const simulator = forFile(startSimulator);
let client: OpenAI;

beforeAll(() => {
  client = new OpenAI({
    baseURL: `${simulator.url}/v1`,
    apiKey: 'any',
    maxRetries: 0,
    defaultHeaders: { 'x-sim-tokens-per-second': '0' },
  });
});

const messages = [{ role: 'user' as const, content: 'What is the weather?' }];
const fail = (status: string) => ({ headers: { 'x-sim-fault': status } });

test('a chat completion has text, a reason to end, and usage that agrees with the text', async () => {
  const reply = await client.chat.completions.create({ model: 'sim-large', messages });
  const content = reply.choices[0]?.message.content ?? '';
  expect(content).toContain('simulated');
  expect(reply.choices[0]?.finish_reason).toBe('stop');
  expect(reply.usage).toMatchObject({ prompt_tokens: 5, completion_tokens: countTokens(content) });
});

test('a stream gives the words of the JSON reply, one token a chunk, and usage only to those who ask', async () => {
  const whole = await client.chat.completions.create({ model: 'sim-small', messages });
  for (const include_usage of [false, true]) {
    const stream = await client.chat.completions.create({
      model: 'sim-small',
      messages,
      stream: true,
      stream_options: { include_usage },
    });
    const chunks = await collect(stream);
    const words = chunks.map((chunk) => chunk.choices[0]?.delta.content ?? '');
    expect(words.join('')).toBe(whole.choices[0]?.message.content);
    expect(words.filter((word) => word !== '')).toHaveLength(whole.usage?.completion_tokens ?? 0);
    expect(chunks.filter((chunk) => chunk.usage).map((chunk) => [chunk.choices, chunk.usage])).toEqual(
      include_usage ? [[[], whole.usage]] : [],
    );
  }
});

test('several choices differ, stop sequences and token limits cut them', async () => {
  const reply = await client.chat.completions.create({ model: 'sim-small', messages, n: 3, max_tokens: 12 });
  expect(new Set(reply.choices.map((choice) => choice.message.content)).size).toBe(3);
  expect(reply.choices.map((choice) => choice.finish_reason)).toEqual(['length', 'length', 'length']);
  expect(reply.usage?.completion_tokens).toBe(36);
  const stopped = await client.chat.completions.create({ model: 'sim-small', messages, stop: [' simulated'] });
  expect(stopped.choices[0]?.message.content).toBe('This is a');
});

test('a required tool is called with arguments that fit its schema, in JSON and in a stream', async () => {
  const parameters = { type: 'object', properties: { city: { type: 'string' }, days: { type: 'integer' } } };
  const tools = [{ type: 'function' as const, function: { name: 'weather', parameters } }];
  const request = { model: 'sim-small', messages, tools, tool_choice: 'required' as const };
  const reply = await client.chat.completions.create(request);
  expect(reply.choices[0]?.finish_reason).toBe('tool_calls');
  expect(reply.choices[0]?.message.tool_calls).toMatchObject([
    { type: 'function', function: { name: 'weather', arguments: '{"city":"simulated","days":1}' } },
  ]);
  const streamed = await client.chat.completions.stream(request).finalChatCompletion();
  expect(streamed.choices[0]?.message.tool_calls).toMatchObject(reply.choices[0]?.message.tool_calls ?? []);
});

test('JSON mode answers JSON, and a JSON schema is followed', async () => {
  const json = await client.chat.completions.create({
    model: 'sim-small',
    messages,
    response_format: { type: 'json_object' },
  });
  expect(JSON.parse(json.choices[0]?.message.content ?? '')).toMatchObject({ simulated: true });
  const schema = { type: 'object', properties: { sunny: { type: 'boolean' } }, required: ['sunny'] };
  const typed = await client.chat.completions.create({
    model: 'sim-small',
    messages,
    response_format: { type: 'json_schema', json_schema: { name: 'weather', schema } },
  });
  expect(JSON.parse(typed.choices[0]?.message.content ?? '')).toEqual({ sunny: true });
});

test('log probabilities cover every token', async () => {
  const reply = await client.chat.completions.create({
    model: 'sim-small',
    messages,
    logprobs: true,
    top_logprobs: 2,
  });
  const content = reply.choices[0]?.logprobs?.content ?? [];
  expect(content.map((entry) => entry.token).join('')).toBe(reply.choices[0]?.message.content);
  expect(content[0]?.top_logprobs).toHaveLength(2);
});

test('legacy completions answer each prompt, and their stream has the same words', async () => {
  const request = { model: 'sim-small', prompt: ['One', 'Two'] };
  const reply = await client.completions.create(request);
  expect(reply.choices).toHaveLength(2);
  const stream = await client.completions.create({ ...request, stream: true, stream_options: { include_usage: true } });
  const chunks = await collect(stream);
  for (const choice of reply.choices) {
    const words = chunks.flatMap((chunk) => chunk.choices).filter((part) => part.index === choice.index);
    expect(words.map((part) => part.text).join('')).toBe(choice.text);
    expect(words.at(-1)?.finish_reason).toBe('stop');
  }
  expect(chunks.at(-1)?.usage).toEqual(reply.usage);
});

test('embeddings are the same unit vectors as base64, the default of the client, and as numbers', async () => {
  const request = { model: 'sim-embed', input: ['One', 'Two'], dimensions: 8 };
  const packed = await client.embeddings.create(request);
  const plain = await client.embeddings.create({ ...request, encoding_format: 'float' });
  expect(packed.data.map((item) => Array.from(item.embedding))).toEqual(plain.data.map((item) => item.embedding));
  const [first, second] = plain.data.map((item) => item.embedding);
  expect(first).toHaveLength(8);
  expect(first).not.toEqual(second);
  expect(Math.hypot(...(first ?? []))).toBeCloseTo(1, 6);
  expect(plain.usage).toEqual({ prompt_tokens: 2, total_tokens: 2 });
});

test('the models say who owns them', async () => {
  const list = await client.models.list();
  expect(list.data.map((model) => [model.id, model.owned_by])).toEqual(
    ['sim-small', 'sim-large', 'sim-measured', 'sim-embed'].map((id) => [id, 'simulator']),
  );
  expect((await client.models.retrieve('sim-large')).id).toBe('sim-large');
});

test('errors arrive as the classes of the client', async () => {
  const create = (fault: string) => client.chat.completions.create({ model: 'sim-small', messages }, fail(fault));
  await expect(create('status-400')).rejects.toMatchObject({ status: 400, param: 'max_tokens' });
  await expect(create('status-401')).rejects.toBeInstanceOf(OpenAI.AuthenticationError);
  await expect(create('status-429')).rejects.toBeInstanceOf(OpenAI.RateLimitError);
  await expect(create('status-500')).rejects.toBeInstanceOf(OpenAI.InternalServerError);
  await expect(client.chat.completions.create({ model: 'gpt-none', messages })).rejects.toMatchObject({
    status: 404,
    param: 'model',
    code: 'model_not_found',
  });
});
