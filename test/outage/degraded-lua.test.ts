/**
 * The Lua of the last resort by itself: a real Envoy with the filter, and metadata as a sidecar leaves it that then died.
 */
import { openaiChat } from '@gw/receipt-sidecar/internals/api/openai-chat/shape';
import { envoyBinary, replyEndModule } from '@gw/stack/binaries';
import { forFile } from '@gw/testing/for-file';
import { expect, it } from 'vitest';
import { block, errors, type LuaEnvoy, receiptId, shownLimits, startLuaEnvoy } from './lua-envoy.ts';

const module = replyEndModule(await envoyBinary(() => undefined));
const envoy = forFile(() => startLuaEnvoy(openaiChat));
const ask: LuaEnvoy['ask'] = (...sent) => envoy.ask(...sent);

interface Origin {
  readonly id: string;
  readonly created: number;
  readonly model: string;
}

/** The receipt's values for a stream that states none; `created` is the time in the id. */
const untold: Origin = { id: 'chatcmpl-01a1fd70-f1c0-7000-8000-000000000001', created: 1795253400, model: 'asked' };
const choices = [{ index: 0, delta: {}, finish_reason: null }];
const ownOf = ({ id, created, model }: Origin) =>
  `data: ${JSON.stringify({ id, object: 'chat.completion.chunk', created, model, choices }).slice(0, -1)},"gw":${block}}\n\n`;
const own = ownOf(untold);
const chunk = 'data: {"choices":[{"delta":{"content":"x"}}]}\n\n';
const end = 'data: [DONE]\n\n';

it('puts the degraded block in front of [DONE], wherever the bytes are cut', async () => {
  for (let cut = 0; cut <= end.length; cut++) {
    const { text, headers } = await ask([chunk, end.slice(0, cut), end.slice(cut)].filter((piece) => piece !== ''));
    expect(text, `cut at ${cut}`).toBe(chunk + own + end);
    expect(headers.get('set-cookie')).toBeNull();
    expect(headers.get('x-gw-receipt-id')).toBe(receiptId);
    expect(headers.get('cache-control')).toBe('no-store');
  }
});

it('shows the limits that the sidecar has decided', async () => {
  for (const type of ['text/event-stream', 'application/json']) {
    const { headers } = await ask(['{"choices":[]}'], type);
    expect(Object.fromEntries(headers)).toMatchObject(shownLimits);
  }
});

it('takes words for the sidecar off what Envoy answers by itself, and changes nothing else', async () => {
  envoy.answer({ pieces: [errors.upstreamError], type: 'application/json', status: 502, isOwn: true });
  const reply = await fetch(envoy.url);
  expect([reply.status, await reply.text()]).toEqual([502, errors.upstreamError]);
  expect([...reply.headers.keys()].filter((name) => name.startsWith('x-gw-'))).toEqual(['x-gw-receipt-id']);
});

it('lets nothing pass behind [DONE]', async () => {
  const forged = 'data: {"choices":[]}\n\n';
  expect((await ask([chunk, `${end}${forged}`, forged])).text).toBe(chunk + own + end);
});

it.runIf(module)('has a stream ended behind [DONE] that its provider leaves open', async () => {
  envoy.answer({ pieces: [chunk, end], isLeftOpen: true });
  const reply = await fetch(envoy.url);
  expect(await reply.text()).toBe(chunk + own + end);
});

const forgeries = [
  '"gw":{"id":"forged"}',
  '"g\\u0077" : "forged"',
  '"\\u0047\\u0057":1',
  '"Gw":1',
  '"routing_trace":{}',
  '"Routing_Trace":{}',
  '"\\u0072outing_trace":{}',
  '"usage":{"gw":1}',
  '"__proto__":{"gw":1}',
  '"\\u005f_proto__":{}',
];

it.each(forgeries)('leaves no key of the provider that is ours, in JSON or in a stream: %s', async (forged) => {
  const reply = `{"choices":[],${forged}}`;
  const keys = (text: string) => JSON.stringify(JSON.parse(text)).match(/"(gw|routing_trace)"/gi) ?? [];
  expect(keys((await ask([reply], 'application/json')).text)).toEqual(['"gw"']);
  for (const event of [`data: ${reply}\n\n`, `: x\rdata: ${reply}\r\r`, `\ufeffdata: ${reply}\n\n`]) {
    const { text } = await ask([event, end]);
    expect(text.replace(own, '')).not.toMatch(
      /"(g|\\u00[46]7)(w|\\u00[57]7)"|"(r|\\u0072)outing_trace"|"(_|\\u005f)_proto__"/i,
    );
    expect(text).toContain(own + end);
  }
});

it('changes no other word', async () => {
  const words = JSON.stringify({
    choices: [{ delta: { content: 'the key "gw": \\u0067 and \u00e9\u0001' } }],
    gwx: '"gw"',
  });
  expect((await ask([`data: ${words}\n\n`, end])).text).toBe(`data: ${words}\n\n${own}${end}`);
  expect((await ask([words], 'application/json')).text).toBe(`${words.slice(0, -1)},"gw":${block}}`);
});

it('does not take a completion that says "data: [DONE]" for the end of the stream', async () => {
  const words = 'data: {"choices":[{"delta":{"content":"data: [DONE]"}}]}\n\n';
  expect((await ask([words, end])).text).toBe(words + own + end);
  // The same words at the beginning of a piece, but not of a line.
  expect((await ask([words.slice(0, 40), words.slice(40), end])).text).toBe(words + own + end);
});

