/** Streams of a provider in another API come out in the client's, however they are cut, with one end. */
import { defined } from '@gw/contract/internal/defined';
import { eventBounds } from '@gw/testing/receipt-sidecar/event-bounds';
import { describe, expect, it } from 'vitest';
import { bodiesOf, returningFrom, streamFrom } from '../api/behind.ts';
import { parseRequest } from '../api/parse.ts';
import { shapeOf } from '../api/shapes.ts';
import { EventStream } from './event-stream.ts';
import { ForeignEvents } from './foreign-events.ts';

const chatOnly = { calls: { apis: ['chat'] } };

function requestOf(fields: object = {}) {
  const sent = { model: 'm', input: 'Hello', stream: true, ...fields };
  const parsed = parseRequest('responses', Buffer.from(JSON.stringify(sent)));
  if (!parsed.ok) throw new Error(parsed.error.message);
  return bodiesOf(parsed.value, { contextWindow: null, spoken: [['chat']] }).request;
}

/** Sends the pieces of the provider, and returns what the client gets. */
function passed(pieces: readonly Buffer[]) {
  const request = requestOf();
  const reader = defined(shapeOf('responses').reply.stream, 'streams').open(request, null);
  const foreign = new ForeignEvents({
    foreign: streamFrom(defined(returningFrom(request, chatOnly), 'a translation'), request, null),
    endEvent: reader.endEvent,
    energyReader: null,
    ...eventBounds,
  });
  let receipts = 0;
  const stream = new EventStream({
    reader,
    energyReader: null,
    addresses: { baseUrl: '', statusUrl: '', auditEmail: '', securityEmail: '' },
    ...eventBounds,
    refusalFor: () => null,
    receipt: () => {
      receipts += 1;
      return { gw: '{"id":"r"}', routingTrace: '{}', usageGw: '{}', counts: null };
    },
  });
  const out: Buffer[] = [];
  for (const piece of pieces) {
    stream.push(foreign.push(piece));
    out.push(stream.take());
  }
  stream.push(foreign.end());
  stream.end();
  out.push(stream.take());
  return { text: Buffer.concat(out).toString().replaceAll(':\n\n', ''), receipts, over: stream.over };
}

const chunk = (delta: object, more: object = {}) =>
  `data: ${JSON.stringify({ id: 'c', object: 'chat.completion.chunk', created: 1, model: 'x', choices: [{ index: 0, delta, finish_reason: null, ...more }] })}\n\n`;
const usage = `data: ${JSON.stringify({ id: 'c', object: 'chat.completion.chunk', created: 1, model: 'x', choices: [], usage: { prompt_tokens: 3, completion_tokens: 2, total_tokens: 5 } })}\n\n`;
const whole = `: hi\n\n${chunk({ role: 'assistant', content: 'Good ' })}${chunk({ content: 'day' })}${chunk({}, { finish_reason: 'stop' })}${usage}data: [DONE]\n\n`;

const typesOf = (text: string) => [...text.matchAll(/^event: (.+)$/gm)].map(([, name]) => name);

describe('a stream of chat chunks for a client of Responses', () => {
  it('has the events of a response, the receipt on the last one, and one receipt', () => {
    const { over, receipts, text } = passed([Buffer.from(whole)]);
    expect(typesOf(text).slice(0, 2)).toEqual(['response.created', 'response.in_progress']);
    expect(typesOf(text).at(-1)).toBe('response.completed');
    expect(text).toContain('"delta":"Good "');
    expect(text).not.toContain('chat.completion.chunk');
    const last = JSON.parse(defined(text.match(/data: (.+)\n\n$/)?.[1], 'the last event'));
    expect(last.response).toMatchObject({ status: 'completed', gw: { id: 'r' }, usage: { input_tokens: 3 } });
    expect([receipts, over]).toEqual([1, 'done']);
  });

  it('comes out the same however it was cut', () => {
    const times = (text: string) => text.replaceAll(/"(?:id|item_id)":"[^"]+"/g, '');
    const single = Array.from(Buffer.from(whole), (byte) => Buffer.from([byte]));
    expect(times(passed(single).text)).toBe(times(passed([Buffer.from(whole)]).text));
  });

  it.each([
    ['breaks off', chunk({ content: 'Good ' })],
    ['fails', `${chunk({ content: 'Good ' })}data: {"error":{"message":"no","code":500}}\n\n`],
    ['cannot be read', `${chunk({ content: 'Good ' })}data: {"choices"\n\n`],
    ['is in another API', 'event: message_start\ndata: {"type":"message_start"}\n\n'],
  ])('that %s ends with one error and one receipt', (_, sent) => {
    const { over, receipts, text } = passed([Buffer.from(sent)]);
    expect([receipts, over]).toEqual([1, 'failed']);
    expect(text.match(/upstream_(?:error|invalid_response)/g)).not.toBeNull();
    expect(text).not.toContain('response.completed');
  });
});
