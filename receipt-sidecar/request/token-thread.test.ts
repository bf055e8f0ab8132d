import { EventEmitter } from 'node:events';
import { Worker } from 'node:worker_threads';
import { longestTokenBytes, tokenizers } from '@gw/contract/internal/tokenizers';
import fc from 'fast-check';
import * as cl100k from 'gpt-tokenizer/encoding/cl100k_base';
import * as o200k from 'gpt-tokenizer/encoding/o200k_base';
import * as p50k from 'gpt-tokenizer/encoding/p50k_base';
import * as r50k from 'gpt-tokenizer/encoding/r50k_base';
import { afterAll, describe, expect, it, vi } from 'vitest';
import { TokenThread, tokenThreadBounds } from './token-thread.ts';

const encodings = { o200k_base: o200k, cl100k_base: cl100k, p50k_base: p50k, r50k_base: r50k };
const faults: string[] = [];
const onFault = (reason: string) => void faults.push(reason);
const patient = { workMs: 60_000, answerMs: 60_000, waitMs: 60_000 };
const bounds = { ...tokenThreadBounds, ...patient, onFault };
const thread = new TokenThread(bounds);
// A vocabulary takes half a second of processor time to read, and the machine may be busy.
vi.setConfig({ testTimeout: 60_000 });
afterAll(() => thread.stop());

/** All tokens of a text: nothing is below a limit of -1. */
const tokensOf = async (text: string, tokenizer: (typeof tokenizers)[number]) => {
  const job = { account: 'a', texts: [text], together: true, tokenizer, limit: -1, stopAbove: Number.MAX_SAFE_INTEGER };
  return (await thread.count(job))?.over;
};
const read = (lists: readonly (readonly number[])[], tokenizer: (typeof tokenizers)[number]) =>
  thread.decode({ account: 'a', lists, tokenizer });
/** By the package itself, with special tokens as plain text. */
const expected = (text: string, tokenizer: (typeof tokenizers)[number]) =>
  encodings[tokenizer].encode(text, { disallowedSpecial: new Set() }).length;

