import { apiError } from '@gw/contract/errors';
import type { TokenUsage } from '@gw/methodology/assess';
import { cases } from '@gw/testing/cases';
import { chatReader } from '@gw/testing/receipt-sidecar/chat-reader';
import { eventBounds } from '@gw/testing/receipt-sidecar/event-bounds';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { Room } from '../wire/room.ts';
import { createEnergyReader } from './energy-reader.ts';
import { EventStream } from './event-stream.ts';
import type { StreamFacts } from './stream-options.ts';

const addresses = { baseUrl: 'http://gw.test', statusUrl: '', auditEmail: '', securityEmail: '' };
const event = (value: unknown) => `data: ${typeof value === 'string' ? value : JSON.stringify(value)}\n\n`;
const delta = (content: string, finish: string | null = null, index = 0) => ({
  id: 'c1',
  choices: [{ index, delta: { content }, finish_reason: finish }],
});
/** Stands for what the words of providers mean, which has tests of its own. */
const refusalFor = ({ error }: { readonly error?: unknown }, isEmpty: boolean) =>
  error === 'too long' && isEmpty ? apiError('prompt_too_long', { param: 'messages' }) : null;
const nothingElse = { telemetry: null, isWritten: true, failed: false };
const sevenAndThree = { prompt: 7, completion: 3 };
const usageChunk = { id: 'c1', choices: [], usage: { prompt_tokens: 7, completion_tokens: 3 } };
const made = { gw: '{"id":"r"}', routingTrace: '{"policy":"p"}', usageGw: '{"receipt_id":"r"}', counts: null };
const empty = { gw: '{}', routingTrace: '{}', usageGw: '{}', counts: null };
const additions = { gw: { id: 'r' }, routing_trace: { policy: 'p' } };
/** A chunk with all that is added to it. */
const withOurs = (chunk: { readonly id: string; readonly object?: string; readonly usage?: object }) => ({
  ...chunk,
  ...additions,
  ...(chunk.usage && { usage: { ...chunk.usage, gw: { receipt_id: 'r' } } }),
});

/** Returns what comes out because of these bytes. */
function pushed(stream: EventStream, bytes: Buffer): Buffer {
  stream.push(bytes);
  return stream.take();
}

/** Feeds `text` in pieces of the given lengths and returns the data of every event that came out. */
interface RunOptions {
  readonly wantsUsage?: boolean;
  readonly cuts?: readonly number[];
  readonly choices?: number;
  readonly telemetry?: string;
  readonly counts?: TokenUsage;
}

function run(text: string, options: RunOptions = {}) {
  const asked: StreamFacts[] = [];
  const stream = new EventStream({
    reader: chatReader(options.wantsUsage ?? false, options.choices ?? 1),
    addresses,
    energyReader: createEnergyReader(options.telemetry ?? null, () => ({})),
    ...eventBounds,
    refusalFor,
    receipt: (facts) => {
      asked.push(facts);
      return { ...made, counts: options.counts ?? null };
    },
  });
  const bytes = Buffer.from(text);
  const out: Buffer[] = [];
  let from = 0;
  for (const cut of [...(options.cuts ?? []), bytes.length]) {
    const to = Math.min(bytes.length, from + cut);
    out.push(pushed(stream, bytes.subarray(from, to)));
    from = to;
  }
  stream.end();
  out.push(stream.take());
  const raw = Buffer.concat(out).toString('utf8');
  const data = dataOf(raw);
  const chunks = data.filter((each) => each !== '[DONE]').map((each) => JSON.parse(each));
  return { raw, chunks, asked, done: data.at(-1) === '[DONE]' };
}

/** Our output may only have lines of data, each followed by a blank line, and empty comments. */
function dataOf(raw: string): string[] {
  const blocks = raw.split('\n\n');
  expect(blocks.pop()).toBe('');
  for (const block of blocks) expect(block).toMatch(/^(?::|data: [^\r\n\u0085\u2028\u2029\ufeff]+)$/);
  return blocks.filter((block) => block !== ':').map((block) => block.slice('data: '.length));
}

const usual =
  event(delta('Hé')) + event(delta('llo 🌍')) + event(delta('', 'stop')) + event(usageChunk) + event('[DONE]');

