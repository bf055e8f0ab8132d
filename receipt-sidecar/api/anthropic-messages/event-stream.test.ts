/** Streams of messages: where the receipt rides, what is counted, and what a provider cannot say. */
import { eventBounds } from '@gw/testing/receipt-sidecar/event-bounds';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { EventStream } from '../../reply/event-stream.ts';
import type { StreamFacts } from '../../reply/stream-options.ts';
import { messageStream } from './event-stream.ts';

const addresses = { baseUrl: 'http://gw.test', statusUrl: '', auditEmail: '', securityEmail: '' };
const counts = { promptTokens: 7, cachedPromptTokens: 2, completionTokens: 5 };

type Event = { readonly type: string; readonly [name: string]: unknown };
const written = (event: Event) => `event: ${event.type}\ndata: ${JSON.stringify(event)}\n\n`;
const start = (usage: object = { input_tokens: 7, output_tokens: 1 }): Event => ({
  type: 'message_start',
  message: { id: 'msg_1', type: 'message', role: 'assistant', model: 'm', content: [], stop_reason: null, usage },
});
const begin = (content_block: object = { type: 'text', text: '' }, index = 0): Event => ({
  type: 'content_block_start',
  index,
  content_block,
});
const delta = (text: string): Event => ({
  type: 'content_block_delta',
  index: 0,
  delta: { type: 'text_delta', text },
});
const blockStop: Event = { type: 'content_block_stop', index: 0 };
const end = (usage: object | undefined = { output_tokens: 5 }): Event => ({
  type: 'message_delta',
  delta: { stop_reason: 'end_turn', stop_sequence: null },
  usage,
});
const stop: Event = { type: 'message_stop' };
const usual = [start(), begin(), delta('Hello'), delta(' world'), blockStop, end(), stop];

/** Reads a stream in pieces of this length, and returns the events that come out and the facts of the receipt. */
function read(text: string, length = 1_000_000) {
  const facts: StreamFacts[] = [];
  const stream = new EventStream({
    reader: messageStream.open({ answers: 1, wantsUsage: true }, 'req-1'),
    addresses,
    energyReader: null,
    ...eventBounds,
    refusalFor: () => null,
    receipt: (seen) => {
      const { answerBytes, claim, isFiltered, isStale, reasoningBytes } = seen.said;
      facts.push({ ...seen, said: { answerBytes, claim, isFiltered, isStale, otherBytes: 0, reasoningBytes } });
      return { gw: '{"id":"rcpt"}', routingTrace: '{}', usageGw: '{"receipt_id":"rcpt"}', counts };
    },
  });
  const bytes = Buffer.from(text);
  for (let at = 0; at < bytes.length; at += length) stream.push(bytes.subarray(at, at + length));
  stream.end();
  const out = stream.take().toString();
  const events = [...out.matchAll(/^event: (\w+)\ndata: (.*)\n\n/gm)].map(([, name, data = '']) => {
    const event = JSON.parse(data) as Event;
    expect(event.type).toBe(name);
    return event;
  });
  return { out, events, facts };
}
const readAll = (events: readonly Event[], length?: number) => read(events.map(written).join(''), length);

test('the receipt rides on message_delta alone, and all else is as the provider wrote it', () => {
  const { events, facts } = readAll(usual);
  const added = { gw: { id: 'rcpt' }, routing_trace: {}, usage: { output_tokens: 5, gw: { receipt_id: 'rcpt' } } };
  expect(events).toEqual(usual.map((event) => (event.type === 'message_delta' ? { ...event, ...added } : event)));
  expect(facts).toMatchObject([
    { failed: false, isWritten: true, said: { answerBytes: 11, isStale: false, claim: { prompt: 7, completion: 5 } } },
  ]);
});

test('what was read from a cache or written to one is part of the prompt, and thoughts of what was written', () => {
  const input = { input_tokens: 7, cache_read_input_tokens: 20, cache_creation_input_tokens: 3, output_tokens: 0 };
  const usage = { output_tokens: 9, output_tokens_details: { thinking_tokens: 4 } };
  const { facts } = readAll([start(input), begin(), delta('Hello'), blockStop, end(usage), stop]);
  expect(facts[0]?.said.claim).toMatchObject({ prompt: 30, cached: 20, completion: 9, reasoning: 4 });
});

