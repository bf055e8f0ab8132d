/**
 * The event that stands in for a dead sidecar, as the official clients read it, however the provider cuts its pieces: it is one
 * more chunk of its stream.
 */

import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import { shapeOf } from '@gw/receipt-sidecar/internals/api/shapes';
import OpenAI from 'openai';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { pythonWithClient } from '../sdk/python-client.ts';
import { block, type LuaEnvoy, startLuaEnvoy } from './lua-envoy.ts';

const head = { id: 'one-1', created: 1700000000, model: 'm/é' };
const event = (fields: object) => `data: ${JSON.stringify({ ...head, ...fields })}\n\n`;
const texts = ['Hel', 'lo "gw": ', 'data: [DONE] é'];
const whole = texts.join('');
const gw = JSON.parse(block);

const kinds = {
  chat: {
    object: 'chat.completion.chunk',
    piece: (content: string | null, finish_reason: string | null) => ({
      delta: content === null ? {} : { role: 'assistant', content },
      finish_reason,
    }),
  },
  completions: {
    object: 'text_completion',
    piece: (text: string | null, finish_reason: string | null) => ({ text: text ?? '', finish_reason }),
  },
} as const;
type Kind = keyof typeof kinds;

function bodyOf(kind: Kind, end: string): Buffer {
  const { object, piece } = kinds[kind];
  const chunk = (text: string | null, reason: string | null) =>
    event({ object, choices: [{ index: 0, logprobs: null, ...piece(text, reason) }] });
  return Buffer.from([...texts.map((text) => chunk(text, null)), chunk(null, 'stop'), end].join(''));
}

/** Pieces of the same length, which cut letters of several bytes too. */
const cutInto = (bytes: Buffer, length: number) =>
  Array.from({ length: Math.ceil(bytes.length / length) }, (_, at) => bytes.subarray(at * length, (at + 1) * length));

const program = `
import json, sys
from openai import OpenAI
client = OpenAI(base_url=sys.argv[1], api_key="none", max_retries=0)
def show(chunks): return [json.loads(chunk.model_dump_json()) for chunk in chunks]
messages = [{"role": "user", "content": "x"}]
if sys.argv[2] == "chat":
    chunks = show(client.chat.completions.create(model="m", messages=messages, stream=True))
    with client.chat.completions.stream(model="m", messages=messages) as stream:
        final = json.loads(stream.get_final_completion().model_dump_json())
else:
    chunks, final = show(client.completions.create(model="m", prompt="x", stream=True)), None
print(json.dumps({"chunks": chunks, "final": final}))
`;

describe.each(Object.keys(kinds) as Kind[])('the event that stands in for a dead sidecar (%s)', (kind) => {
  let envoy: LuaEnvoy;
  let python: string;
  beforeAll(async () => {
    envoy = await startLuaEnvoy(shapeOf(kind));
    python = await pythonWithClient((line) => process.stderr.write(`${line}\n`));
  }, 120_000);
  afterAll(() => envoy?.stop());

  const choices = [{ index: 0, ...kinds[kind].piece(null, null) }];
  const own = { ...head, object: kinds[kind].object, choices, gw };
  const ends = ['data: [DONE]\n\n', ''];
  const lengths = [13, 40, 97, 5000];

  it.each(ends)('is a chunk like the others to the client for Node, behind an end of %j', async (end) => {
    const client = new OpenAI({ baseURL: envoy.url, apiKey: 'none', maxRetries: 0 });
    const body = bodyOf(kind, end);
    for (const length of lengths) {
      envoy.answer({ pieces: cutInto(body, length) });
      const chunks: unknown[] = [];
      if (kind === 'chat') {
        const request = { model: 'm', messages: [{ role: 'user' as const, content: 'x' }], stream: true as const };
        for await (const chunk of await client.chat.completions.create(request)) chunks.push(chunk);
        const final = await client.chat.completions.stream(request).finalChatCompletion();
        expect(final).toMatchObject({ ...head, choices: [{ message: { content: whole } }] });
      } else {
        for await (const chunk of await client.completions.create({ model: 'm', prompt: 'x', stream: true }))
          chunks.push(chunk);
      }
      expect(chunks, `in pieces of ${length}`).toHaveLength(texts.length + 2);
      expect(chunks.at(-1)).toEqual(own);
      for (const chunk of chunks) expect(chunk).toMatchObject({ ...head, object: own.object });
    }
  });

  // Its start takes seconds.
  const [end = ''] = kind === 'chat' ? ends : ends.slice(1);
  it('is a chunk like the others to the client for Python', async () => {
    envoy.answer({ pieces: cutInto(bodyOf(kind, end), 40) });
    const { stdout } = await promisify(execFile)(python, ['-B', '-c', program, envoy.url, kind], { timeout: 60_000 });
    const { chunks, final } = JSON.parse(stdout);
    expect(chunks).toHaveLength(texts.length + 2);
    expect(chunks.at(-1)).toMatchObject(own);
    if (kind === 'chat') expect(final).toMatchObject({ ...head, choices: [{ message: { content: whole } }] });
  });
});
