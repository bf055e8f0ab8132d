/** Whatever bytes a provider sends as a stream, and however they are cut, a client reads no receipt in them but ours. */

import { cases } from '@gw/testing/cases';
import { chatReader } from '@gw/testing/receipt-sidecar/chat-reader';
import { eventBounds } from '@gw/testing/receipt-sidecar/event-bounds';
import fc from 'fast-check';
import { _iterSSEMessages } from 'openai/core/streaming';
import { describe, expect, it, vi } from 'vitest';
import { ChoiceEnds } from '../api/openai/choice-ends.ts';
import type { ParsedRequest } from '../api/port/parsed-request.ts';
import { contextError } from '../api/provider-errors/context-error.ts';
import { wordsOf } from '../api/provider-errors/provider-words.ts';
import { createEnergyReader } from './energy-reader.ts';
import { EventStream } from './event-stream.ts';
import type { EventStreamOptions } from './stream-options.ts';

const addresses = { baseUrl: 'http://gw.test', statusUrl: '', auditEmail: '', securityEmail: '' };
const ours = { gw: { id: 'ours' }, routing_trace: { policy: 'ours' } };
const ourUsage = { receipt_id: 'rcpt_ours' };

type Changes = Partial<EventStreamOptions>;

function open(changes: Changes = {}): { stream: EventStream; made: () => number } {
  let made = 0;
  const stream = new EventStream({
    reader: chatReader(true),
    addresses,
    energyReader: null,
    ...eventBounds,
    refusalFor: () => null,
    receipt: () => {
      made += 1;
      return {
        gw: JSON.stringify(ours.gw),
        routingTrace: JSON.stringify(ours.routing_trace),
        usageGw: JSON.stringify(ourUsage),
        counts: null,
      };
    },
    ...changes,
  });
  return { stream, made: () => made };
}

/** Returns what comes out because of these bytes. */
function pushed(stream: EventStream, bytes: Buffer): Buffer {
  stream.push(bytes);
  return stream.take();
}

/** `cuts`: the lengths of pieces. */
function rewrite(bytes: Buffer, cuts: readonly number[] = [], changes: Changes = {}): Buffer {
  const { stream, made } = open(changes);
  const out: Buffer[] = [];
  let from = 0;
  for (const cut of [...cuts, bytes.length]) {
    const to = Math.min(bytes.length, from + cut);
    out.push(pushed(stream, Buffer.from(bytes.subarray(from, to))));
    from = to;
  }
  stream.end();
  out.push(stream.take());
  expect(made()).toBe(1);
  return Buffer.concat(out);
}

/** Decodes with the official client's own decoder. */
async function read(bytes: Buffer): Promise<string[]> {
  const data: string[] = [];
  for await (const message of _iterSSEMessages(new Response(new Uint8Array(bytes)), new AbortController()))
    data.push(message.data);
  return data;
}

const lineEnds = ['\r\n', '\r', '\v', '\f', '\x1c', '\x1d', '\x1e', '\u0085', '\u2028', '\u2029'];

/** A reader who ends lines wherever Python's `str.splitlines` does, and drops a mark at the start of any line. */
const readLoosely = (bytes: Buffer): string[] =>
  lineEnds
    .reduce((text, end) => text.replaceAll(end, '\n'), bytes.toString('utf8'))
    .split('\n')
    .map((line) => line.replace(/^\ufeff/, ''))
    .filter((line) => line.startsWith('data:'))
    .map((line) => line.slice(5).trim());

async function expectNothingForged(out: Buffer): Promise<void> {
  const [first, second] = [await read(out), readLoosely(out)];
  // Space around the data says nothing.
  expect(first.map((data) => data.trim())).toEqual(second);
  expect([-1, first.length - 1]).toContain(first.indexOf('[DONE]'));
  for (const data of first) {
    if (data === '[DONE]') continue;
    const chunk = JSON.parse(data) as Record<string, unknown>;
    for (const key of ['gw', 'routing_trace'] as const) if (key in chunk) expect(chunk[key]).toEqual(ours[key]);
    const usage = (chunk.usage ?? {}) as Record<string, unknown>;
    const inUsage = Object.keys(usage).filter((key) => key.toLowerCase() === 'gw');
    if (inUsage.length > 0) expect([inUsage, usage.gw, 'gw' in chunk]).toEqual([['gw'], ourUsage, true]);
    // Whichever of two equal keys a reader takes, in whatever case.
    expect(data.match(/"gw"/gi) ?? []).toHaveLength(('gw' in chunk ? 1 : 0) + inUsage.length);
    expect(data).not.toMatch(/forged/i);
  }
}

const forged = '{"id":"c","choices":[{"index":0,"delta":{"content":"x"}}],"gw":{"id":"forged"}}';
const whole = (text: string | Buffer, changes: Changes = {}) => rewrite(Buffer.from(text as string), [], changes);

