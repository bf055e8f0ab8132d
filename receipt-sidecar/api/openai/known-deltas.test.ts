/** Deltas that are known by their bytes, against the same deltas read one by one. */

import { cases } from '@gw/testing/cases';
import { chatReader } from '@gw/testing/receipt-sidecar/chat-reader';
import { eventBounds } from '@gw/testing/receipt-sidecar/event-bounds';
import fc from 'fast-check';
import { describe, expect, test, vi } from 'vitest';
import { EventStream } from '../../reply/event-stream.ts';
import type { StreamFacts } from '../../reply/stream-options.ts';
import { KnownDeltas, slotsOfChunk } from './known-deltas.ts';
import { ReplyCounts } from './reply-counts.ts';

const addresses = { baseUrl: 'http://gw.test', statusUrl: '', auditEmail: '', securityEmail: '' };
const receipt = { gw: '{"id":"r"}', routingTrace: '{}', usageGw: '{}', counts: null };

function opened(wantsUsage: boolean, expectedChoices = 1): EventStream {
  return new EventStream({
    reader: chatReader(wantsUsage, expectedChoices),
    addresses,
    energyReader: null,
    ...eventBounds,
    refusalFor: () => null,
    receipt: (_: StreamFacts) => receipt,
  });
}

interface Seen {
  readonly out: string;
  readonly facts: unknown;
}

/** Returns the output of each event, and what is known after it. Events with other line ends are read one by one. */
function seen(events: readonly string[], wantsUsage: boolean, choices: number, lineEnd: string): Seen[] {
  const stream = opened(wantsUsage, choices);
  const each = events.map((event) => {
    stream.push(Buffer.from(`data: ${event}${lineEnd}${lineEnd}`));
    const { failed, isWritten, said, telemetry } = stream.facts;
    const { answerBytes, claim, isStale, otherBytes, reasoningBytes } = said;
    const facts = { failed, isWritten, telemetry, answerBytes, claim, isStale, otherBytes, reasoningBytes };
    return { out: stream.take().toString(), facts, waits: stream.holding, over: stream.over };
  });
  stream.end();
  return [...each, { out: stream.take().toString(), facts: null }];
}

const word = fc.oneof(
  { weight: 6, arbitrary: fc.string({ unit: 'grapheme-ascii', minLength: 1, maxLength: 6 }) },
  fc.constantFrom(
    '',
    ' ',
    '"',
    '\\',
    '\u2028',
    'ä',
    '😀',
    '\n',
    '","gw":{},"x":"',
    '"content":"',
    '\ud800',
    '\ufffd',
    '}',
  ),
  fc.string({ unit: 'binary', maxLength: 4 }),
);
const chunkOf = (delta: object, more: object = {}, choice: object = {}) =>
  JSON.stringify({
    id: 'c',
    object: 'chat.completion.chunk',
    created: 1,
    model: 'm',
    choices: [{ index: 0, delta, finish_reason: null, ...choice }],
    ...more,
  });
const text = word.map((content) => chunkOf({ content }));
const events = fc.array(
  fc.oneof(
    { weight: 12, arbitrary: text },
    {
      weight: 3,
      arbitrary: fc.tuple(word, word).map(([content, obfuscation]) => chunkOf({ content }, { obfuscation })),
    },
    word.map((content) => chunkOf({ role: 'assistant', content })),
    word.map((content) => chunkOf({ content, refusal: null }, { usage: null })),
    word.map((reasoning_content) => chunkOf({ content: '', reasoning_content })),
    word.map((content) => chunkOf({ content, reasoning_content: 'why' })),
    word.map((content) => chunkOf({ content }, {}, { index: 1 })),
    word.map((content) => chunkOf({ content }, { usage: { prompt_tokens: 1, completion_tokens: 2 } })),
    word.map((content) => chunkOf({ content }, {}, { finish_reason: 'stop' })),
    word.map((content) => chunkOf({ content }, { gw: 1 })),
    word.map((content) => chunkOf({ content }, {}, { text: 'legacy' })),
    word.map((content) => chunkOf({ content }).replace('"content":', '"content" : ')),
    // The same name twice, of which the last counts.
    word.map((content) => chunkOf({ content }).replace('"delta":', '"delta":{"content":"first"},"delta":')),
    fc.constant(chunkOf({})),
    fc.constant('{"choices":[],"usage":{"prompt_tokens":1,"completion_tokens":2}}'),
    fc.constant('{"error":"no"}'),
    fc.constant('[DONE]'),
  ),
  { maxLength: 40 },
);

test('come out, and count, as if each had been read by itself', () => {
  fc.assert(
    fc.property(events, fc.boolean(), fc.integer({ min: 1, max: 2 }), (list, wantsUsage, choices) => {
      expect(seen(list, wantsUsage, choices, '\n')).toEqual(seen(list, wantsUsage, choices, '\r\n'));
    }),
    { numRuns: cases(2000, 400) },
  );
});

