/** Errors in a body are reported in one shape, and nothing of the body reaches a provider. */
import { gzipSync } from 'node:zlib';
import { describe, expect, it } from 'vitest';
import {
  chatBody,
  expectCompletion,
  expectRefusal,
  invalid,
  messages,
  newMarker,
  processIds,
  quick,
  type Refusal,
  reachedProvider,
  type Sent,
  send,
} from './ask.ts';

const mib = 1024 * 1024;
const endpoints = ['/v1/chat/completions', '/v1/completions', '/v1/embeddings'];

function bodyOfSize(bytes: number): string {
  const [head, tail] = chatBody({ messages: [{ role: 'user', content: '#' }] }).split('#');
  return `${head}${'x'.repeat(bytes - `${head}${tail}`.length)}${tail}`;
}

const withContent = (literal: string) => chatBody().replace('"hi"', literal);
const deep = `${'['.repeat(100_000)}${']'.repeat(100_000)}`;

describe('a body that is no strict JSON is invalid_json', () => {
  const bodies: [string, string | Buffer][] = [
    ['broken', '{"model":'],
    ['empty', ''],
    ['only spaces', ' \n '],
    ['two values', `${chatBody()}{}`],
    ['a list', '[]'],
    ['null', 'null'],
    ['a text', '"hi"'],
    ['with a comment', `/* hi */${chatBody()}`],
    ['with two byte order marks', `\ufeff\ufeff${chatBody()}`],
    ['in UTF-16', Buffer.from(chatBody(), 'utf16le')],
    ['nested 100,000 deep', deep],
    ['nested 100,000 deep in a field', chatBody().replace('{', `{"x":${deep},`)],
    ['nested 100,000 deep and never closed', '{"a":'.repeat(100_000)],
    ['with a raw NUL', withContent('"\0"')],
    ['with a duplicate key', chatBody().replace('{', '{"model":"sim-large",')],
    ['with a duplicate key that is escaped', chatBody().replace('{', '{"mod\\u0065l":"sim-large",')],
    ['with a duplicate key further down', withContent('"hi","content":"ho"')],
    ['with invalid UTF-8', Buffer.concat([Buffer.from('{"model":"'), Buffer.from([0xc3, 0x28]), Buffer.from('"}')])],
    [
      'with an overlong UTF-8 slash',
      Buffer.concat([Buffer.from('{"a":"'), Buffer.from([0xc0, 0xaf]), Buffer.from('"}')]),
    ],
    [
      'with a surrogate in UTF-8',
      Buffer.concat([Buffer.from('{"a":"'), Buffer.from([0xed, 0xa0, 0x80]), Buffer.from('"}')]),
    ],
    ['with a number of more than 1,024 digits', chatBody().replace('{', `{"x":${'9'.repeat(1025)},`)],
    ['with NaN', chatBody().replace('{', '{"temperature":NaN,')],
  ];
  it.each(bodies)('%s', async (_name, body) => {
    for (const path of endpoints) expectRefusal(await send({ path, body }), invalid('invalid_json'));
  });

  it('no body at all, and one without a length', async () => {
    for (const path of endpoints) {
      expectRefusal(await send({ path, headers: { 'content-type': 'application/json' } }), invalid('invalid_json'));
      expectRefusal(await send({ path, body: '', chunked: true }), invalid('invalid_json'));
    }
  });
});

it('a body that begins with a mark, has NUL and halves of pairs, and numbers that no double holds, is answered', async () => {
  const numbers = chatBody().replace('{', '{"vendor":[18446744073709551615,1e400,-0],');
  for (const body of [
    `\ufeff${chatBody()}`,
    withContent('"a\\u0000b \\ud83d"'),
    numbers,
    chatBody().replace('{', '{"\\u0000":1,'),
  ])
    expectCompletion(await send({ body, headers: quick }));
});