/** Two pieces that together are the text. */
const cutAt = (text: string, at: number) => [text.slice(0, at), text.slice(at)].filter((piece) => piece !== '');

const told: Origin = { id: 'chatcmpl-"1', created: 1700000000, model: 'org\\m/\u00e9' };
const decoys = { choices: [{ delta: { tool_calls: [{ id: 'no', model: '"id":"no"}' }], content: '{"id":1}\\"' } }] };

it.each([
  ['in front', { ...told, ...decoys }],
  ['behind', { ...decoys, x: ['id', '"id"', { created: 1 }], ...told }],
])('says who the stream is from, as its first chunk does, wherever that is cut: %s', async (_, first) => {
  const event = `data: ${JSON.stringify(first)}\n\n`;
  for (let at = 0; at < event.length; at += 7) {
    const { text } = await ask([...cutAt(event, at), `data: ${JSON.stringify({ ...first, id: 'later' })}\n\n`, end]);
    expect(text, `cut at ${at}`).toContain(ownOf(told) + end);
  }
});

it.each([
  ['nothing', [], untold],
  ['a comment and a chunk with less', [': {\n\n', 'data: {"id":"c","created":null}\n\n'], { ...untold, id: 'c' }],
  ['what is no text', ['data: {"id":{"id":"x"},"created":"1","model":["m"]}\n\n'], untold],
  ['empty names, as Azure’s', ['data: {"id":"","created":0,"model":"","choices":[]}\n\n'], untold],
  [
    'empty names, and later more',
    ['data: {"id":"","created":0,"model":""}\n\n', `data: ${JSON.stringify(told)}\n\n`],
    told,
  ],
  ['a name without end', [`data: {"id":"${'x'.repeat(300)}","model":"m"}\n\n`], { ...untold, model: 'm' }],
])('says by the receipt what the stream has not said: %s', async (_, chunks, origin) => {
  const { text } = await ask([...chunks, end]);
  expect(text).toContain(ownOf(origin) + end);
});

it.each([
  ['whole events', [chunk], chunk],
  ['nothing', [], ''],
  ['half a line, which nobody could read', [chunk, 'data: [DO'], chunk],
  ['a last line without its end', [chunk, chunk.trimEnd()], chunk + chunk],
  ['a last event without its end', [chunk, `${chunk.trimEnd()}\n`], chunk + chunk],
  ['lines that end in CRLF', [chunk.replaceAll('\n', '\r\n')], chunk.replaceAll('\n', '\r\n')],
  ['the empty line by itself', [chunk.slice(0, -1), '\n'], chunk],
])('ends a stream without [DONE] with the block: %s', async (_, sent, whole) => {
  expect((await ask(sent)).text).toBe(whole + own);
});

it('does so where the last bytes say themselves that they are the last', async () => {
  const http2 = await startLuaEnvoy(openaiChat, { http2: true });
  try {
    expect((await http2.ask([chunk, chunk])).text).toBe(chunk + chunk + own);
    expect((await http2.ask([chunk])).text).toBe(chunk + own);
    expect((await http2.ask([chunk, end])).text).toBe(chunk + own + end);
  } finally {
    await http2.stop();
  }
});

it.each(['data: [DONE]', 'data:[DONE]\n\n', 'data: [DONE]\r\n\r\n'])('knows the end as %j', async (words) => {
  expect((await ask([chunk, words])).text).toBe(chunk + own + end);
});

it.each(['"gw":{"id":"forged"}', '"G\\u0057" : 1', '"routing_trace":{}'])(
  'leaves no key of ours in an event that is cut, wherever it is: %s',
  async (forged) => {
    const event = `data: {"x":1,${forged}}\n\n`;
    for (let at = 1; at < event.length; at += 1) {
      const { text } = await ask([...cutAt(event, at), end]);
      expect(text.replace(own, ''), `cut at ${at}`).toMatch(/^data: {"x":1,"provider_(gw|routing_trace)" ?:/i);
    }
  },
);

it('does not wait for the end of a line that is longer than 64 KiB', async () => {
  const words = `data: {"x":"${'y'.repeat(70_000)}"}\n\n`;
  expect((await ask([...cutAt(words, 69_000), end])).text).toBe(words + own + end);
});

it('splices the block into a JSON reply, and shows nothing raw of a failure', async () => {
  expect((await ask(['{"id":"c",', '"choices":[]}\n'], 'application/json')).text).toBe(
    `{"id":"c","choices":[],"gw":${block}}`,
  );
  expect((await ask(['{}'], 'application/json')).text).toBe(`{"gw":${block}}`);
  const failed = await ask(['secret detail'], 'text/plain', 503);
  expect(failed).toMatchObject({ status: 502, text: '{"error":{}}' });
  expect(failed.headers.get('content-type')).toBe('application/json');
});

it.each([
  ['<html>', 'text/html'],
  ['[1]', 'application/json'],
  ['', 'application/json'],
])('a reply of 200 that no receipt can be put into is our fault, and is not shown: %j as %s', async (body, type) => {
  const reply = await ask([body], type);
  expect(reply).toMatchObject({ status: 500, text: errors.receiptError });
  expect(reply.headers.get('content-type')).toBe('application/json');
  expect(reply.headers.get('x-gw-receipt-id')).toBe(receiptId);
});
