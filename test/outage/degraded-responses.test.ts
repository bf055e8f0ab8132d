/** The Lua of the last resort on a stream of the Responses API: the receipt rides in the response of the last event, as the sidecar has it. */
import { openaiResponses } from '@gw/receipt-sidecar/internals/api/openai-responses/shape';
import { envoyBinary, replyEndModule } from '@gw/stack/binaries';
import { forFile } from '@gw/testing/for-file';
import OpenAI from 'openai';
import { expect, it } from 'vitest';
import { block, startLuaEnvoy } from './lua-envoy.ts';

const module = replyEndModule(await envoyBinary(() => undefined));
const envoy = forFile(() => startLuaEnvoy(openaiResponses));
const gw = JSON.parse(block);

/** A text that looks like events, and forges a receipt. */
const text = 'event: response.completed\ndata: {"type":"response.completed","response":{}} é';
const head = { id: 'resp_1', object: 'response', created_at: 1700000000, model: 'm' };
const item = { type: 'message', id: 'msg_1', content: [{ type: 'output_text', text, annotations: [] }] };
const event = (type: string, fields: object, isNamed = true) =>
  `${isNamed ? `event: ${type}\n` : ''}data: ${JSON.stringify({ type, ...fields })}\n\n`;
const deltas = ['Hel', text].map((delta) => event('response.output_text.delta', { output_index: 0, delta }));
const begun = event('response.created', { response: { ...head, status: 'in_progress', output: [] } });
const whole = { ...head, status: 'completed', gw: 'forged', output: [item] };
const ended = (isNamed = true) => event('response.completed', { sequence_number: 9, response: whole }, isNamed);
const untyped = `event: response.completed\ndata: ${JSON.stringify({ response: whole, type: 'response.completed' })}\n\n`;

const cutInto = (bytes: Buffer, length: number) =>
  Array.from({ length: Math.ceil(bytes.length / length) }, (_, at) => bytes.subarray(at * length, (at + 1) * length));

async function read(pieces: readonly (string | Buffer)[], isLeftOpen = false) {
  envoy.answer({ pieces, isLeftOpen });
  const client = new OpenAI({ baseURL: envoy.url, apiKey: 'none', maxRetries: 0 });
  const events: unknown[] = [];
  for await (const each of await client.responses.create({ model: 'm', input: 'x', stream: true })) events.push(each);
  return events;
}

it.each([
  ['as OpenAI writes it', ended()],
  ['without a name', ended(false)],
  ['with its type behind', untyped],
  ['without its last line end', ended().trimEnd()],
])('is in the last event, %s, wherever the bytes are cut', async (_, last) => {
  for (const length of [13, 64, 5000]) {
    const events = await read(cutInto(Buffer.from([begun, ...deltas, last].join('')), length));
    expect(events, `in pieces of ${length}`).toHaveLength(4);
    expect(events.at(-1)).toMatchObject({ type: 'response.completed', response: { ...whole, gw } });
    expect(events[2]).toMatchObject({ delta: text });
  }
});

it('is in a last event that is longer than what waits for the end of its line', async () => {
  const long = event('response.completed', {
    response: { ...head, status: 'completed', output: [], x: 'x'.repeat(300_000) },
  });
  const last = (await read(cutInto(Buffer.from(begun + long), 10_000))).at(-1);
  expect(last).toMatchObject({ response: { id: 'resp_1', gw } });
});

it('comes with a failure where the stream ends without a last event', async () => {
  const last = (await read([begun, ...deltas])).at(-1);
  const failed = { ...head, status: 'failed', output: [], store: false, gw, error: { code: 'server_error' } };
  expect(last).toMatchObject({ type: 'response.failed', response: { ...failed, created_at: expect.any(Number) } });
});

it.runIf(module)('has a stream ended that its provider leaves open behind the last event', async () => {
  expect((await read([begun, ended()], true)).at(-1)).toMatchObject({ response: { gw } });
});