describe('a field at fault is named', () => {
  const chat = (fields: object, refusal: Refusal): [string, object, Refusal] => [endpoints[0] ?? '', fields, refusal];
  const cases: [string, object, Refusal][] = [
    chat({ model: undefined }, invalid('missing_required_parameter', 'model')),
    chat({ model: 'nobody' }, invalid('invalid_model', 'model')),
    chat({ model: 'sim-embed' }, invalid('invalid_model', 'model')),
    chat({ model: '__proto__' }, invalid('invalid_model', 'model')),
    chat({ model: 7 }, invalid('invalid_model', 'model')),
    chat({ messages: undefined }, invalid('missing_required_parameter', 'messages')),
    chat({ messages: 'hi' }, invalid('invalid_messages', 'messages')),
    chat({ messages: [{ role: 'nobody', content: 'x' }] }, invalid('invalid_role', 'messages[0].role')),
    chat({ messages: [...messages, { role: 'user', content: 5 }] }, invalid('invalid_content', 'messages[1].content')),
    chat({ temperature: 'hot' }, invalid('invalid_temperature', 'temperature')),
    chat({ temperature: 2.01 }, invalid('invalid_temperature', 'temperature')),
    chat({ top_p: -0.1 }, invalid('invalid_top_p', 'top_p')),
    chat({ max_tokens: 0 }, invalid('invalid_max_tokens', 'max_tokens')),
    chat({ max_tokens: 1e15 }, invalid('invalid_max_tokens', 'max_tokens')),
    chat({ n: 1.5 }, invalid('invalid_n', 'n')),
    chat({ base_url: 'http://169.254.169.254/' }, invalid('unsupported_field', 'base_url')),
    chat({ Model: 'sim-large' }, invalid('unsupported_field', 'Model')),
    chat({ metadata: { langfuse_host: 'http://127.0.0.1/' } }, invalid('unsupported_field', 'metadata.langfuse_host')),
    chat({ stream: 'yes' }, invalid('invalid_stream', 'stream')),
    chat({ gw: [] }, invalid('invalid_gw', 'gw')),
    chat({ gw: { tier: 'best' } }, invalid('invalid_tier', 'gw.tier')),
    chat({ gw: { boundary: 'wide' } }, invalid('invalid_boundary', 'gw.boundary')),
    chat({ gw: { region: 'atlantis' } }, invalid('invalid_region', 'gw.region')),
    chat({ gw: { region: 'eu-west' }, model: 'sim-large' }, invalid('invalid_model', 'model')),
    chat({ extra_body: { temperature: 3 } }, invalid('invalid_temperature', 'extra_body.temperature')),
    chat({ extra_body: { model: 'sim-large' } }, invalid('invalid_extra_body', 'extra_body.model')),
    chat({ extra_body: { base_url: 'http://169.254.169.254/' } }, invalid('unsupported_field', 'extra_body.base_url')),
    chat({ gw: { tier: 'proxy' }, extra_body: { gw: { tier: 'auto' } } }, invalid('invalid_gw', 'gw')),
    ['/v1/completions', { model: 'sim-small' }, invalid('missing_required_parameter', 'prompt')],
    ['/v1/completions', { model: 'sim-small', prompt: {} }, invalid('invalid_prompt', 'prompt')],
    ['/v1/completions', { model: 'sim-small', prompt: 'a', models: ['x'] }, invalid('unsupported_field', 'models')],
    ['/v1/embeddings', { model: 'sim-embed', input: 'a', api_key: 'sk' }, invalid('unsupported_field', 'api_key')],
    ['/v1/embeddings', { model: 'sim-embed', input: [] }, invalid('invalid_input', 'input')],
    ['/v1/embeddings', { model: 'sim-small', input: 'x' }, invalid('invalid_model', 'model')],
    [
      '/v1/embeddings',
      { model: 'sim-embed', input: 'x', dimensions: 'all' },
      invalid('invalid_dimensions', 'dimensions'),
    ],
  ];
  it.each(cases)('%s %j', async (path, fields, refusal) => {
    const base = path === endpoints[0] ? { model: 'sim-small', messages } : {};
    expectRefusal(await send({ path, body: JSON.stringify({ ...base, ...fields }) }), refusal);
  });
});

describe('the type of a body', () => {
  const refused = (sent: Sent, param: string) => async () =>
    expectRefusal(await send({ body: chatBody(), ...sent }), invalid('invalid_content_type', param));

  it('has to be named', refused({ headers: { 'content-type': null } }, 'Content-Type'));
  it('has to be JSON', refused({ headers: { 'content-type': 'text/plain' } }, 'Content-Type'));
  it('is not a form', refused({ headers: { 'content-type': 'application/x-www-form-urlencoded' } }, 'Content-Type'));
  it('is no other JSON', refused({ headers: { 'content-type': 'application/json-patch+json' } }, 'Content-Type'));
  it.each(['application/grpc', 'application/grpc+proto', 'Application/gRPC-web'])('is not %s', async (type) => {
    // Envoy would answer these with 200 and nothing in it, on every path and for every refusal.
    for (const sent of [
      { body: chatBody() },
      { key: null, body: chatBody() },
      { method: 'GET', path: '/nope', key: null },
    ]) {
      const reply = await send({ ...sent, headers: { 'content-type': type } });
      expectRefusal(reply, invalid('invalid_content_type', 'Content-Type'));
    }
  });
  it('is in UTF-8', refused({ headers: { 'content-type': 'application/json; charset=latin1' } }, 'Content-Type'));
  it(
    'is not gzip',
    refused({ body: gzipSync(chatBody()), headers: { 'content-encoding': 'gzip' } }, 'Content-Encoding'),
  );
  it('is not gzip, whatever it says it is', async () => {
    expectRefusal(await send({ body: gzipSync(chatBody()) }), invalid('invalid_json'));
  });
  it('may name UTF-8, in any case, and identity', async () => {
    for (const type of ['application/json; charset=utf-8', 'Application/JSON;charset="UTF-8"', 'application/json;']) {
      const headers = { ...quick, 'content-type': type, 'content-encoding': 'identity' };
      expectCompletion(await send({ body: chatBody(), headers }));
    }
  });
});

describe('the size of a body', () => {
  it.each([false, true])('10 MiB pass and reach the provider (chunked: %s)', async (chunked) => {
    const marker = newMarker();
    expectCompletion(
      await send({ body: bodyOfSize(10 * mib), chunked, headers: { ...quick, 'x-sim-marker': marker } }),
    );
    expect(await reachedProvider(marker)).toBe(1);
  });

  it.each([false, true])('one byte more is refused, and reaches nobody (chunked: %s)', async (chunked) => {
    const marker = newMarker();
    const reply = await send({ body: bodyOfSize(10 * mib + 1), chunked, headers: { 'x-sim-marker': marker } });
    expectRefusal(reply, invalid('request_too_large'));
    expect(await reachedProvider(marker)).toBe(0);
  });
});

it('all of that has ended no process', async () => {
  const before = processIds();
  await Promise.all([deep, '{"a":'.repeat(100_000), bodyOfSize(10 * mib + 1)].map((body) => send({ body })));
  expect(processIds()).toEqual(before);
});