describe('a receipt of the provider', () => {
  it.each([
    ['behind a comment, by CR', `: x\rdata: ${forged}\r\r: y\n\n`],
    ['behind a field, by CR', `id: x\rdata: ${forged}\r\r\n\n`],
    ['by CR alone', `data: ${forged}\r\r`],
    ['by CR, CRLF and LF', `data: ${forged}\r\r\n\n`],
    ['behind a mark', `\ufeffdata: ${forged}\n\n`],
    ['behind a mark in a later line', `: x\n\ufeffdata: ${forged}\n\n`],
    ['behind a mark and a comment', `\ufeff: x\n\ufeffdata: ${forged}\n\ndata: {}\n\n`],
    ['behind a line end that only some know', `: x\u2028data: ${forged}\n\n`],
    ['in a field that nobody knows', `gw: ${forged}\n\n`],
    ['of a named event', `event: thread.forged\ndata: ${forged}\n\n`],
    ['without the last line end', `data: ${forged}`],
    ['without a space', `data:${forged}\n\n`],
    ['in lines', `data: {"id":"c",\ndata: "gw":{"id":"forged"},"choices":[]}\n\n`],
    ['in escapes', `data: {"g\\u0077":"forged","\\u0072outing_trace":"forged","choices":[]}\n\n`],
    ['twice', `data: {"gw":"forged","choices":[],"g\\u0077":"forged"}\n\n`],
    ['in capitals', `data: {"GW":"forged","Routing_Trace":"forged","choices":[]}\n\n`],
    ['in usage', `data: {"choices":[],"usage":{"prompt_tokens":1,"completion_tokens":1,"gw":"forged"}}\n\n`],
    ['in usage with a long s', `data: {"choices":[],"uſage":{"gw":"forged"},"U\\u017fAGE":{"gw":"forged"}}\n\n`],
    ['in the first of two usages', `data: {"choices":[{"delta":{}}],"usage":{"gw":"forged"},"usage":null}\n\n`],
    ['in the first of two, in escapes', `data: {"choices":[],"us\\u0061ge":{"\\u0067w":"forged"},"usage":{}}\n\n`],
    ['behind [DONE]', `data: [DONE]\n\ndata: ${forged}\n\n`],
    ['behind an error', `data: {"error":{}}\n\ndata: ${forged}\n\n`],
  ])('%s, is not read', async (_, text) => {
    await expectNothingForged(whole(text));
    // Even where every byte comes by itself.
    const bytes = Buffer.from(text);
    await expectNothingForged(
      rewrite(
        bytes,
        Array.from(bytes, () => 1),
      ),
    );
  });

  it('in bytes that are a line end to a lenient reader alone goes out as no such bytes', () => {
    const overlong = Buffer.from([0xc0, 0x8a]);
    const bytes = Buffer.concat([
      Buffer.from('data: {"choices":[{"delta":{"content":"a'),
      overlong,
      Buffer.from('b"}}]}\n\n'),
    ]);
    const out = rewrite(bytes);
    expect(out.includes(overlong)).toBe(false);
    expect(out.toString()).toContain('"a\ufffd\ufffdb"');
  });
});

describe('what is no receipt', () => {
  it('comes out as it was, in one line of its own', () => {
    const chunk = { choices: [{ index: 0, delta: { content: 'a\u2028b\u0085c\ufeffd — é 🌍 "gw" \\ ' } }] };
    const text = JSON.stringify(chunk);
    const lines = JSON.stringify(chunk, null, 2)
      .split('\n')
      .map((line) => `data: ${line}`);
    for (const sent of [`data: ${text}\n\n`, `data: ${text}\r\r`, `${lines.join('\r\n')}\r\n\r\n`]) {
      const [line] = readLoosely(whole(sent));
      expect(JSON.parse(line ?? '')).toEqual(chunk);
    }
    const plain = 'data: {"choices": [{"index":0,"delta":{"content":"1.0 — é"}}], "n":1.0, "n":2}\n\n';
    expect(whole(plain).toString().startsWith(plain)).toBe(true);
  });

  it('is kept alive by a comment without words, for comments and fields', () => {
    const { stream } = open();
    for (const sent of [': OPENROUTER PROCESSING\n\n', ': x\r', 'retry: 1\n\n', 'id: 1\n', 'data:\n\n'])
      expect(pushed(stream, Buffer.from(sent)).toString()).toBe(':\n\n');
    expect(pushed(stream, Buffer.from('\n\n\r\r\n')).toString()).toBe('');
  });
});

const unreadable = /"code":"upstream_invalid_response"/;

