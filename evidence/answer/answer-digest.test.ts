import { createHash } from 'node:crypto';
import type { ApiName } from '@gw/contract/api-names';
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { canonicalText } from '../canonical.ts';
import { AnswerDigest } from './answer-digest.ts';

const salt = '0123456789abcdef'.repeat(2);
const sha256 = (of: string | Uint8Array): string => createHash('sha256').update(of).digest('hex');

/** As docs/evidence.md defines it. */
const digestOf = (texts: Readonly<Record<string, string | Uint8Array>>): string => {
  const hashes = Object.fromEntries(Object.entries(texts).map(([place, text]) => [place, sha256(text)]));
  return `sha256:${sha256(`${salt}\n${canonicalText(hashes)}`)}`;
};
const digest = (api: ApiName, ...said: object[]): string | null => {
  const answer = new AnswerDigest(api);
  for (const event of said) answer.take({ ...event });
  return answer.digest(salt);
};
const choice = (index: number, delta: object) => ({ choices: [{ index, delta, finish_reason: null }] });

test('the digest is over the salt and the SHA-256 of each text by its place', () => {
  const message = { role: 'assistant', content: 'Hi ü 😀', refusal: null };
  expect(digest('chat', { id: 'x', choices: [{ index: 0, message, finish_reason: 'stop' }] })).toBe(
    digestOf({ 'choices.0.content': 'Hi ü 😀' }),
  );
});

test('a stream of chunks is the message that its client puts together, n choices in turns', () => {
  const call = (index: number, fields: object) => ({ tool_calls: [{ index, ...fields }] });
  const streamed = digest(
    'chat',
    choice(1, { role: 'assistant', content: 'b' }),
    choice(0, { content: 'Gr' }),
    choice(1, { content: 'ä' }),
    choice(0, { content: 'üße 😀', reasoning_content: 'hm' }),
    choice(0, call(0, { id: 'c', type: 'function', function: { name: 'get', arguments: '{"a":' } })),
    choice(0, call(1, { id: 'd', type: 'function', function: { name: 'put', arguments: '' } })),
    choice(0, call(0, { function: { arguments: '1}' } })),
    choice(1, { refusal: 'No' }),
    { choices: [], usage: { total_tokens: 3 } },
  );
  const of = (name: string, args: string) => ({ id: 'c', type: 'function', function: { name, arguments: args } });
  const first = { content: 'Grüße 😀', reasoning_content: 'hm', tool_calls: [of('get', '{"a":1}'), of('put', '')] };
  const second = { content: 'bä', refusal: 'No', tool_calls: null, audio: null };
  const whole = [first, second].map((message, index) => ({ index, message }));
  expect(streamed).toBe(digest('chat', { choices: whole }));
  expect(streamed).not.toBe(digest('chat', { choices: [{ message: second }, { message: first }] }));
  expect(streamed).not.toBe(digest('chat', { choices: [{ message: { ...first, content: 'Grüsse 😀' } }, whole[1]] }));
});

test('content in parts, audio and calls of any kind count', () => {
  const content = [
    { type: 'thinking', thinking: [{ type: 'text', text: 'hm' }] },
    { type: 'text', text: 'Hi' },
  ];
  const message = {
    content,
    audio: { id: 'a', data: 'AAAA', transcript: 'Hi' },
    tool_calls: [{ type: 'custom', custom: { name: 'run', input: 'ls' } }],
    function_call: { name: 'old', arguments: '{}' },
  };
  expect(digest('chat', { choices: [{ message }] })).toBe(
    digestOf({
      'choices.0.audio.data': 'AAAA',
      'choices.0.audio.transcript': 'Hi',
      'choices.0.content.0.thinking.0.text': 'hm',
      'choices.0.content.1.text': 'Hi',
      'choices.0.function_call.arguments': '{}',
      'choices.0.function_call.name': 'old',
      'choices.0.tool_calls.0.custom.input': 'ls',
      'choices.0.tool_calls.0.custom.name': 'run',
    }),
  );
});

test('a completion in pieces is the whole one', () => {
  const pieces = ['one', ' two'].map((text) => ({ choices: [{ index: 0, text }] }));
  expect(digest('completions', ...pieces)).toBe(digest('completions', { choices: [{ text: 'one two' }] }));
});

