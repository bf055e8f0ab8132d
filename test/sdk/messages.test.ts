/** Anthropic's API by its official client for Node. */
import Anthropic from '@anthropic-ai/sdk';
import { messageResponseSchema } from '@gw/contract/messages';
import { describe, expect, test } from 'vitest';
import { quick, stack } from './gateway.ts';

const clientOf = (keys: { apiKey?: string; authToken?: string }) =>
  new Anthropic({ apiKey: null, ...keys, baseURL: stack.publicUrl, maxRetries: 0 });
const client = clientOf({ apiKey: stack.keys.auditPlus });
const messages = [{ role: 'user' as const, content: 'Hello' }];
const image = { type: 'base64' as const, media_type: 'image/png' as const, data: 'iVBORw0KGgo=' };
const pictured = [
  {
    role: 'user' as const,
    content: [
      { type: 'text' as const, text: 'Hello' },
      { type: 'image' as const, source: image },
    ],
  },
];
const asked = { model: 'sim-large', max_tokens: 200, messages };
const headers = (more: Record<string, string> = {}) => ({ headers: { ...quick, ...more } });
const weather = {
  name: 'weather',
  description: 'Tells the weather',
  input_schema: { type: 'object' as const, properties: { city: { type: 'string' } }, required: ['city'] },
};

test('a message has a receipt that agrees with its usage, by either header of the key', async () => {
  for (const each of [client, clientOf({ authToken: stack.keys.auditPlus })]) {
    const reply = await each.messages.create(asked, headers({ 'x-sim-tokens': '12' }));
    const { gw, usage } = messageResponseSchema.parse(reply);
    expect(gw).toMatchObject({ status: 'complete', usage_source: 'provider', completion_tokens: 12 });
    expect(gw.prompt_tokens).toBe(reply.usage.input_tokens);
    expect(usage.gw).toMatchObject({ receipt_id: gw.id });
    expect(reply._request_id).toBe(gw.request_id);
  }
});

test('a stream carries the receipt on its message_delta alone, and adds up to the message', async () => {
  const thinking = { type: 'enabled' as const, budget_tokens: 1024 };
  const whole = await client.messages.create({ ...asked, thinking }, headers());
  const stream = client.messages.stream({ ...asked, thinking }, headers());
  const carriers: string[] = [];
  stream.on('streamEvent', (event) => 'gw' in event && carriers.push(event.type));
  const { content, stop_reason: reason, usage } = await stream.finalMessage();
  expect(carriers).toEqual(['message_delta']);
  expect({ content, reason }).toEqual({ content: whole.content, reason: 'end_turn' });
  expect(usage.output_tokens).toBe(whole.usage.output_tokens);
});

test('tools are called, with their arguments in a stream too', async () => {
  const body = { ...asked, tools: [weather], tool_choice: { type: 'any' as const } };
  const whole = await client.messages.create(body, headers());
  expect(whole.content).toMatchObject([{ type: 'tool_use', name: 'weather', input: { city: 'simulated' } }]);
  const streamed = await client.messages.stream(body, headers()).finalMessage();
  expect(streamed.content).toMatchObject(whole.content);
  const [call] = whole.content;
  const result = {
    type: 'tool_result' as const,
    tool_use_id: call?.type === 'tool_use' ? call.id : '',
    content: 'Rain',
  };
  const next = await client.messages.create(
    { ...body, tool_choice: { type: 'auto' }, messages: [...messages, whole, { role: 'user', content: [result] }] },
    headers(),
  );
  expect(next.stop_reason).toBe('end_turn');
});

test('tokens are counted by the tokenizer of the model, or by its provider, without a receipt', async () => {
  const counted = await client.messages.countTokens({ model: 'sim-large', messages }).withResponse();
  const seen = await client.beta.messages.countTokens({ model: 'sim-large', messages: pictured }).withResponse();
  expect(counted.data).toEqual({ input_tokens: 8 });
  // The simulator counts texts alone, and no frame.
  expect(seen.data).toEqual({ input_tokens: 2 });
  for (const each of [counted.response, seen.response]) {
    expect(each.headers.get('x-gw-receipt-id')).toBeNull();
    expect(each.headers.get('x-ratelimit-limit-requests')).toBe('50');
  }
});