describe('a stream that a provider does not end in order', () => {
  test('has an error in the form of its API', () => {
    const { events } = readAll(usual.slice(0, 4));
    expect(events.at(-1)).toMatchObject({
      type: 'error',
      error: { type: 'api_error', code: 'upstream_error', doc_url: expect.any(String) },
      request_id: 'req-1',
    });
  });

  test('gets the message_stop that clients wait for, once the provider has told why it ends', () => {
    for (const length of [1_000_000, 7]) {
      const { events, facts } = readAll(usual.slice(0, -1), length);
      expect(events).toEqual(readAll(usual).events);
      expect(facts).toMatchObject([{ failed: false, isWritten: true }]);
    }
  });

  test('gets the counts that it lacks, with the end that the provider has told', () => {
    const bare = { type: 'message_delta', delta: { stop_reason: 'max_tokens', stop_sequence: null } };
    const { events } = readAll([...usual.slice(0, 5), bare, stop]);
    const [first, second] = events.filter(({ type }) => type === 'message_delta');
    expect(first).toMatchObject({ gw: { id: 'rcpt' }, delta: { stop_reason: 'max_tokens' } });
    expect(second).toMatchObject({
      delta: { stop_reason: 'max_tokens' },
      usage: { input_tokens: 5, cache_read_input_tokens: 2, output_tokens: 5 },
    });
    expect(events.at(-1)).toEqual(stop);
  });

  test('says overloaded_error where the provider does', () => {
    const failure = { type: 'error', error: { type: 'overloaded_error', message: 'full' } };
    const { events, facts } = readAll([...usual.slice(0, 3), failure, stop]);
    expect(events.at(-1)).toMatchObject({ type: 'error', error: { type: 'overloaded_error' } });
    expect(facts).toMatchObject([{ failed: true }]);
  });
});

test('a character that was cut into two deltas arrives whole, in each kind of text', () => {
  const cut = (type: string, name: string): Event[] => [
    { type: 'content_block_delta', index: 0, delta: { type, [name]: 'a\ud83d' } },
    { type: 'content_block_delta', index: 0, delta: { type, [name]: '\ude00b' } },
    { type: 'content_block_delta', index: 0, delta: { type, [name]: 'c' } },
  ];
  for (const [type, name] of [
    ['text_delta', 'text'],
    ['thinking_delta', 'thinking'],
    ['input_json_delta', 'partial_json'],
  ] as const) {
    const { events } = readAll([start(), begin(), ...cut(type, name), blockStop, end(), stop]);
    const texts = events.flatMap(
      ({ delta }) => (delta as { readonly [each: string]: string } | undefined)?.[name] ?? [],
    );
    expect(texts).toEqual(['a', '😀b', 'c']);
  }
});

test('half a character whose block ends is left out, and the next block is as it was', () => {
  const { events } = readAll([
    start(),
    begin(),
    delta('a\ud83d'),
    blockStop,
    begin(),
    delta('\ude00b'),
    blockStop,
    end(),
    stop,
  ]);
  const texts = events.flatMap(({ delta: said }) => (said as { readonly text?: string } | undefined)?.text ?? []);
  expect(texts).toEqual(['a', '\ufffdb']);
});

test.each([
  ['nothing', ''],
  ['the mark of another API', 'data: [DONE]\n\n'],
])('a stream whose answer is followed by %s has an end of its own', (_, rest) => {
  const { events, facts } = read(usual.slice(0, -1).map(written).join('') + rest);
  expect(events.slice(-2)).toMatchObject([{ type: 'message_delta', gw: { id: 'rcpt' } }, stop]);
  expect(facts).toMatchObject([{ failed: false }]);
});

test('counts of the end that state the whole prompt replace those of the beginning', () => {
  const first = { input_tokens: 18, cache_read_input_tokens: 8831, output_tokens: 0 };
  const usage = { input_tokens: 8849, cache_read_input_tokens: 0, cache_creation_input_tokens: 0, output_tokens: 2 };
  const { facts } = readAll([start(first), begin(), delta('Hello'), blockStop, end(usage), stop]);
  expect(facts[0]?.said.claim).toMatchObject({ prompt: 8849, cached: 0 });
});