describe('a stream that is too much', () => {
  const deep = (levels: number) => `data: {"choices":[],"a":${'['.repeat(levels)}${']'.repeat(levels)}}\n\n`;

  it('ends at an event that is nested too deeply, of any size', () => {
    expect(whole(deep(120)).toString()).not.toMatch(unreadable);
    for (const levels of [128, 200, 200_000]) expect(whole(deep(levels)).toString()).toMatch(unreadable);
    expect(whole(`data: {"gw":1,"a":${'{"a":'.repeat(1e5)}1${'}'.repeat(1e5)}}\n\n`).toString()).toMatch(unreadable);
  });

  it('ends at an event of too many parts, or too long', () => {
    expect(whole(`data: {"choices":[],"a":[${'1,'.repeat(20_000)}1]}\n\n`).toString()).not.toMatch(unreadable);
    expect(whole(`data: {"choices":[],"a":[${'1,'.repeat(100_000)}1]}\n\n`).toString()).toMatch(unreadable);
    expect(whole('data: x\n'.repeat(1_000_000)).toString()).toMatch(unreadable);
    expect(whole(`: ${'x'.repeat(68e6)}`).toString()).toMatch(unreadable);
  });

  it('passes a picture of 2 MB', () => {
    const text = `data: ${JSON.stringify({ choices: [{ index: 0, delta: { content: 'A/+'.repeat(7e5) } }] })}\n\n`;
    expect(whole(text).toString().startsWith(text)).toBe(true);
  });

  it.each([
    ['delta', { index: 0, delta: 'x'.repeat(2e6) }],
    ['choice', 'x'.repeat(2e6)],
    ['text', { index: 0, text: 'x'.repeat(2e6) }],
    ['list of lists', { index: 0, delta: { tool_calls: Array.from({ length: 10_000 }, () => []) } }],
  ])('of a %s does not have its letters or parts listed', (_, choice) => {
    const listed = (['entries', 'keys', 'values'] as const).map((name) => vi.spyOn(Object, name));
    const ends = new ChoiceEnds(1);
    for (const choices of [[choice], [{ index: 0, delta: {}, finish_reason: 'stop' }], [choice]]) {
      ends.sayNothing(choices);
      ends.take(choices);
    }
    const largest = listed.flatMap((spy) => spy.mock.calls.map(([value]) => (value as string | object[]).length ?? 0));
    vi.restoreAllMocks();
    expect(Math.max(0, ...largest)).toBeLessThan(1000);
    const text = `data: ${JSON.stringify({ choices: [choice] })}\n\n`;
    expect(
      whole(text + text)
        .toString()
        .startsWith(text + text),
    ).toBe(true);
  });

  it('is not kept: a reason of any length costs a few bytes', () => {
    const ends = new ChoiceEnds(128);
    const reason = 'x'.repeat(1e6);
    ends.take([{ index: 0, finish_reason: reason }]);
    // It is an end all the same, and saying it again says something new, since nobody remembers it.
    expect([ends.hasBegun, ends.sayNothing([{ index: 0, finish_reason: reason }])]).toEqual([true, false]);
    expect(ends.sayNothing([{ index: 0, finish_reason: null }])).toBe(true);
  });

  it.each([
    ['a text', ['{"content":"a"}'], 1],
    // This can be a provider that names a reason on every chunk, so that the receipt waits for a surer end.
    ['nothing', [], 0],
  ])('is not held for a usage that does not come behind %s, an end, and more and more', (_, texts, receipts) => {
    const { stream, made } = open();
    for (const delta of texts) stream.push(Buffer.from(`data: {"choices":[{"index":0,"delta":${delta}}]}\n\n`));
    stream.push(Buffer.from('data: {"choices":[{"index":0,"delta":{},"finish_reason":"stop"}]}\n\n'));
    let out = '';
    const filler = Buffer.from(`data: {"choices":[],"a":"${'x'.repeat(64 * 1024)}"}\n\n`);
    for (let count = 0; count < 20; count++) out += pushed(stream, filler).toString();
    expect(made()).toBe(receipts);
    expect(out.match(/"a":/g)).toHaveLength(20);
    expect([stream.holding, stream.waitsFrom !== null]).toEqual([false, false]);
    stream.end();
    expect(made()).toBe(1);
  });
});

