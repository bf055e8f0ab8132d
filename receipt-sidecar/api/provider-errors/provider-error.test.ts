import { blockedContent } from '@gw/testing/receipt-sidecar/blocked-content';
import { refusalsOfAdded } from '@gw/testing/receipt-sidecar/refused-fields';
import { tooLong } from '@gw/testing/receipt-sidecar/too-long';
import { describe, expect, it } from 'vitest';
import { parseRequest } from '../parse.ts';
import { providerError } from './provider-error.ts';

const messages = [{ role: 'user', content: 'hi' }];
function requestOf(
  fields: object,
  endpoint: 'chat' | 'completions' | 'embeddings' | 'messages' | 'count_tokens' = 'chat',
) {
  const parsed = parseRequest(endpoint, Buffer.from(JSON.stringify({ model: 'm', ...fields })));
  if (!parsed.ok) throw new Error(parsed.error.message);
  return parsed.value.request;
}
const chat = requestOf({ messages });

const said = (error: object) => JSON.stringify({ error });

it.each([
  [401, 'upstream_auth_failed', 502],
  [402, 'upstream_auth_failed', 502],
  [403, 'upstream_auth_failed', 502],
  [429, 'upstream_rate_limited', 502],
  [408, 'upstream_timeout', 502],
  [504, 'upstream_timeout', 502],
  [424, 'upstream_error', 502],
  [500, 'upstream_error', 502],
  [204, 'upstream_invalid_response', 502],
  [302, 'upstream_invalid_response', 502],
  [404, 'upstream_rejected_request', 400],
])('a %i of the provider is %s, and shows nothing of what it said', (status, code, ours) => {
  const error = providerError(status, status === 404 ? '' : said({ message: 'secret', param: 'temperature' }), chat);
  expect(error).toMatchObject({ code, status: ours, param: null });
  expect(error.message).not.toContain('secret');
});

it('takes over the field and the message of a rejected request, and no more', () => {
  const named = providerError(400, said({ message: 'too hot', param: 'temperature', internal: 'host' }), chat);
  expect(named).toEqual({
    code: 'invalid_temperature',
    type: 'validation_error',
    status: 400,
    message: 'too hot',
    param: 'temperature',
  });
  expect(providerError(422, said({ message: 'no', param: '<script>' }), chat)).toMatchObject({
    code: 'upstream_rejected_request',
    param: null,
  });
  expect(providerError(400, said({ message: 'long', code: 'context_length_exceeded' }), chat).code).toBe(
    'prompt_too_long',
  );
  expect(providerError(400, '<html>', chat).message).not.toContain('html');
});

it.each([
  ['messages.0.content: Input should be a valid string', 'messages[0].content'],
  ['messages.1.content.0.tool_result.tool_use_id: Field required', 'messages[1].content[0].tool_use_id'],
  ['messages.0.content.2.image.source.base64.data: invalid', 'messages[0].content[2].source.data'],
  ['tools.0.custom.input_schema: no schema', 'tools[0].input_schema'],
  ['max_tokens: 300000 > 64000, which is the most of m', 'max_tokens'],
  ['system: text content blocks must be non-empty', 'system'],
  ['anthropic: is no field', null],
  ['Error: max_tokens: too many', null],
  ['messages.0.content is missing', null],
])('takes the field from the beginning of a message: %s', (message, param) => {
  const body = JSON.stringify({ type: 'error', error: { type: 'invalid_request_error', message } });
  for (const endpoint of ['messages', 'count_tokens'] as const) {
    const asked = requestOf({ messages, max_tokens: 1 }, endpoint);
    const own = endpoint === 'messages' || param !== 'max_tokens' ? param : null;
    const code = own === null ? 'upstream_rejected_request' : `invalid_${own.replace(/.*\./, '').replace(/\[.*/, '')}`;
    expect(providerError(400, body, asked)).toMatchObject({ code, param: own, message });
  }
  // The client has not sent it by this name.
  const embedded = requestOf({ input: 'hi' }, 'embeddings');
  expect(providerError(400, body, embedded)).toMatchObject({ code: 'upstream_rejected_request', param: null });
});

it('names no field where the provider names none, though it takes some not at all', () => {
  const provider = { model: 'm', fields: { user: null }, added: [] };
  for (const param of [null, undefined])
    expect(providerError(400, said({ message: 'A message cannot follow', param }), chat, provider)).toMatchObject({
      code: 'upstream_rejected_request',
      param: null,
    });
});

it('takes the first of a list of faults, with the field of the request but nothing deeper', () => {
  const detail = [
    { type: 'x', loc: ['body', 'messages', 0, 'inner', 'str'], msg: 'Give a text.', input: 'secret' },
    { type: 'x', loc: ['body', 'top_p'], msg: 'second' },
  ];
  for (const body of [{ detail }, { object: 'error', message: { detail }, type: 'invalid_request_error', param: null }])
    expect(providerError(422, JSON.stringify(body), chat)).toMatchObject({
      code: 'invalid_messages',
      param: 'messages',
      message: 'Give a text.',
    });
  for (const strange of [[], [null], [{ loc: 'body', msg: {} }], [{ loc: ['query', 'x'], msg: ' ' }]])
    expect(providerError(422, JSON.stringify({ detail: strange }), chat).code).toBe('upstream_rejected_request');
});