describe('a stream', () => {
  it('carries the receipt on the last chunk with choices, and drops a usage chunk that nobody asked for', () => {
    const { chunks, asked, done } = run(usual);
    expect(chunks).toEqual([
      delta('Hé'),
      delta('llo 🌍'),
      { ...delta('', 'stop'), gw: { id: 'r' }, routing_trace: { policy: 'p' } },
    ]);
    expect(asked).toEqual([
      {
        said: expect.objectContaining({ claim: expect.objectContaining(sevenAndThree), answerBytes: 11 }),
        ...nothingElse,
      },
    ]);
    expect(done).toBe(true);
  });

  it('carries the receipt on the usage chunk too if the client asked for one', () => {
    const { chunks, asked } = run(usual, { wantsUsage: true });
    expect(chunks).toEqual([delta('Hé'), delta('llo 🌍'), withOurs(delta('', 'stop')), withOurs(usageChunk)]);
    expect(asked).toHaveLength(1);
  });

  describe('where the client asked for usage and the provider sends none', () => {
    const counts = { promptTokens: 7, cachedPromptTokens: 0, completionTokens: 3, estimated: 'both' as const };
    const counted = { wantsUsage: true, counts };
    const text = event(delta('a')) + event(delta('', 'stop')) + event('[DONE]');
    const { usage, ...bare } = usageChunk;

    it('ends with the counts of the receipt, as clients expect it', () => {
      const { chunks, asked, done } = run(text, counted);
      const { prompt_tokens, completion_tokens } = usage;
      expect([prompt_tokens, completion_tokens]).toEqual([7, 3]);
      expect(chunks).toEqual([
        ...[delta('a'), withOurs(delta('', 'stop'))],
        withOurs({
          ...bare,
          object: 'chat.completion.chunk',
          usage: { prompt_tokens, completion_tokens, total_tokens: 10 },
        }),
      ]);
      expect(asked).toHaveLength(1);
      expect(done).toBe(true);
    });

    it('says nothing more where nobody asked, nothing is counted, the provider has told it, or failed', () => {
      const plain = [delta('a'), withOurs(delta('', 'stop'))];
      expect(run(text, { counts }).chunks).toEqual(plain);
      expect(run(text, { wantsUsage: true }).chunks).toEqual(plain);
      expect(run(usual, counted).chunks).toEqual(run(usual, { wantsUsage: true }).chunks);
      const onText = { ...delta('', 'stop'), usage };
      expect(run(event(onText) + event('[DONE]'), counted).chunks).toEqual([withOurs(onText)]);
      const failed = run(event(delta('a')) + event({ error: { message: 'x' } }), counted).chunks;
      expect(failed.filter((chunk) => chunk.usage !== undefined)).toEqual([]);
    });

    it('has one chunk of its own where none is left to carry the receipt', () => {
      const { chunks } = run(event(delta('a')) + event('[DONE]'), counted);
      expect(chunks).toHaveLength(2);
      expect(chunks[1]).toMatchObject({
        choices: [],
        usage: { total_tokens: 10, gw: { receipt_id: 'r' } },
        gw: { id: 'r' },
      });
    });
  });

  // As OpenRouter and LiteLLM send it: behind the finishing chunk, and with choices.
  it.each([
    ['an empty delta', { index: 0, delta: {} }],
    ['a role and an empty text', { index: 0, delta: { role: 'assistant', content: '' }, finish_reason: null }],
    ['the end once more', { index: 0, delta: {}, finish_reason: 'stop' }],
    ['lists and objects of nothing', { index: 0, delta: { content: '', tool_calls: [], audio: {} }, logprobs: null }],
    ['nothing at all', null],
  ])('takes a usage chunk whose choices say nothing for one without: %s', (_, choice) => {
    const blank = { ...usageChunk, choices: [choice] };
    const text = event(delta('a')) + event(delta('', 'stop')) + event(blank) + event('[DONE]');
    expect(run(text).chunks).toEqual([delta('a'), withOurs(delta('', 'stop'))]);
    const { chunks, asked } = run(text, { wantsUsage: true });
    expect(chunks).toEqual([delta('a'), withOurs(delta('', 'stop')), withOurs(blank)]);
    expect(asked).toMatchObject([{ said: { claim: sevenAndThree } }]);
  });

  it('rides on the last chunk with choices, also on one behind the end', () => {
    const filtered = { id: 'c1', choices: [{ index: 0, delta: {}, content_filter_results: { hate: 'safe' } }] };
    const text = event(delta('a', 'stop')) + event(filtered) + event(usageChunk) + event('[DONE]');
    expect(run(text).chunks).toEqual([delta('a', 'stop'), withOurs(filtered)]);
  });

  it('keeps a chunk with usage behind the end that says something new, and takes the usage out', () => {
    const [done, filter] = [
      delta('', 'stop'),
      { index: 0, delta: {}, finish_reason: 'content_filter', filtered: true },
    ];
    const text = event(done) + event({ ...usageChunk, choices: [filter] }) + event('[DONE]');
    expect(run(text).chunks).toEqual([done, withOurs({ id: 'c1', choices: [filter] } as never)]);
  });

  it('keeps the receipt on a usage chunk behind which comes one with choices that say no text', () => {
    const filtered = { id: 'c1', choices: [{ index: 0, delta: {}, content_filter_results: {} }] };
    const text = event(delta('a', 'stop')) + event(usageChunk) + event(filtered) + event('[DONE]');
    const { chunks, asked } = run(text, { wantsUsage: true });
    expect(chunks).toEqual([delta('a', 'stop'), withOurs(usageChunk), withOurs(filtered)]);
    expect(asked).toHaveLength(1);
  });

  it('takes no end for one behind which text comes', () => {
    // A reason on every chunk; and a choice that nobody asked for, which has an end, or none.
    const always = [delta('a', 'stop'), delta('b', 'stop'), delta('c', 'stop')];
    const more = [delta('a', 'stop'), delta('b', null, 1), delta('', 'stop', 1)];
    for (const sent of [always, more, more.slice(0, 2)]) {
      const { chunks, asked } = run([...sent, usageChunk, '[DONE]'].map(event).join(''));
      expect(chunks).toEqual([...sent.slice(0, -1), withOurs(sent.at(-1) as never)]);
      expect(asked).toMatchObject([{ said: { claim: sevenAndThree } }]);
    }
  });

  it('gives a client its usage with the receipt even if fewer choices have finished than were asked for', () => {
    const text = event(delta('a', 'stop')) + event(usageChunk) + event('[DONE]');
    const { chunks } = run(text, { choices: 2, wantsUsage: true });
    expect(chunks).toEqual([delta('a', 'stop'), withOurs(usageChunk)]);
  });

  it('takes a usage that nobody asked for out of a chunk with text', () => {
    const counting = { ...delta('a'), usage: { prompt_tokens: 7, completion_tokens: 1 } };
    const last = { ...delta('', 'stop'), usage: usageChunk.usage };
    const text = event(counting) + event(last) + event('[DONE]');
    expect(run(text).chunks).toEqual([delta('a'), withOurs(delta('', 'stop'))]);
    expect(run(text, { wantsUsage: true }).chunks).toEqual([counting, withOurs(last)]);
  });

  it('shows every client a chunk with choices that carries the receipt, in whatever order a provider sends', () => {
    const blankUsage = { ...usageChunk, choices: [{ index: 0, delta: { content: '' }, finish_reason: null }] };
    const behind = [
      usageChunk,
      blankUsage,
      { ...delta(''), usage: null },
      { id: 'c1', choices: [], note: 1 },
      delta('late'),
    ];
    fc.assert(
      fc.property(
        fc.array(fc.constantFrom(...behind), { maxLength: 6 }),
        fc.array(fc.integer({ min: 0, max: 60 }), { maxLength: 20 }),
        fc.boolean(),
        (rest, cuts, wantsUsage) => {
          const sent = [delta('a'), delta('', 'stop'), ...rest];
          const { chunks, asked } = run([...sent, '[DONE]'].map(event).join(''), { cuts, wantsUsage });
          expect(asked).toHaveLength(1);
          const isUsage = (chunk: object) => 'usage' in chunk && chunk.usage !== null;
          const last = chunks.filter((chunk) => chunk.choices.length > 0 && !isUsage(chunk)).at(-1);
          expect(last).toMatchObject(additions);
          expect(chunks.filter(isUsage)).toHaveLength(wantsUsage ? sent.filter(isUsage).length : 0);
          // Nothing else is lost, or changes its place.
          const texts = (each: readonly { choices: readonly unknown[] }[]) =>
            each.filter((chunk) => !isUsage(chunk)).length;
          expect(texts(chunks)).toBe(texts(sent as never));
        },
      ),
    );
  });

  it('drops a usage chunk that nobody asked for with all that stands on it, and shows it whole to who asked', () => {
    const cited = { ...usageChunk, citations: ['https://a.example'] };
    for (const behind of [cited, { ...cited, choices: [{ index: 0, delta: {} }] }]) {
      const text = [delta('a', 'stop'), behind, '[DONE]'].map(event).join('');
      expect(run(text).chunks).toEqual([withOurs(delta('a', 'stop'))]);
      expect(run(text, { wantsUsage: true }).chunks).toEqual([withOurs(delta('a', 'stop')), withOurs(behind)]);
    }
  });

  it('holds no text behind anything, loses none, and makes its receipt of the whole, whatever pauses there are', () => {
    const counted = { usage: usageChunk.usage };
    const kinds = [
      (word: string) => delta(word),
      (word: string) => delta(word, null, 1),
      (word: string) => delta(word, 'stop'),
      (word: string) => ({ ...delta(word, 'stop', 1), ...counted }),
      (word: string) => ({ ...delta(word), ...counted }),
      (word: string) => ({ id: 'c1', choices: [{ index: 0, delta: word }] }),
      () => delta('', 'stop'),
      () => delta('', 'stop', 1),
      () => usageChunk,
      () => ({ ...usageChunk, choices: [{ index: 0, delta: { tool_calls: [] } }] }),
      () => ({ id: 'c1', choices: ['x'.repeat(100)] }),
    ];
    const wordsOf = (text: string) => text.match(/w\d+(?=")/g) ?? [];
    fc.assert(
      fc.property(
        fc.array(fc.tuple(fc.constantFrom(...kinds), fc.boolean()), { maxLength: 10 }),
        fc.integer({ min: 1, max: 3 }),
        fc.boolean(),
        (parts, expectedChoices, wantsUsage) => {
          const bytes: number[] = [];
          const options = {
            reader: chatReader(wantsUsage, expectedChoices),
            addresses,
            energyReader: null,
            refusalFor,
            ...eventBounds,
          };
          const receipt = ({ said }: StreamFacts) => {
            bytes.push(said.answerBytes);
            return made;
          };
          const stream = new EventStream({ ...options, receipt });
          const events = parts.map(([kind], at) => event(kind(`w${at}`)));
          let out = '';
          for (const [at, [, pauses]] of parts.entries()) {
            out += pushed(stream, Buffer.from(events[at] ?? '')).toString();
            // Only the last that was said can wait.
            const before = wordsOf(events.slice(0, at + 1).join('')).slice(0, -1);
            expect(wordsOf(out).slice(0, before.length)).toEqual(before);
            if (!pauses) continue;
            stream.giveUpWaiting();
            out += stream.take().toString();
            expect(stream.waitsFrom).toBeNull();
            expect(wordsOf(out)).toEqual(wordsOf(events.slice(0, at + 1).join('')));
          }
          out += pushed(stream, Buffer.from(event('[DONE]'))).toString();
          expect(wordsOf(out)).toEqual(wordsOf(events.join('')));
          const { answerBytes } = stream.facts.said;
          expect(bytes).toHaveLength(1);
          expect(bytes[0] === answerBytes || stream.wentOn).toBe(true);
          const chunks = dataOf(out).filter((each) => each !== '[DONE]');
          const usages = (texts: readonly string[]) => texts.filter((each) => each.includes('"usage":{'));
          expect(usages(chunks)).toHaveLength(wantsUsage ? usages(events).length : 0);
          for (const each of usages(chunks))
            expect(each.includes('"receipt_id"')).toBe(each.includes('"routing_trace"'));
        },
      ),
      { numRuns: cases(1000) },
    );
  });

  it('comes out the same however the bytes are cut', () => {
    fc.assert(
      fc.property(fc.array(fc.integer({ min: 0, max: 40 }), { maxLength: 60 }), fc.boolean(), (cuts, wantsUsage) => {
        expect(run(usual, { cuts, wantsUsage }).raw).toBe(run(usual, { wantsUsage }).raw);
      }),
    );
  });

  it('reads events that end in CRLF, comments, and data over several lines', () => {
    const text = `: hello\r\n\r\n${JSON.stringify(delta('a')).replace(/^/, 'data: ')}\r\n\r\ndata: {"choices":\ndata: []}\n\n${event(delta('', 'stop'))}${event('[DONE]')}`;
    const { raw, chunks } = run(text);
    expect(raw).not.toContain('hello');
    expect(chunks).toHaveLength(3);
    expect(chunks.at(-1)).toHaveProperty('gw');
  });

  it('puts the receipt on the last of several choices that finish one after the other', () => {
    const { chunks } = run(
      event(delta('', 'stop', 0)) + event(delta('', 'length', 1)) + event(usageChunk) + event('[DONE]'),
      { choices: 2 },
    );
    expect(chunks.map((chunk) => 'gw' in chunk)).toEqual([false, true]);
    // Even if the provider sends more choices than were asked for.
    const more = run(event(delta('', 'stop', 0)) + event(delta('', 'stop', 1)) + event(usageChunk) + event('[DONE]'));
    expect(more.chunks.map((chunk) => 'gw' in chunk)).toEqual([false, true]);
  });

  it('waits for no usage while a choice is still being written', () => {
    const stream = new EventStream({
      reader: chatReader(false, 2),
      addresses,
      energyReader: null,
      ...eventBounds,
      refusalFor,
      receipt: () => {
        throw new Error('too early');
      },
    });
    expect(pushed(stream, Buffer.from(event(delta('', 'stop', 0)))).toString()).toBe(event(delta('', 'stop', 0)));
    expect(stream.waitsFrom).toBeNull();
  });

  it('takes the last usage of a provider that counts as it goes', () => {
    const early = { id: 'c1', choices: [], usage: { prompt_tokens: 7, completion_tokens: 0 } };
    for (const wantsUsage of [false, true]) {
      const text = event(early) + event(delta('a')) + event(delta('', 'stop')) + event(usageChunk) + event('[DONE]');
      const { chunks, asked } = run(text, { wantsUsage });
      expect(asked).toHaveLength(1);
      expect(asked[0]?.said.claim?.completion).toBe(3);
      expect(chunks.at(-1)).toMatchObject(additions);
      expect(chunks.filter((chunk) => chunk.usage !== undefined)).toHaveLength(wantsUsage ? 2 : 0);
    }
  });

  it('takes the last of several usage chunks at its end, also a smaller one', () => {
    const first = { id: 'c1', choices: [], usage: { prompt_tokens: 7, completion_tokens: 90 } };
    for (const wantsUsage of [false, true]) {
      const text = event(delta('a', 'stop')) + event(first) + event(usageChunk) + event('[DONE]');
      const { chunks, asked } = run(text, { wantsUsage });
      expect(asked[0]?.said.claim?.completion).toBe(3);
      expect(chunks.map((chunk) => 'gw' in chunk)).toEqual(wantsUsage ? [true, false, true] : [true]);
    }
  });

  it('tells a running count from one that covers the text', () => {
    const running = { ...delta('a'), usage: { prompt_tokens: 7, completion_tokens: 1 } };
    const stale = (text: string) => run(text).asked[0]?.said.isStale;
    expect(stale(event(running) + event(delta('b')) + event(delta('', 'stop')) + event('[DONE]'))).toBe(true);
    expect(stale(event(running) + event(delta('', 'stop')) + event('[DONE]'))).toBe(false);
    expect(stale(event(delta('b')) + event(running))).toBe(false);
  });

  it('takes usage from the last chunk with choices, and lets nothing overtake that chunk', () => {
    const last = { ...delta('', 'stop'), usage: usageChunk.usage };
    const filtered = { id: 'c1', choices: [], prompt_filter_results: [] };
    for (const wantsUsage of [false, true]) {
      const { chunks, asked } = run(`${event(last)}: note\n\n${event(filtered)}${event('[DONE]')}`, {
        wantsUsage,
      });
      expect(asked[0]?.said.claim?.completion).toBe(3);
      expect(chunks).toEqual([withOurs(wantsUsage ? last : delta('', 'stop')), filtered]);
    }
  });

  it('bounds an event that never ends', () => {
    const asked: StreamFacts[] = [];
    const receipt = (facts: StreamFacts) => {
      asked.push(facts);
      return empty;
    };
    const options = {
      reader: chatReader(false),
      addresses,
      energyReader: null,
      ...eventBounds,
      refusalFor,
      receipt,
    };
    const stream = new EventStream(options);
    const piece = Buffer.alloc(1024 * 1024, 'x');
    let out = '';
    for (let count = 0; count < 70 && out === ''; count++) out = pushed(stream, piece).toString();
    expect(out).toContain('upstream_invalid_response');
    expect(stream.waitsFrom).toBeNull();
    expect(asked).toHaveLength(1);
  });

  it('makes a chunk of its own when nothing with choices was left to carry the receipt', () => {
    const { raw, chunks, asked } = run(event(delta('a')) + event('[DONE]'));
    // An ordinary loop reads the first choice without looking.
    const choices = [{ index: 0, delta: {}, finish_reason: null }];
    expect(chunks.at(-1)).toMatchObject({ id: 'c1', object: 'chat.completion.chunk', choices, gw: { id: 'r' } });
    expect(raw.indexOf('"gw"')).toBeLessThan(raw.indexOf('[DONE]'));
    expect(asked[0]).toMatchObject({ said: { claim: null, answerBytes: 1 }, failed: false });
  });

  it('passes an event of many megabytes, in whatever pieces, and refuses one that finds no room', () => {
    const url = `data:image/png;base64,${'A'.repeat(6_000_000)}`;
    const picture = { id: 'c1', choices: [{ index: 0, delta: { images: [{ image_url: { url } }] } }] };
    const text = event(picture) + event(delta('', 'stop')) + event('[DONE]');
    const cuts = Array.from({ length: 90 }, () => 65_536);
    expect(run(text, { cuts }).chunks[0]).toEqual(picture);
    const room = new Room(2 * 1024 * 1024);
    const open = () =>
      new EventStream({
        ...eventBounds,
        room,
        reader: chatReader(false),
        addresses,
        energyReader: null,
        refusalFor,
        receipt: () => made,
      });
    const [one, other] = [open(), open()];
    const half = Buffer.from(text.slice(0, 1_500_000));
    expect([pushed(one, half), one.over, pushed(other, half).length > 0, other.over]).toEqual([
      Buffer.alloc(0),
      null,
      true,
      'failed',
    ]);
    one.close();
    const next = open();
    expect([pushed(next, half), next.over]).toEqual([Buffer.alloc(0), null]);
  });

  it.each([
    ['nothing at all', ''],
    ['comments alone', ': hi\n\n'],
    ['an end alone', event('[DONE]')],
    [
      'a role and the end',
      event({ choices: [{ index: 0, delta: { role: 'assistant', content: '' } }] }) + event('[DONE]'),
    ],
    ['text without an end', event(delta('a'))],
    ['two choices of which one has an end', event(delta('a')) + event(delta('b', null, 1)) + event(delta('', 'stop'))],
  ])('is a failure of the provider: %s', (_, text) => {
    const { chunks, asked, done } = run(text, { choices: 2 });
    expect(chunks.at(-1)).toMatchObject({ error: { code: 'upstream_error' } });
    expect([done, asked]).toMatchObject([false, [{ failed: true }]]);
  });

  it.each([
    ['the end of each choice', event(delta('a')) + event(delta('', 'stop')), 1],
    ['the end of the one choice of two that the provider wrote', event(delta('a')) + event(delta('', 'stop')), 2],
    ['an end event behind text without a reason', event(delta('a')) + event('[DONE]'), 1],
    ['a reason without text', event(delta('', 'content_filter')), 1],
  ])('is whole with %s', (_, text, choices) => {
    expect(run(text, { choices }).asked).toMatchObject([{ failed: false }]);
  });

  it('tells of a prompt that was too long, if nothing was generated before', () => {
    const { chunks, asked, done } = run(event({ error: 'too long' }));
    expect(chunks).toEqual([{ error: expect.objectContaining({ code: 'prompt_too_long', param: 'messages' }) }]);
    expect(asked).toMatchObject([{ failed: true, said: { claim: null } }]);
    expect(done).toBe(false);
    const late = run(event(delta('a')) + event({ error: 'too long' }));
    expect(late.chunks.at(-1).error.code).toBe('upstream_error');
  });

  it('ends with one error event and no [DONE] when the provider reports an error or sends rubbish', () => {
    const failures = [
      event({ error: { message: 'secret detail' } }),
      event({ object: 'error', message: 'secret detail' }),
      'event: error\ndata: {"message":"secret detail"}\n\n',
      'data: {"broken\n\n',
    ];
    for (const bad of failures) {
      const { raw, chunks, asked, done } = run(event(delta('a')) + bad + event(delta('b')) + event('[DONE]'));
      expect(chunks).toHaveLength(2);
      expect(chunks[1].error.type).toBe('inference_error');
      expect(raw).not.toContain('secret detail');
      expect(done).toBe(false);
      expect(asked).toMatchObject([{ said: { claim: null, answerBytes: 1 }, telemetry: null, failed: true }]);
    }
  });

  it('lets no gw or routing_trace of the provider through', () => {
    const forged = { ...delta('a'), gw: { id: 'forged' }, routing_trace: 'forged' };
    const { raw, chunks } = run(
      event(forged) +
        event({ ...delta('', 'stop'), gw: 'forged' }) +
        event({ ...usageChunk, gw: 'forged' }) +
        event('[DONE]'),
    );
    expect(raw).not.toContain('forged');
    expect(chunks.map((chunk) => chunk.gw)).toEqual([undefined, { id: 'r' }]);
  });

  it('asks for the receipt once, whatever comes', () => {
    fc.assert(
      fc.property(
        fc.array(
          fc.constantFrom(
            event(delta('a')),
            event(delta('', 'stop')),
            event(usageChunk),
            event('[DONE]'),
            ': c\n\n',
            'data: x\n\n',
            'rubbish',
          ),
          { maxLength: 12 },
        ),
        fc.boolean(),
        (parts, wantsUsage) => {
          expect(run(parts.join(''), { wantsUsage }).asked).toHaveLength(1);
        },
      ),
    );
  });
});

const joules = (amount: number) => ({ energy_joules: amount });
const impact = { version: '1', energy: { total: 720_000, unit: 'Wms' } };

describe('a stream of a provider that reports energy', () => {
  const comment = (amount: number) => `: energy ${JSON.stringify(joules(amount))}\n\n`;
  const content = event(delta('a')) + event(delta('', 'stop'));

  it('has its receipt made after the energy, which comes behind the usage', () => {
    const text = content + event(usageChunk) + comment(720) + event('[DONE]');
    const { raw, chunks, asked, done } = run(text, { telemetry: 'neuralwatt' });
    expect(asked).toMatchObject([
      { said: { claim: { completion: 3 } }, telemetry: { energyWh: 0.2, source: 'neuralwatt' } },
    ]);
    expect(chunks).toEqual([delta('a'), { ...delta('', 'stop'), ...additions }]);
    expect(raw).not.toContain('energy');
    expect(done).toBe(true);
  });

  it('carries it on the usage chunk if the client asked for one', () => {
    const text = content + event(usageChunk) + comment(720) + event('[DONE]');
    const { raw, chunks, asked } = run(text, { telemetry: 'neuralwatt', wantsUsage: true });
    expect(asked).toMatchObject([{ telemetry: { energyWh: 0.2 } }]);
    expect(chunks).toEqual([delta('a'), withOurs(delta('', 'stop')), withOurs(usageChunk)]);
    expect(raw).not.toContain('energy');
  });

  it('passes a chunk with energy and without usage on, in its place', () => {
    const energyChunk = { id: 'c1', choices: [], impact };
    const text = content + event(usageChunk) + event(energyChunk) + event('[DONE]');
    for (const wantsUsage of [false, true]) {
      const { chunks, asked } = run(text, { telemetry: 'greenpt', wantsUsage });
      expect(asked).toMatchObject([{ telemetry: { energyWh: 0.2, source: 'greenpt' } }]);
      expect(chunks.at(-1)).toEqual(energyChunk);
      expect(chunks.at(-2)).toEqual(withOurs(wantsUsage ? usageChunk : delta('', 'stop')));
    }
  });

  it('reads the energy of a usage chunk that the client does not get', () => {
    const final = { ...usageChunk, environment_impact: { energy_kwh: 0.0002 } };
    const { chunks, asked } = run(content + event(final) + event('[DONE]'), { telemetry: 'melious' });
    expect(asked).toMatchObject([{ telemetry: { energyWh: 0.2, source: 'melious' } }]);
    expect(chunks).toHaveLength(2);
  });

  it('counts the last word, even if it is none that can be believed', () => {
    const last = (amount: number) =>
      run(comment(1) + content + event(usageChunk) + comment(72) + comment(amount) + event('[DONE]'), {
        telemetry: 'neuralwatt',
      }).asked[0]?.telemetry;
    expect(last(720)).toMatchObject({ energyWh: 0.2 });
    expect(last(-720)).toMatchObject({ refused: 'negative' });
  });

  it('believes the configured shape alone', () => {
    const chunk = { ...usageChunk, impact, energy: joules(1), environment_impact: { energy_kwh: 1 } };
    const text = comment(1) + content + event(chunk) + comment(1) + event('[DONE]');
    expect(run(text).asked[0]?.telemetry).toBeNull();
    expect(run(text, { telemetry: 'ecologits_impacts' }).asked[0]?.telemetry).toBeNull();
    expect(run(text, { telemetry: 'gpu_counters' }).asked[0]?.telemetry).toBeNull();
    expect(run(text, { telemetry: 'constructor' }).asked[0]?.telemetry).toBeNull();
    expect(run(text, { telemetry: 'greenpt' }).asked[0]?.telemetry).toMatchObject({ source: 'greenpt' });
  });

  it('reads a comment that is not an event of its own', () => {
    const text = `${content}${event(usageChunk)}: energy {"energy_joules":720}\r\ndata: [DONE]\r\n\r\n`;
    expect(run(text, { telemetry: 'neuralwatt' }).asked).toMatchObject([{ telemetry: { energyWh: 0.2 } }]);
  });

  it('waits no longer for the energy than it is told to', () => {
    const asked: StreamFacts[] = [];
    const receipt = (facts: StreamFacts) => {
      asked.push(facts);
      return empty;
    };
    const energyReader = createEnergyReader('neuralwatt', () => ({}));
    const options = {
      reader: chatReader(true),
      addresses,
      energyReader,
      ...eventBounds,
      refusalFor,
      receipt,
    };
    const stream = new EventStream(options);
    expect(pushed(stream, Buffer.from(content + event(usageChunk))).toString()).toBe(event(delta('a')));
    expect([stream.holding, asked.length]).toEqual([true, 0]);
    stream.giveUpWaiting();
    expect(stream.take().toString()).toContain('"gw"');
    expect(asked).toMatchObject([{ said: { claim: { completion: 3 } }, telemetry: null }]);
    expect(pushed(stream, Buffer.from(comment(720) + event('[DONE]'))).toString()).toBe(event('[DONE]'));
    expect(asked).toHaveLength(1);
  });

  it('holds nothing back while choices are being written, and without energy waits for nothing behind the usage', () => {
    const open = (telemetry: string | null) =>
      new EventStream({
        reader: chatReader(true),
        addresses,
        energyReader: createEnergyReader(telemetry, () => ({})),
        ...eventBounds,
        refusalFor,
        receipt: () => empty,
      });
    const early = event({ id: 'c1', choices: [], usage: { prompt_tokens: 7, completion_tokens: 0 } });
    expect(pushed(open('neuralwatt'), Buffer.from(early)).toString()).toBe(early);
    for (const shape of [null, 'energy_header', 'gpu_counters']) {
      const stream = open(shape);
      stream.push(Buffer.from(content + event(usageChunk)));
      // It is held as half an event is, in case another usage comes with it.
      expect([stream.waitsFrom !== null, stream.holding]).toEqual([true, false]);
      stream.giveUpWaiting();
      expect(stream.take().toString()).toContain('"completion_tokens":3,"gw":{}},"gw":{}');
    }
  });

  it('waits for the usage at the end where an earlier one was a running count', () => {
    const asked: StreamFacts[] = [];
    const receipt = (facts: StreamFacts) => {
      asked.push(facts);
      return empty;
    };
    const options = {
      reader: chatReader(false),
      addresses,
      energyReader: null,
      ...eventBounds,
      refusalFor,
      receipt,
    };
    const stream = new EventStream(options);
    const running = { ...delta('a'), usage: { prompt_tokens: 7, completion_tokens: 1 } };
    stream.push(Buffer.from(event(running) + event(delta('b c', 'stop'))));
    expect([stream.waitsFrom !== null, stream.holding]).toEqual([true, true]);
    stream.push(Buffer.from(event(usageChunk) + event('[DONE]')));
    expect(asked).toMatchObject([{ said: { claim: { completion: 3 }, isStale: false } }]);
  });

  it('sends every chunk of the provider once and in order, however it is cut and whatever comes', () => {
    const parts = [
      comment(720),
      event({ id: 'c1', choices: [], impact }),
      event({ ...usageChunk, energy: joules(1) }),
      event({ ...delta('b'), energy: joules(720) }),
      event(delta('', 'stop')),
      ': note\n\n',
    ];
    fc.assert(
      fc.property(
        fc.array(fc.constantFrom(...parts), { maxLength: 10 }),
        fc.array(fc.integer({ min: 0, max: 60 }), { maxLength: 20 }),
        fc.constantFrom('neuralwatt', 'greenpt', 'energy_header'),
        (events, cuts, telemetry) => {
          const text = [event(delta('a')), ...events, event('[DONE]')];
          const { raw, asked } = run(text.join(''), { cuts, telemetry, wantsUsage: true });
          expect(asked).toHaveLength(1);
          const gw = ',"gw":{"id":"r"},"routing_trace":{"policy":"p"}';
          const usageGw = ',"gw":{"receipt_id":"r"}';
          // A chunk of our own, if nothing was left to carry the receipt, and what is ours on another.
          const bare = raw
            .replaceAll(':\n\n', '')
            .replace(/data: {(?:"id":"c1",)?"object":"chat.completion.chunk",[^\n]*\n\n/, '')
            .replaceAll(gw, '')
            .replaceAll(usageGw, '');
          expect(bare).toBe(text.filter((each) => each.startsWith('data:')).join(''));
        },
      ),
    );
  });
});