test('an event that calls itself an error is none of them, whatever its data look like', () => {
  const delta = chunkOf({ content: 'and two' });
  const stream = opened(false);
  stream.push(Buffer.from(`data: ${chunkOf({ content: 'one' })}\n\ndata: ${delta}\n\n`));
  expect(stream.facts).toMatchObject({ failed: false, said: { answerBytes: 10 } });
  stream.push(Buffer.from(`event: error\ndata: ${delta}\n\n`));
  expect(stream.facts.said.answerBytes).toBe(10);
});

describe('an event', () => {
  const bytesOf = (data: string) => Buffer.from(`data: ${data}\n\n`);
  function taught(...lessons: readonly string[]) {
    const said = new ReplyCounts();
    const takeText = vi.fn();
    const deltas = new KnownDeltas(slotsOfChunk, (letters) => {
      said.takeText(letters);
      takeText();
    });
    for (const data of lessons) deltas.learn(bytesOf(data), data, JSON.parse(data));
    /** How many letters are taken of an event; 0 if it is not known. */
    const letters = (data: string): number => {
      const before = said.answerBytes;
      takeText.mockClear();
      const isKnown = deltas.known(bytesOf(data)) !== null;
      expect(isKnown).toBe(said.answerBytes > before);
      // An end that was said before text is no end.
      expect(takeText).toHaveBeenCalledTimes(isKnown ? 1 : 0);
      return said.answerBytes - before;
    };
    return { deltas, letters };
  }

  test.each([
    [7, 'other text', chunkOf({ content: 'and two' })],
    [2, 'text that ends like the chunk', chunkOf({ content: '},' })],
    [0, 'no text', chunkOf({ content: '' })],
    [0, 'a quote in its text', chunkOf({ content: 'a"b' })],
    [0, 'a letter outside of ASCII', chunkOf({ content: 'ä' })],
    [0, 'a reason to finish', chunkOf({ content: 'one' }, {}, { finish_reason: 'stop' })],
    [0, 'another name', chunkOf({ content: 'one' }, { gw: 1 })],
    [0, 'its end missing', chunkOf({ content: 'one' }).slice(0, -1)],
  ])('counts %i letters if it has %s', (count, _, data) => {
    expect(taught(chunkOf({ content: 'one' })).letters(data)).toBe(count);
  });

  test('is known whatever pads it', () => {
    const { letters } = taught(chunkOf({ content: 'one' }, { obfuscation: 'xyz' }));
    expect(letters(chunkOf({ content: 'four' }, { obfuscation: 'q' }))).toBe(4);
    expect(letters(chunkOf({ content: 'four' }, { obfuscation: '' }))).toBe(4);
    expect(letters(chunkOf({ content: 'four' }))).toBe(0);
  });

  test.each([
    ['two choices', JSON.stringify({ choices: [{ delta: { content: 'a' } }, { delta: { content: 'a' } }] })],
    ['a usage', chunkOf({ content: 'a' }, { usage: { total_tokens: 1 } })],
    ['reasoning beside its text', chunkOf({ content: 'a', reasoning: 'b' })],
    ['its name twice', '{"choices":[{"delta":{"content":"a","content" :"a"}}]}'],
    ['its name in a text', chunkOf({ content: 'content' }, { x: 'content' })],
    ['the text of a completion beside it', chunkOf({ content: 'a' }, {}, { text: 'b' })],
  ])('teaches nothing with %s', (_, data) => {
    expect(taught(data).letters(data)).toBe(0);
  });

  test('is learned behind others that teach nothing, and stays learned behind them', () => {
    const reasoning = Array.from({ length: 20 }, () => chunkOf({ content: null, reasoning_content: 'why' }));
    expect(taught(...reasoning, chunkOf({ content: 'one' }), ...reasoning).letters(chunkOf({ content: 'two' }))).toBe(
      3,
    );
  });

  test('is learned anew where its shape has changed, a few times in each stream', () => {
    const { deltas, letters } = taught();
    const known = Array.from({ length: 20 }, (_, at) => {
      const data = chunkOf({ content: 'one' }, { at });
      deltas.learn(bytesOf(data), data, JSON.parse(data));
      return letters(chunkOf({ content: 'other' }, { at }));
    });
    expect(known).toEqual(known.map((_, at) => (at < 8 ? 5 : 0)));
  });
});

test('are known by their bytes also where the provider names its events, but for the name of an error', () => {
  const stream = opened(false);
  const delta = chunkOf({ content: 'word' });
  const parsed = vi.spyOn(JSON, 'parse');
  for (const name of ['delta', 'delta', 'delta']) stream.push(Buffer.from(`event: ${name}\ndata: ${delta}\n\n`));
  expect(parsed.mock.calls.filter(([json]) => json === delta)).toHaveLength(1);
  parsed.mockRestore();
  expect(stream.take().toString()).toBe(`data: ${delta}\n\n`.repeat(3));
  stream.push(Buffer.from(`event: error\ndata: ${delta}\n\n`));
  expect(stream.take().toString()).toContain('"error"');
});