test('an embedding counts as 32-bit floats, as numbers and in base64', () => {
  const floats = Float32Array.from([0.1, -2, 3e-5]);
  const bytes = Buffer.from(floats.buffer);
  const expected = digestOf({ 'data.0.embedding': bytes });
  const of = (embedding: unknown) => digest('embeddings', { data: [{ index: 0, embedding }] });
  expect(of([0.1, -2, 3e-5])).toBe(expected);
  expect(of([...floats])).toBe(expected);
  expect(of(bytes.toString('base64'))).toBe(expected);
  expect(of([0.1, -2, 4e-5])).not.toBe(expected);
  expect(of('no base64!')).toBe(digestOf({ 'data.0.embedding': 'no base64!' }));
});

const start = (index: number, block: object) => ({ type: 'content_block_start', index, content_block: block });
const delta = (index: number, added: object) => ({ type: 'content_block_delta', index, delta: added });

test('the events of a message are the message', () => {
  const events = [
    { type: 'message_start', message: { id: 'm', content: [], usage: { input_tokens: 1 } } },
    start(0, { type: 'thinking', thinking: '', signature: '' }),
    delta(0, { type: 'thinking_delta', thinking: 'hm' }),
    delta(0, { type: 'signature_delta', signature: 'x' }),
    start(1, { type: 'text', text: '' }),
    delta(1, { type: 'text_delta', text: 'Grü' }),
    delta(1, { type: 'text_delta', text: 'ße' }),
    { type: 'content_block_stop', index: 1 },
  ];
  const content = [
    { type: 'thinking', thinking: 'hm', signature: 'x' },
    { type: 'text', text: 'Grüße', citations: null },
  ];
  expect(digest('messages', ...events)).toBe(digest('messages', { type: 'message', content }));
  const use = { type: 'tool_use', id: 't', name: 'get', input: { b: 1, a: [1.5] } };
  expect(digest('messages', { type: 'message', content: [use] })).toBe(
    digestOf({ 'content.0.input': '{"a":[1.5],"b":1}', 'content.0.name': 'get' }),
  );
});

const json = (index: number, partial_json: string) => delta(index, { type: 'input_json_delta', partial_json });

test('the input of a tool in pieces counts as its value, and as text if it is none', () => {
  const use = (input: object) => ({ type: 'tool_use', id: 't', name: 'get', input });
  const stop = { type: 'content_block_stop', index: 0 };
  const streamed = (...pieces: readonly string[]) => {
    const said = [start(0, use({})), ...pieces.map((piece) => json(0, piece))];
    const digests = [digest('messages', ...said), digest('messages', ...said, stop)];
    expect(digests[0]).toBe(digests[1]);
    return digests[0];
  };
  const whole = (input: object) => digest('messages', { type: 'message', content: [use(input)] });
  expect(streamed('', '{"b": "\\ud83d', '\\ude00", "a":[1.50', ']}')).toBe(whole({ a: [1.5], b: '😀' }));
  expect(streamed('')).toBe(whole({}));
  expect(streamed('{}')).toBe(whole({}));
  expect(streamed('{"a":')).toBe(digestOf({ 'content.0.name': 'get', 'content.0.input': '{"a":' }));
  const long = 'x'.repeat(2 ** 20 - 8);
  expect(streamed('{"a":"', long, '"}')).toBe(whole({ a: long }));
  expect(streamed('{"a":"', long, 'x"}')).toBe(
    digestOf({ 'content.0.name': 'get', 'content.0.input': `{"a":"${long}x"}` }),
  );
  const both = [start(0, use({})), json(0, '{"a":1'), json(0, '}'), stop, start(1, use({})), json(1, '{"b":2}')];
  expect(digest('messages', ...both)).toBe(
    digest('messages', { type: 'message', content: [use({ a: 1 }), use({ b: 2 })] }),
  );
});

const call = { type: 'function_call', name: 'get', arguments: '{"a":1}' };
const message = { type: 'message', content: [{ type: 'output_text', text: 'Grüße', annotations: [] }] };
const responseEvents = (last: readonly object[]) => [
  { type: 'response.created', response: { output: [] } },
  { type: 'response.output_item.added', output_index: 0, item: { ...message, content: [] } },
  { type: 'response.output_text.delta', output_index: 0, content_index: 0, delta: 'Grü' },
  { type: 'response.output_text.delta', output_index: 0, content_index: 0, delta: 'ße' },
  { type: 'response.output_text.done', output_index: 0, content_index: 0, text: 'Grüße' },
  { type: 'response.content_part.done', output_index: 0, content_index: 0, part: message.content[0] },
  { type: 'response.output_item.done', output_index: 0, item: message },
  { type: 'response.output_item.added', output_index: 1, item: { ...call, arguments: '' } },
  { type: 'response.function_call_arguments.delta', output_index: 1, delta: '{"a":1}' },
  { type: 'response.output_item.done', output_index: 1, item: call },
  { type: 'response.completed', response: { output: last } },
];

