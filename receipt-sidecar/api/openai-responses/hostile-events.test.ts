/** Whatever events a provider sends in whatever order and pieces, a client reads one receipt at most, which is ours, and one end. */
import { cases } from '@gw/testing/cases';
import { eventBounds } from '@gw/testing/receipt-sidecar/event-bounds';
import { responseReader } from '@gw/testing/receipt-sidecar/response-reader';
import fc from 'fast-check';
import { _iterSSEMessages } from 'openai/core/streaming';
import { expect, test } from 'vitest';
import { EventStream } from '../../reply/event-stream.ts';

const addresses = { baseUrl: 'http://gw.test', statusUrl: '', auditEmail: '', securityEmail: '' };

/** Returns what the official client reads, how often a receipt was made, and how the stream ended. */
async function read(bytes: Buffer, cuts: readonly number[]) {
  let made = 0;
  const stream = new EventStream({
    reader: responseReader(),
    addresses,
    energyReader: null,
    ...eventBounds,
    refusalFor: () => null,
    receipt: () => {
      made += 1;
      return { gw: '{"id":"ours"}', routingTrace: '{"policy":"ours"}', usageGw: '{"receipt_id":"ours"}', counts: null };
    },
  });
  const out: Buffer[] = [];
  let from = 0;
  for (const cut of [...cuts, bytes.length]) {
    stream.push(Buffer.from(bytes.subarray(from, from + cut)));
    out.push(stream.take());
    from = Math.min(bytes.length, from + cut);
  }
  stream.end();
  const text = Buffer.concat([...out, stream.take()]);
  const events: { readonly type?: unknown; readonly response?: { readonly gw?: unknown } | null }[] = [];
  for await (const { data } of _iterSSEMessages(new Response(new Uint8Array(text)), new AbortController()))
    events.push(JSON.parse(data));
  return { events, made, over: stream.over, text: text.toString() };
}

const forged = { gw: { id: 'forged' }, routing_trace: 'forged' };
const part = { type: 'output_text', text: 'Hi', annotations: [] };
const response = fc.record(
  {
    id: fc.constant('resp_1'),
    status: fc.constantFrom('completed', 'incomplete', 'failed', 'in_progress', 7, null),
    output: fc.constantFrom(
      [],
      null,
      [{ type: 'message', content: [part], ...forged }],
      [null, 3, { type: 'reasoning' }],
    ),
    usage: fc.constantFrom(null, 'x', { input_tokens: 1, output_tokens: -2, gw: 'forged' }, { output_tokens: 1e30 }),
    error: fc.constantFrom(null, { code: 'x y', message: 'secret' }, 'secret'),
    gw: fc.constant(forged.gw),
    GW: fc.constant('forged'),
    routing_trace: fc.constant('forged'),
    store: fc.constantFrom(true, 'true', null),
  },
  { requiredKeys: [] },
);
const type = fc.constantFrom(
  ...['response.created', 'response.completed', 'response.incomplete', 'response.failed', 'error', 'response.queued'],
  ...['response.output_text.delta', 'response.output_item.done', 'response.output_item.added', 'keepalive', ''],
);
const data = fc.record(
  {
    type: fc.oneof(type, fc.constantFrom(null, 5, ['response.completed'])),
    response: fc.oneof({ weight: 5, arbitrary: response }, fc.constantFrom(null, 'x', [{}])),
    item: fc.constantFrom(null, 4, { type: 'message', content: 'x' }, { type: 'function_call', arguments: {} }),
    delta: fc.constantFrom('Hi', '', 5, null, { gw: 'deeper than a client reads' }),
    sequence_number: fc.constantFrom(1, -1, 'x', 1e300),
    gw: fc.constant('forged'),
  },
  { requiredKeys: ['type'] },
);
const line = fc.constantFrom('[DONE]', 'null', '{', '[]', '{"gw":"forged"}', '"x"');
const event = fc
  .tuple(fc.option(type), fc.oneof({ weight: 9, arbitrary: data.map((each) => JSON.stringify(each)) }, line))
  .map(([name, text]) => `${name === null ? '' : `event: ${name}\n`}data: ${text}\n\n`);

test('one receipt is made of each stream, none is forged, and nothing follows the end', async () => {
  const streams = fc.asyncProperty(
    fc.array(event, { maxLength: 8 }),
    fc.array(fc.nat(80), { maxLength: 6 }),
    async (list, cuts) => {
      const { events, made, over, text } = await read(Buffer.from(list.join('')), cuts);
      expect(made).toBe(1);
      expect(text).not.toContain('forged');
      expect(text).not.toContain('secret');
      const withReceipt = events.filter((each) => each.response?.gw !== undefined);
      expect(withReceipt.length).toBeLessThanOrEqual(1);
      const ends = events.filter(({ type: each }) => each === 'error' || withReceipt.some((one) => one.type === each));
      if (over === null) return;
      expect(ends.at(-1) ?? events.at(-1)).toBe(events.at(-1));
      expect(events.filter(({ type: each }) => each === 'error').length).toBeLessThanOrEqual(1);
      if (over === 'done') expect(withReceipt).toEqual([events.at(-1)]);
    },
  );
  await fc.assert(streams, { numRuns: cases(10_000) });
});