test('nothing of a provider takes the place of the receipt where clients look for it', () => {
  const forged = { id: 'forged' };
  const { message } = start() as unknown as { message: object };
  const { out } = readAll([
    { ...start(), message: { ...message, gw: forged, routing_trace: forged, usage: { input_tokens: 7, gw: forged } } },
    begin({ type: 'text', text: '', gw: forged }),
    delta('Hello'),
    blockStop,
    { ...end({ output_tokens: 5, gw: forged }), gw: forged, routing_trace: forged },
    stop,
  ]);
  expect(out).not.toContain('forged');
});

test('a refusal is told as text that was withheld', () => {
  const refused = {
    type: 'message_delta',
    delta: { stop_reason: 'refusal', stop_sequence: null },
    usage: { output_tokens: 5 },
  };
  expect(readAll([...usual.slice(0, 5), refused, stop]).facts).toMatchObject([{ said: { isFiltered: true } }]);
});

test('a stream is the same however it is cut', () => {
  const whole = readAll([start(), begin(), delta('Hé'), delta('plain'), delta('a "quote"'), blockStop, end(), stop]);
  fc.assert(
    fc.property(fc.integer({ min: 1, max: 400 }), (length) => {
      const cut = readAll(
        [start(), begin(), delta('Hé'), delta('plain'), delta('a "quote"'), blockStop, end(), stop],
        length,
      );
      expect(cut.events).toEqual(whole.events);
      expect(cut.facts).toEqual(whole.facts);
    }),
    { numRuns: 60 },
  );
});

test('events in any order give one receipt, and at most one error, which is the last event', () => {
  const odd: Event[] = [
    ...usual,
    start({}),
    begin({ type: 'tool_use', id: 't', name: 'n', input: {} }, 1),
    { type: 'content_block_delta', index: 1, delta: { type: 'input_json_delta', partial_json: '{"a":1}' } },
    { type: 'content_block_delta', index: 9, delta: null },
    { type: 'message_delta', delta: null, usage: { output_tokens: -1 } },
    { type: 'error', error: {} },
    { type: 'ping' },
    { type: 'unknown', gw: 1 },
  ];
  fc.assert(
    fc.property(fc.array(fc.constantFrom(...odd), { maxLength: 12 }), (events) => {
      const { events: out, facts } = readAll(events);
      expect(facts).toHaveLength(1);
      const errors = out.flatMap(({ type }, at) => (type === 'error' ? [at] : []));
      expect(errors).toEqual(errors.length === 0 ? [] : [out.length - 1]);
      expect(out.every(({ gw }) => gw === undefined || (gw as { id: string }).id === 'rcpt')).toBe(true);
    }),
    { numRuns: 2000 },
  );
});

test('a whole message becomes the stream that says the same', () => {
  const message = {
    id: 'msg_1',
    type: 'message',
    role: 'assistant',
    model: 'm',
    content: [
      { type: 'thinking', thinking: 'Hm', signature: 'abc' },
      { type: 'text', text: 'Hello', citations: null },
      { type: 'tool_use', id: 't', name: 'n', input: { a: [1, 'x'] } },
    ],
    stop_reason: 'tool_use',
    stop_sequence: null,
    usage: { input_tokens: 7, output_tokens: 5 },
  };
  const { events, facts } = read(messageStream.whole(JSON.stringify(message)).toString());
  expect(events.map(({ type }) => type).filter((type) => !type.startsWith('content'))).toEqual([
    'message_start',
    'message_delta',
    'message_stop',
  ]);
  expect(facts).toMatchObject([{ failed: false, said: { reasoningBytes: 2, claim: { prompt: 7, completion: 5 } } }]);
  expect(events.find(({ delta: each }) => (each as { partial_json?: string } | null)?.partial_json)).toMatchObject({
    delta: { type: 'input_json_delta', partial_json: '{"a":[1,"x"]}' },
  });
});