const told = tooLong.map(([server, status, body, tokens, limit]) => ({ server, status, body, tokens, limit }));
it.each(told)(
  'what $server says of a prompt that is too long is told in our words',
  ({ status, body, tokens, limit }) => {
    const error = providerError(status, JSON.stringify(body), chat);
    expect(error).toMatchObject({ code: 'prompt_too_long', type: 'validation_error', status: 400, param: 'messages' });
    const said = JSON.stringify(body);
    if (tokens === undefined) expect(said).toContain(JSON.stringify(error.message).slice(1));
    else
      expect(error.message).toBe(
        `The prompt is too long: it has ${tokens.toLocaleString('en-US')} tokens, which exceeds the context window of m (${limit?.toLocaleString('en-US')}).`,
      );
  },
);

it.each([
  "'max_tokens' or 'max_completion_tokens' is too large: 9000. This model's maximum context length is 8192 tokens and your request has 20 input tokens (9000 > 8192 - 20).",
  "This model's maximum context length is 8192 tokens. However, you requested 9000 output tokens and your prompt contains at least 20 input tokens, for a total of at least 9020 tokens.",
  "This endpoint's maximum context length is 8192 tokens. However, you requested about 9200 tokens (100 of text input, 100 of tool input, 9000 in the output).",
])('blames the bound of the answer where the prompt fits: %s', (message) => {
  const asked = requestOf({ messages, max_tokens: 9000 });
  expect(providerError(400, said({ message }), asked)).toMatchObject({
    code: 'invalid_max_tokens',
    param: 'max_tokens',
  });
});

it('takes text and tools together for the prompt', () => {
  const message =
    "This endpoint's maximum context length is 8192 tokens. However, you requested about 9500 tokens (5000 of text input, 4000 of tool input, 500 in the output).";
  expect(providerError(400, said({ message }), requestOf({ messages, max_tokens: 500 }))).toMatchObject({
    code: 'prompt_too_long',
    message: 'The prompt is too long: it has 9,000 tokens, which exceeds the context window of m (8,192).',
  });
});

it.each([
  [{ message: "Invalid 'input': array too long. Expected an array with maximum length 2048." }],
  [{ message: 'The input image exceeds the maximum length of 20 MB.' }],
  [{ message: 'max_tokens is too large: the context window is 8192 tokens, which exceeds it.' }],
  [{ message: 'The input tokens exceed the rate limit of your organization.' }],
  [{ message: 'The prompt cache key is too long.', param: 'prompt_cache_key' }],
  [{ message: 'Too long: prompt length exceeds 64', param: 'user' }],
  [{ message: 'The context is invalid. The tokens of stop are longer than 4.' }],
  [{ message: 'Input tokens exceeded your current quota' }],
  [{ message: 'Invalid input: tool name length exceeds 64 characters' }],
  [{ message: 'Input validation error: `stop` sequence length exceeds the maximum of 4' }],
])('takes nothing else for a prompt that is too long: %j', (error) => {
  expect(providerError(400, said(error), chat).code).not.toBe('prompt_too_long');
});

// A block with status 200 has got that of a refusal before.
const blocked = blockedContent.map(([server, status, body]) => ({
  server,
  body,
  status: status === 200 ? 400 : status,
}));
it.each(blocked)('a safety block of $server has a code of its own', ({ body, status }) => {
  const text = JSON.stringify(body);
  const error = providerError(status, text, chat);
  expect(error).toMatchObject({ code: 'content_filter', type: 'validation_error', status: 400, param: 'messages' });
  if (status >= 403) expect(error.message).toBe('A safety filter of the model provider blocked the request.');
  expect(providerError(status, text, requestOf({ prompt: 'a' }, 'completions')).param).toBe('prompt');
  expect(providerError(status, text, requestOf({ input: 'a' }, 'embeddings')).param).toBe('input');
});

it('takes no time-out of a provider for a prompt that is too long', () => {
  for (const message of [
    'context deadline exceeded while waiting for first token',
    'the input tokens queue exceeds its length',
  ])
    expect(providerError(500, said({ message }), chat).code).toBe('upstream_error');
});

it('takes nothing else for a safety block', () => {
  for (const [status, error, code] of [
    [403, { message: 'Forbidden', code: 'forbidden' }, 'upstream_auth_failed'],
    [400, { message: 'Invalid prompt: expected a string.', code: 'invalid_prompt', param: 'prompt' }, 'invalid_prompt'],
    [400, { message: 'Unknown safety_identifier.', code: 'unknown_parameter' }, 'upstream_rejected_request'],
    [429, { message: 'slow', code: 'content_filter' }, 'upstream_rate_limited'],
  ] as const)
    expect(providerError(status, said(error), chat).code).toBe(code);
});

it('names the field of the endpoint', () => {
  const body = said({ message: 'long', code: 'context_length_exceeded' });
  expect(providerError(400, body, requestOf({ prompt: 'a' }, 'completions')).param).toBe('prompt');
  expect(providerError(400, body, requestOf({ input: 'a' }, 'embeddings')).param).toBe('input');
});

