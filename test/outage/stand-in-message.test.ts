/**
 * The event that stands in for a dead sidecar in a stream of a message, as Anthropic's official client reads it, however the provider cuts its
 * pieces: the message that the client puts together is whole, and the receipt is on a `message_delta`.
 */
import Anthropic from '@anthropic-ai/sdk';
import { shapeOf } from '@gw/receipt-sidecar/internals/api/shapes';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { block, type LuaEnvoy, startLuaEnvoy } from './lua-envoy.ts';

const event = (fields: { readonly type: string; readonly [name: string]: unknown }) =>
  `event: ${fields.type}\ndata: ${JSON.stringify(fields)}\n\n`;
const usage = { input_tokens: 3, output_tokens: 1 };
const texts = ['Hel', 'lo "gw": ', '{"type":"message_stop"} é'];
const message = { id: 'msg_1', type: 'message', role: 'assistant', model: 'm', content: [], stop_reason: null, usage };
const body = [
  event({ type: 'message_start', message }),
  event({ type: 'content_block_start', index: 0, content_block: { type: 'text', text: '' } }),
  ...texts.map((text) => event({ type: 'content_block_delta', index: 0, delta: { type: 'text_delta', text } })),
  event({ type: 'content_block_stop', index: 0 }),
  event({
    type: 'message_delta',
    delta: { stop_reason: 'max_tokens', stop_sequence: null },
    usage: { output_tokens: 9 },
  }),
].join('');

const cutInto = (bytes: Buffer, length: number) =>
  Array.from({ length: Math.ceil(bytes.length / length) }, (_, at) => bytes.subarray(at * length, (at + 1) * length));

let envoy: LuaEnvoy;
beforeAll(async () => {
  envoy = await startLuaEnvoy(shapeOf('messages'));
}, 120_000);
afterAll(() => envoy?.stop());

it.each([event({ type: 'message_stop' }), ''])('repeats the end that the provider has told, behind %j', async (end) => {
  const client = new Anthropic({ baseURL: envoy.url, apiKey: 'none', maxRetries: 0 });
  for (const length of [13, 40, 97, 5000]) {
    envoy.answer({ pieces: cutInto(Buffer.from(body + end), length) });
    const stream = client.messages.stream({ model: 'm', max_tokens: 9, messages: [{ role: 'user', content: 'x' }] });
    const carriers: unknown[] = [];
    stream.on('streamEvent', (each) => 'gw' in each && carriers.push([each.type, each.gw]));
    const final = await stream.finalMessage().catch((error: unknown) => error);
    expect(carriers, String(length)).toEqual([['message_delta', JSON.parse(block)]]);
    // Without that event the client has no message, whoever wrote the rest.
    if (end === '') expect(final).toBeInstanceOf(Anthropic.AnthropicError);
    else
      expect(final, String(length)).toMatchObject({
        content: [{ type: 'text', text: texts.join('') }],
        stop_reason: 'max_tokens',
        usage: { input_tokens: 3, output_tokens: 9 },
      });
  }
});