/** JSON can hold these, but JavaScript or a schema does not expect them. The first object cannot even become a number. */
const oddities: readonly unknown[] = [
  { toString: 1, valueOf: 1 },
  { __proto__: null, constructor: 1, hasOwnProperty: 1, length: -1, toJSON: 1 },
  [{ toString: 1, valueOf: 1 }],
  [[[[]]]],
  null,
  true,
  '',
  'NaN',
  -0,
  1e308,
  2 ** 64,
];
const usual = {
  id: 'c',
  object: 'chat.completion.chunk',
  created: 1,
  model: 'm',
  type: 'chunk',
  error: null,
  energy: { energy_joules: 1 },
  choices: [
    {
      index: 0,
      text: 'a',
      delta: { role: 'assistant', content: 'a', reasoning: 'b', tool_calls: [{ index: 0, function: { name: 'f' } }] },
      finish_reason: 'stop',
      logprobs: null,
    },
  ],
  usage: {
    prompt_tokens: 1,
    completion_tokens: 1,
    prompt_tokens_details: { cached_tokens: 0 },
    completion_tokens_details: { reasoning_tokens: 0 },
  },
};
const refusal = {
  error: {
    message: 'too long',
    code: 'context_length_exceeded',
    type: 'x',
    param: 'messages',
    n_prompt_tokens: 9,
    n_ctx: 8,
  },
};

/** The value with the oddity at each of its places, one after the other. */
function* withOddity(value: unknown, oddity: unknown): Generator<unknown> {
  yield oddity;
  if (value === null || typeof value !== 'object') return;
  for (const [key, part] of Object.entries(value))
    for (const odd of withOddity(part, oddity))
      yield Array.isArray(value) ? value.with(Number(key), odd) : { ...value, [key]: odd };
}

describe('a value of a type that nobody expects', () => {
  const finish = 'data: {"choices":[{"index":0,"delta":{},"finish_reason":"stop"}]}\n\ndata: [DONE]\n\n';
  const request = { endpoint: 'chat', model: 'm', outputField: 'max_tokens' } as unknown as ParsedRequest;
  const refusalFor = (chunk: Readonly<Record<string, unknown>>) => contextError(wordsOf(chunk), request, false);

  it.each(oddities.map((oddity) => [JSON.stringify(oddity), oddity]))(
    '%s, is passed or refused at any place',
    async (_, oddity) => {
      for (const telemetry of [null, 'neuralwatt', 'greenpt', 'melious', 'ecologits_impacts'])
        for (const value of [...withOddity(usual, oddity), ...withOddity(refusal, oddity)])
          await expectNothingForged(
            whole(`data: ${JSON.stringify(value)}\n\n${finish}`, {
              energyReader: createEnergyReader(telemetry, () => ({})),
              ...eventBounds,
              refusalFor,
            }),
          );
    },
  );

  it('that makes the reading fail is one that could not be read: nothing of it goes out, and nothing behind it', () => {
    const failing = () => {
      throw new TypeError('Cannot convert object to primitive value');
    };
    const out = whole(`data: {"error":"x"}\n\n${finish}`, { refusalFor: failing }).toString();
    expect(out).toMatch(unreadable);
    expect(out.match(/data:/g)).toHaveLength(1);
  });

  it('is not what makes the receipt fail', () => {
    const failing = () => {
      throw new Error('no receipt');
    };
    expect(() => whole(finish, { receipt: failing })).toThrow('no receipt');
  });
});

const piece = fc.constantFrom(
  ...['\r', '\n', '\r\n', '\n\n', ':', ' ', 'data:', 'data: ', 'event: error', 'id', '\ufeff', '\u2028', '{', '}', '"'],
  ...[
    '"gw":',
    '"g\\u0077":1',
    '"routing_trace":"forged"',
    ',',
    '[DONE]',
    '\0',
    '\\',
    'é',
    '🌍',
    forged,
    '{"choices":[]}',
  ],
  '{"choices":[{"index":0,"delta":{},"finish_reason":"stop"}]}',
  '{"choices":[],"usage":{"prompt_tokens":1,"completion_tokens":1,"gw":"forged"}}',
  '{"choices":[{"index":1,"delta":"text","finish_reason":"stop"}]}',
  '{"choices":["text",{"index":1,"delta":{"content":"b"},"finish_reason":"stop"}]}',
);
const hostileBytes = fc
  .array(fc.oneof(piece.map(Buffer.from), fc.uint8Array({ maxLength: 4 }).map(Buffer.from)), { maxLength: 40 })
  .map((parts) => Buffer.concat(parts));

it('holds for any bytes, cut anywhere', async () => {
  await fc.assert(
    fc.asyncProperty(
      hostileBytes,
      fc.array(fc.integer({ min: 0, max: 30 }), { maxLength: 20 }),
      fc.integer({ min: 1, max: 2 }),
      async (bytes, cuts, answers) => {
        const out = rewrite(bytes, [], { reader: chatReader(true, answers) });
        await expectNothingForged(out);
        const withoutComments = (each: Buffer) => each.toString().replace(/^:\n\n/gm, '');
        expect(withoutComments(rewrite(bytes, cuts, { reader: chatReader(true, answers) }))).toBe(withoutComments(out));
      },
    ),
    { numRuns: cases(2000), examples: [[Buffer.from('data:  {"choices":["text",{"index":1}]}'), [], 1]] },
  );
});