describe('an error', () => {
  const thrown = async (ask: () => Promise<unknown>) => {
    const error = await ask().catch((caught: unknown) => caught);
    expect(error).toBeInstanceOf(Anthropic.APIError);
    return error as InstanceType<typeof Anthropic.APIError>;
  };

  test.each([
    [
      'a wrong field',
      'BadRequestError',
      'invalid_request_error',
      () => client.messages.create({ ...asked, max_tokens: -1 }),
    ],
    [
      'a wrong key',
      'AuthenticationError',
      'authentication_error',
      () => clientOf({ apiKey: 'gw_no' }).messages.create(asked),
    ],
    [
      'a count at a provider that is full',
      'InternalServerError',
      'overloaded_error',
      () =>
        client.messages.countTokens(
          { model: 'sim-small', messages: pictured },
          headers({ 'x-sim-fault': 'status-529' }),
        ),
    ],
    ['an unknown path', 'NotFoundError', 'not_found_error', () => client.post('/v1/messages/batches', { body: {} })],
    ['a wrong method', 'APIError', 'invalid_request_error', () => client.get('/v1/messages')],
    [
      'a provider that is full',
      'InternalServerError',
      'overloaded_error',
      () => client.messages.create(asked, headers({ 'x-sim-fault': 'status-529' })),
    ],
    [
      'a provider that breaks',
      'InternalServerError',
      'api_error',
      () => client.messages.create(asked, headers({ 'x-sim-fault': 'reset' })),
    ],
    [
      'a reply that is cut',
      'InternalServerError',
      'api_error',
      () => client.messages.create(asked, headers({ 'x-sim-fault': 'cut' })),
    ],
  ])('of %s is %s to the client, and names its call', async (_, name, type, ask) => {
    const error = await thrown(async () => ask());
    expect(error.constructor.name).toBe(name);
    const fields = { code: expect.any(String), message: expect.any(String), doc_url: expect.any(String) };
    expect(error.error).toMatchObject({ type: 'error', error: { type, ...fields }, request_id: error.requestID });
    expect(error.requestID).toMatch(/^[0-9a-f-]{36}$/);
  });

  test('in a stream is one event, which the client throws', async () => {
    const error = await thrown(() =>
      client.messages.stream(asked, headers({ 'x-sim-fault': 'error-event' })).finalMessage(),
    );
    expect(error.type).toBe('overloaded_error');
  });
});

test('what would have a provider run tools, read files or choose the place is refused by the name of its field', async () => {
  const file = { type: 'document', source: { type: 'file', file_id: 'file_1' } };
  for (const [param, fields] of [
    ['tools[0].type', { tools: [{ type: 'web_search_20250305', name: 'web_search' }] }],
    ['container', { container: 'c' }],
    ['messages[0].content[0].source', { messages: [{ role: 'user', content: [file] }] }],
  ] as const) {
    const error = await client
      .post('/v1/messages', { body: { ...asked, ...fields } })
      .catch((caught: unknown) => caught);
    expect(error).toMatchObject({ status: 400, error: { error: { code: 'unsupported_field', param } } });
  }
});

test('models are listed page by page, with what this client shows of one', async () => {
  const listed = [];
  for await (const model of client.models.list({ limit: 2 })) listed.push(model);
  expect(listed).toEqual(expect.arrayContaining([expect.objectContaining({ id: 'sim-small', type: 'model' })]));
  expect(listed.length).toBeGreaterThan(2);
  const [first] = listed;
  expect(await client.models.retrieve(String(first?.id))).toEqual(first);
  const error = await client.models.retrieve('none').catch((caught: unknown) => caught);
  expect(error).toBeInstanceOf(Anthropic.NotFoundError);
  expect(error).toMatchObject({ type: 'not_found_error', requestID: expect.stringMatching(/^[0-9a-f-]{36}$/) });
});
