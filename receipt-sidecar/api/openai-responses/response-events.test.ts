/** The streams of responses: what is counted in them, where the receipt rides, and what becomes of failures. */
import { eventBounds } from '@gw/testing/receipt-sidecar/event-bounds';
import { responseReader } from '@gw/testing/receipt-sidecar/response-reader';
import { describe, expect, test } from 'vitest';
import { EventStream } from '../../reply/event-stream.ts';
import type { StreamFacts } from '../../reply/stream-options.ts';

const addresses = { baseUrl: 'http://gw.test', statusUrl: '', auditEmail: '', securityEmail: '' };
const usage = {
  input_tokens: 5,
  input_tokens_details: { cached_tokens: 2 },
  output_tokens: 9,
  output_tokens_details: { reasoning_tokens: 4 },
  total_tokens: 14,
};
const response = { id: 'resp_1', object: 'response', status: 'completed', store: true, output: [], usage };
const message = { type: 'message', content: [{ type: 'output_text', text: 'Hello', annotations: [] }] };

const event = (type: string, fields: object): string =>
  `event: ${type}\ndata: ${JSON.stringify({ type, sequence_number: 7, ...fields })}\n\n`;
const delta = (text: string, type = 'response.output_text.delta') => event(type, { delta: text });
const begun = event('response.created', { response: { ...response, status: 'in_progress', usage: null } });
const ended = (fields: object = {}) => event('response.completed', { response: { ...response, ...fields } });

/** Returns what a client gets, and what is known when the receipt is made. */
function rewritten(...events: readonly string[]) {
  const facts: StreamFacts[] = [];
  const stream = new EventStream({
    reader: responseReader(),
    addresses,
    energyReader: null,
    ...eventBounds,
    refusalFor: () => null,
    receipt: (seen) => {
      const { answerBytes, claim, isFiltered, isStale, otherBytes, reasoningBytes } = seen.said;
      facts.push({ ...seen, said: { answerBytes, claim, isFiltered, isStale, otherBytes, reasoningBytes } });
      return { gw: '{"id":"ours"}', routingTrace: '{}', usageGw: '{"receipt_id":"ours"}', counts: null };
    },
  });
  stream.push(Buffer.from(events.join('')));
  stream.end();
  const text = stream.take().toString();
  const read = [...text.matchAll(/event: (.*)\ndata: (.*)\n\n/g)].map(([, name, data]) => [
    name,
    JSON.parse(String(data)),
  ]);
  expect(facts).toHaveLength(1);
  return { text, events: read, last: read.at(-1), said: facts[0]?.said, failed: facts[0]?.failed };
}

test('the receipt rides in the response of the last event, which says that nothing is stored', () => {
  const { events, last, said, text } = rewritten(begun, delta('Hel'), delta('lo'), ended({ output: [message] }));
  expect(events.map(([name]) => name)).toEqual([
    'response.created',
    'response.output_text.delta',
    'response.output_text.delta',
    'response.completed',
  ]);
  expect(last?.[1].response).toMatchObject({
    store: false,
    gw: { id: 'ours' },
    routing_trace: {},
    usage: { ...usage, gw: { receipt_id: 'ours' } },
  });
  expect(said).toMatchObject({
    answerBytes: 5,
    claim: { prompt: 5, completion: 9, total: 14, cached: 2, reasoning: 4 },
    isStale: false,
  });
  expect(text).not.toContain('"store":true');
});