it('blames what was asked to be generated where the prompt fits by itself', () => {
  const message =
    "This model's maximum context length is 16384 tokens. However, you requested 19591 tokens (9591 in the messages, 10000 in the completion). Please reduce the length of the messages or completion.";
  const body = said({ message, code: 'context_length_exceeded' });
  for (const field of ['max_tokens', 'max_completion_tokens'])
    expect(providerError(400, body, requestOf({ messages, [field]: 10_000 }))).toMatchObject({
      code: `invalid_${field}`,
      param: field,
      message,
    });
  // Nobody asked for it.
  expect(providerError(400, body, chat)).toMatchObject({ code: 'prompt_too_long', message });
});

it('shows no text of a reply that is no plain refusal, and takes nothing else for a prompt that is too long', () => {
  const secret = said({ message: 'host 10.0.0.1: the request exceeds the available context size' });
  expect(providerError(500, secret, chat).code).toBe('prompt_too_long');
  expect(providerError(500, secret, chat).message).not.toContain('10.0.0.1');
  for (const message of [
    'Request too large for model: Limit 6000, Requested 7000',
    'max_tokens is too large: 100000',
    'context',
    '',
  ])
    expect(providerError(400, said({ message }), chat).code).toBe('upstream_rejected_request');
  expect(providerError(429, said({ message: 'x', code: 'context_length_exceeded' }), chat).code).toBe(
    'upstream_rate_limited',
  );
});

it('says when to ask again, where the body alone does', () => {
  const info = { '@type': 'type.googleapis.com/google.rpc.RetryInfo', retryDelay: '17s' };
  const limited = (retryDelay: string) =>
    providerError(429, JSON.stringify([{ error: { code: 429, details: [{ ...info, retryDelay }] } }]), chat)
      .retryAfterS;
  expect(['17s', '16.2s', '99999s', 'soon', '-1s'].map(limited)).toEqual([17, 17, 86_400, undefined, undefined]);
});

it.each([
  ['Rate limit reached for m on tokens per min (TPM): Limit 30000. Please try again in 7.66s.', 8],
  ['Requests have exceeded the rate limit. Please retry after 26 seconds.', 26],
  ['Please try again in 6m0s.', 360],
  ['Try again in 20ms', 1],
  ['Please retry in 2 minutes', 120],
  ['Please try again in a while.', undefined],
  ['Please try again in 5 attempts.', undefined],
])('says when to ask again, where the words do: %s', (message, seconds) => {
  expect(providerError(429, said({ message, code: 'rate_limit_exceeded' }), chat).retryAfterS).toBe(seconds);
});

it('shows the message of a refusal wherever the server put it', () => {
  for (const body of [
    { error: { message: 'why' } },
    { message: 'why' },
    { error: 'why' },
    { detail: 'why' },
    [{ error: { message: 'why' } }],
  ])
    expect(providerError(400, JSON.stringify(body), chat).message).toBe('why');
});

describe('a refusal of a call to which the gateway has added fields', () => {
  const provider = { model: 'inner', fields: {}, added: ['temperature', 'stream_options'] };
  const told = (body: unknown, status = 400) =>
    providerError(status, JSON.stringify(body), requestOf({ messages }), provider);

  it.each(refusalsOfAdded)('is about %s: %s', (about, _server, body) => {
    for (const status of [400, 422])
      expect(told(body, status).code === 'upstream_error' ? 'added' : 'client').toBe(about);
  });

  it('reaches the client as it is, if it is about a field of the client', () => {
    expect(told({ error: { message: 'top_p excludes temperature.', param: 'top_p' } }).code).toBe('invalid_top_p');
    const message = "Invalid function name 'get_temperature': not in the list";
    expect(told({ error: { message } })).toMatchObject({ code: 'upstream_rejected_request', message });
  });
});

it('names a field as the client wrote it, where the provider takes it by another name', () => {
  const provider = {
    model: 'inner',
    fields: { seed: 'random_seed', max_completion_tokens: 'max_tokens', user: null },
    added: [],
  };
  const errorOf = (param: string, fields: object) =>
    providerError(400, said({ message: 'No.', param }), requestOf({ messages, ...fields }), provider);
  expect(errorOf('random_seed', { seed: 4 })).toMatchObject({ code: 'invalid_seed', param: 'seed' });
  expect(errorOf('max_tokens', { max_completion_tokens: 4 })).toMatchObject({ param: 'max_completion_tokens' });
  expect(errorOf('max_tokens', { max_tokens: 4 })).toMatchObject({ param: 'max_tokens' });
  expect(errorOf('top_p', {})).toMatchObject({ param: 'top_p' });
});

it.each([
  [529, ''],
  [503, '{"type":"error","error":{"type":"overloaded_error","message":"Overloaded"}}'],
])('a provider that is overloaded says so by its status or in a word: %i %s', (status, body) => {
  expect(providerError(status, body, chat)).toMatchObject({ code: 'upstream_error', isOverload: true });
});