test('a stream of Responses tells its texts again, and what it tells otherwise counts too', () => {
  const whole = digest('responses', { object: 'response', output: [message, call] });
  expect(digest('responses', ...responseEvents([message, call]))).toBe(whole);
  const others = [{ ...message, content: [{ type: 'output_text', text: 'Other' }] }, call];
  const contradicting = digest('responses', ...responseEvents(others));
  expect(contradicting).toBe(
    digestOf({
      'output.0.content.0.text': 'Grüße',
      'output.0.content.0.text response.completed': 'Other',
      'output.1.arguments': '{"a":1}',
      'output.1.name': 'get',
    }),
  );
  const onlyLast = [{ type: 'response.completed', response: { output: [message, call] } }];
  expect(digest('responses', ...onlyLast)).toBe(whole);
});

test('letters that pass by their bytes count as the text of the event that they are like', () => {
  fc.assert(
    fc.property(fc.array(fc.tuple(fc.nat(2), fc.stringMatching(/^[a-z ]{1,9}$/), fc.boolean())), (deltas) => {
      const answer = new AnswerDigest('chat');
      const likes = [0, 1, 2].map((index) => choice(index, { content: 'like' }));
      for (const [index, text, isKnown] of deltas) {
        const bytes = Buffer.from(`data: ${text}\n\n`);
        const like = likes[index] as object;
        if (isKnown) answer.takeLetters({ ...like }, bytes, 6, 6 + text.length);
        else answer.take(choice(index, { content: text }));
      }
      const said = deltas.map(([index, content]) => choice(index, { content }));
      expect(answer.digest(salt)).toBe(digest('chat', ...said));
    }),
  );
});

test('pieces longer than what is collected, and texts of all lengths around it', () => {
  for (const length of [1, 1365, 1366, 4095, 4096, 4097, 20_000]) {
    const long = 'ü'.repeat(length);
    const letters = Buffer.from('x'.repeat(length));
    const answer = new AnswerDigest('chat');
    answer.take(choice(0, { content: 'a' }));
    answer.take(choice(0, { content: long }));
    answer.takeLetters(choice(0, { content: 'like' }), letters, 0, length);
    answer.take(choice(0, { content: 'z' }));
    expect(answer.digest(salt)).toBe(digestOf({ 'choices.0.content': `a${long}${letters}z` }));
  }
});

test('an answer of too many texts, or of text that has no canonical form, is bound to nothing', () => {
  const choices = Array.from({ length: 4097 }, (_, index) => ({ index, text: 'x' }));
  expect(digest('completions', { choices })).toBeNull();
  expect(digest('completions', { choices: choices.slice(1) }, { choices: choices.slice(1) })).not.toBeNull();
  const half = { type: 'tool_use', name: 'x', input: { a: '\ud800' } };
  expect(digest('messages', { type: 'message', content: [half] })).toBeNull();
});

test('a pair of surrogates that two pieces share is one letter, and half a pair is what encoders make of it', () => {
  fc.assert(
    fc.property(fc.array(fc.tuple(fc.nat(1), fc.constantFrom('\ud83d', '\ude00', 'a', 'ü', '😀'))), (pieces) => {
      const answer = new AnswerDigest('chat');
      const likes = [0, 1].map((index) => choice(index, { content: 'like' }));
      const texts = ['', ''];
      for (const [index, text] of pieces) {
        texts[index] += text;
        if (text === 'a') answer.takeLetters(likes[index] as (typeof likes)[0], Buffer.from(text), 0, 1);
        else answer.take(choice(index, { content: text }));
      }
      const said = texts.flatMap((text, at) => (text === '' ? [] : [[`choices.${at}.content`, text.toWellFormed()]]));
      expect(answer.digest(salt)).toBe(digestOf(Object.fromEntries(said)));
    }),
  );
});

test('an answer that says nothing has a digest too', () => {
  expect(digest('chat', { choices: [{ message: { content: '' } }] })).toBe(digestOf({}));
});