describe('text is counted once, however often it is said', () => {
  test.each([
    ['in deltas alone', [delta('Hello'), ended()], 5],
    ['in items alone', [event('response.output_item.done', { item: message }), ended()], 5],
    ['in the response alone', [ended({ output: [message] })], 5],
    [
      'everywhere',
      [delta('Hello'), event('response.output_item.done', { item: message }), ended({ output: [message] })],
      5,
    ],
    ['as a call', [delta('{"a":1}', 'response.function_call_arguments.delta'), ended()], 7],
    ['as a refusal', [delta('No.', 'response.refusal.delta'), ended()], 3],
  ])('%s', (_, events, bytes) => expect(rewritten(begun, ...events).said?.answerBytes).toBe(bytes));

  test('reasoning is apart, and what is encrypted is no text', () => {
    const item = {
      type: 'reasoning',
      summary: [{ type: 'summary_text', text: 'Hm' }],
      encrypted_content: 'x'.repeat(99),
    };
    const { said } = rewritten(begun, delta('Hm', 'response.reasoning_summary_text.delta'), ended({ output: [item] }));
    expect(said).toMatchObject({ answerBytes: 0, reasoningBytes: 2, otherBytes: 0 });
  });
});

describe('a stream that fails', () => {
  test('as its provider says, keeps the last event, with our words and the receipt', () => {
    const error = { code: 'rate_limit_exceeded', message: 'secret of 10.0.0.1' };
    const { failed, last, text } = rewritten(
      begun,
      delta('Hel'),
      event('response.failed', { response: { ...response, status: 'failed', error, usage: null } }),
    );
    expect(last).toMatchObject([
      'response.failed',
      { response: { gw: { id: 'ours' }, store: false, error: { code: 'rate_limit_exceeded' } } },
    ]);
    expect(text).not.toContain('secret');
    expect(failed).toBe(true);
  });

  test.each([
    ['an error of the provider', event('error', { code: 'x', message: 'secret' })],
    ['an end before the last event', ''],
    ['the mark of another API', 'data: [DONE]\n\n'],
    ['what is no JSON', 'event: response.completed\ndata: {"type":\n\n'],
  ])('by %s has one error event, and nothing behind it', (_, failure) => {
    const { failed, last, text } = rewritten(begun, delta('Hel'), failure, delta('more'));
    expect(last?.[0]).toBe('error');
    expect(last?.[1]).toMatchObject({
      type: 'error',
      sequence_number: expect.any(Number),
      error: { type: 'inference_error' },
    });
    expect(last?.[1].message).toBe(last?.[1].error.message);
    expect([failed, text.includes('secret'), text.match(/event: error/g)?.length]).toEqual([true, false, 1]);
  });
});

test('behind the last event there is nothing', () => {
  const { last } = rewritten(begun, delta('Hello'), ended(), delta('more'), 'data: [DONE]\n\n', ended());
  expect(last?.[0]).toBe('response.completed');
});

test('no receipt of the provider is left in a response', () => {
  const forged = { gw: { id: 'forged' }, routing_trace: 'forged', usage: { ...usage, gw: 'forged' } };
  const { last, text } = rewritten(
    event('response.created', { response: { ...response, ...forged }, gw: 'forged' }),
    event('response.completed', {
      response: { ...response, ...forged, output: [{ ...message, gw: 'forged' }] },
      gw: 'forged',
      Routing_Trace: 'forged',
    }),
  );
  expect(text).not.toContain('forged');
  expect(last?.[1].response.gw).toEqual({ id: 'ours' });
});

test('a character that was cut into two deltas arrives whole', () => {
  const { events } = rewritten(begun, delta('a\ud83d'), delta('\ude00b'), delta('c'), ended());
  expect(events.flatMap(([, { delta: text }]) => text ?? [])).toEqual(['a', '😀b', 'c']);
  const text = event('response.output_text.done', { text: 'a' });
  const over = rewritten(begun, delta('a\ud83d'), text, delta('\ude00b'), ended());
  expect(over.events.flatMap(([, { delta: piece }]) => piece ?? [])).toEqual(['a', '\ufffdb']);
});

test('a response that has failed is counted as it states', () => {
  const error = { code: 'server_error', message: 'no' };
  const { failed, said } = rewritten(
    begun,
    delta('Hello'),
    event('response.failed', { response: { ...response, status: 'failed', error } }),
  );
  expect([failed, said?.claim, said?.isStale]).toMatchObject([true, { prompt: 5, completion: 9 }, false]);
});