const anyText = fc.oneof(
  fc.string({ unit: 'grapheme', maxLength: 80 }),
  fc.string({ unit: 'binary', maxLength: 40 }),
  fc.stringMatching(/^[ a-zA-Z'\n\r/.0-9]{0,80}$/),
  fc.constantFrom('<|endoftext|>', '<|im_start|>system', ' '.repeat(300), 'naïve 模型 🧪 ไทย', "I'LL don't WE'RE"),
);

describe('the thread', () => {
  it.each(tokenizers)('counts every text as the tokenizer itself does: %s', async (tokenizer) => {
    const texts = fc.array(anyText, { maxLength: 6 }).map((parts) => parts.join(''));
    await fc.assert(
      fc.asyncProperty(texts, async (text) => {
        const tokens = expected(text, tokenizer);
        expect(await tokensOf(text, tokenizer)).toEqual({ at: 0, tokens, whole: true });
      }),
      { numRuns: 300 },
    );
  });

  it.each(tokenizers)('turns tokens back into their text, and special ones into line ends: %s', async (tokenizer) => {
    await fc.assert(
      fc.asyncProperty(fc.array(anyText, { maxLength: 4 }), async (texts) => {
        const lists = texts.map((text) => encodings[tokenizer].encode(text, { disallowedSpecial: new Set() }));
        expect(await read(lists, tokenizer)).toEqual({ texts });
      }),
      { numRuns: 100 },
    );
    const end = { o200k_base: 199_999, cl100k_base: 100_257, p50k_base: 50_256, r50k_base: 50_256 }[tokenizer];
    expect(await read([[end]], tokenizer)).toEqual({ texts: ['\n'] });
    for (const unknown of [300_000, 2 ** 32, Number.MAX_SAFE_INTEGER])
      expect(await read([[0], [1, unknown, 2]], tokenizer)).toEqual({ unknown });
  });

  it.each(tokenizers)('reads any numbers as the bytes that they stand for: %s', async (tokenizer) => {
    const { default: tokens } = await import(`gpt-tokenizer/bpeRanks/${tokenizer}`);
    const bytesOf = (number: number) => Buffer.from(tokens[number] ?? '\n');
    // The bytes of letters that need several are among the first numbers.
    const number = fc.oneof(fc.nat(300), fc.nat(50_256));
    await fc.assert(
      fc.asyncProperty(fc.array(number, { maxLength: 30 }), async (list) => {
        const texts = [Buffer.concat(list.map(bytesOf)).toString('utf8')];
        expect(await read([list], tokenizer)).toEqual({ texts });
      }),
      { numRuns: 200 },
    );
  });

  it.each(tokenizers)('knows of no token longer than the stated bound: %s', async (tokenizer) => {
    const { default: tokens } = await import(`gpt-tokenizer/bpeRanks/${tokenizer}`);
    const lengths = (tokens as (string | number[] | undefined)[]).map((token) => Buffer.from(token ?? '').length);
    expect(lengths.reduce((longest, length) => Math.max(longest, length), 0)).toBe(longestTokenBytes);
  });

  it('counts a piece of thousands of letters exactly, and a longer one for the least that it can be', async () => {
    const word = Array.from({ length: 3000 }, (_, at) => 'etaoinshrdlu'[(at * at + at) % 12]).join('');
    expect(await tokensOf(word, 'cl100k_base')).toMatchObject({ tokens: expected(word, 'cl100k_base'), whole: true });
    const long = await tokensOf('a'.repeat(128_000), 'cl100k_base');
    expect(long).toEqual({ at: 0, tokens: 1000, whole: false });
  });

  it('names the first text above the limit, and stops once the count is high enough', async () => {
    const job = { account: 'a', together: false, tokenizer: 'cl100k_base', limit: 3, stopAbove: 6 } as const;
    const texts = ['one two three', 'one two three four', 'x '.repeat(1000)];
    expect(await thread.count({ ...job, texts })).toEqual({ over: { at: 1, tokens: 4, whole: true } });
    expect(await thread.count({ ...job, texts: texts.slice(2) })).toEqual({ over: { at: 0, tokens: 7, whole: false } });
    expect(await thread.count({ ...job, texts: texts.slice(0, 1) })).toEqual({ over: null });
    expect(await thread.count({ ...job, texts: ['a b', 'c d'], together: true })).toMatchObject({
      over: { tokens: 4 },
    });
  });
});

describe('a job ends without an answer', () => {
  const job = { account: 'a', texts: ['a'], together: true, tokenizer: 'r50k_base', limit: 1, stopAbove: 2 } as const;
  const stubborn = () => new Worker('setInterval(() => {}, 1000)', { eval: true });

  it('when the thread dies, and the next one gets a new thread', async () => {
    let starts = 0;
    const dying = () =>
      new Worker(`require('node:worker_threads').parentPort.on('message', () => process.exit(1))`, { eval: true });
    const fragile = new TokenThread({
      ...bounds,
      start: () => (starts++ === 0 ? dying() : new Worker(new URL('./token-worker.js', import.meta.url))),
    });
    expect(await Promise.all([fragile.count(job), fragile.count(job)])).toEqual([null, { over: null }]);
    expect(faults).toContain('ended');
    await fragile.stop();
  });

  it('when the thread does not answer in time', async () => {
    const slow = new TokenThread({ ...bounds, answerMs: 20, start: stubborn });
    expect(await slow.count(job)).toBeNull();
    expect(faults).toContain('gave no answer');
    await slow.stop();
  });

  it('when counting takes longer than it may', async () => {
    const hasty = new TokenThread({ ...bounds, workMs: -1 });
    expect(await hasty.count(job)).toBeNull();
    await hasty.stop();
  });

  it('when too much waits already, at once', async () => {
    const busy = new TokenThread({ ...bounds, maxJobs: 2, maxSize: 10, start: stubborn });
    const waiting = [busy.count(job), busy.count(job)];
    expect(await busy.count(job)).toBeNull();
    await busy.stop();
    expect(await Promise.all(waiting)).toEqual([null, null]);
    const large = new TokenThread({ ...bounds, maxSize: 10, maxSizeOfAccount: 10, start: stubborn });
    const first = large.count({ ...job, texts: ['x'.repeat(11)] });
    expect(await large.count(job)).toBeNull();
    await large.stop();
    expect(await first).toBeNull();
  });

  it('when it waits too long for its turn, alone: the thread that is busy with another one is not ended', async () => {
    let starts = 0;
    const busy = new TokenThread({ ...bounds, waitMs: 20, start: () => [stubborn(), starts++][0] as Worker });
    const first = busy.count(job);
    expect(await Promise.all([busy.count(job), busy.count({ ...job, account: 'b' })])).toEqual([null, null]);
    expect(starts).toBe(1);
    expect(await Promise.race([first, Promise.resolve('still at work')])).toBe('still at work');
    await busy.stop();
    expect(await first).toBeNull();
  });

  it('when a list stands for more text than may be, before any of it is made', async () => {
    // 128 spaces.
    const spaces = 58_040;
    const small = new TokenThread({ ...bounds, maxTextBytes: 1280 });
    const decode = (count: number) =>
      small.decode({ account: 'a', lists: [[1], Array(count).fill(spaces)], tokenizer: 'cl100k_base' });
    expect(await decode(9)).toEqual({ texts: ['"', ' '.repeat(128 * 9)] });
    expect(await decode(10)).toEqual({ tooLong: true });
    await small.stop();
    expect(await read([Array(1_700_000).fill(spaces)], 'cl100k_base')).toEqual({ tooLong: true });
  });
});

it('the time for an answer is that of the job which the thread has, not of the ones that wait', async () => {
  vi.useFakeTimers();
  try {
    /** Takes three seconds for each job, and does one after the other, as the real one does. */
    class SlowWorker extends EventEmitter {
      #freeAt = 0;
      postMessage({ id }: { id: number }): void {
        this.#freeAt = Math.max(this.#freeAt, Date.now()) + 3000;
        setTimeout(() => this.emit('message', { id, result: { over: null } }), this.#freeAt - Date.now());
      }
      ref = () => undefined;
      unref = () => undefined;
      terminate = async () => 0;
    }
    const before = faults.length;
    const start = () => new SlowWorker() as unknown as Worker;
    const slow = new TokenThread({ ...bounds, answerMs: 3500, start });
    const job = { account: 'a', texts: ['a'], together: true, tokenizer: 'r50k_base', limit: 1, stopAbove: 2 } as const;
    const answers = Promise.all(Array.from({ length: 8 }, () => slow.count(job)));
    await vi.advanceTimersByTimeAsync(24_000);
    expect(await answers).toEqual(Array(8).fill({ over: null }));
    expect(faults.slice(before)).toEqual([]);
  } finally {
    vi.useRealTimers();
  }
});
