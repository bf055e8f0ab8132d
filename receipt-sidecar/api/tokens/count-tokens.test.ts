import { longestTokenBytes, tokenizers } from '@gw/contract/internal/tokenizers';
import { cases } from '@gw/testing/cases';
import fc from 'fast-check';
import * as cl100k from 'gpt-tokenizer/encoding/cl100k_base';
import * as o200k from 'gpt-tokenizer/encoding/o200k_base';
import * as p50k from 'gpt-tokenizer/encoding/p50k_base';
import * as r50k from 'gpt-tokenizer/encoding/r50k_base';
import { describe, expect, it, vi } from 'vitest';
import { type CountJob, countTokens } from './count-tokens.ts';
import { decodeTokens } from './decode-tokens.ts';
import { textPieces, windowChars } from './text-pieces.ts';
import { vocabularyOf } from './vocabulary.ts';

const encodings = { o200k_base: o200k, cl100k_base: cl100k, p50k_base: p50k, r50k_base: r50k };
// A vocabulary takes half a second of processor time to read, and the machine may be busy.
vi.setConfig({ testTimeout: 60_000 });

/** All tokens of a text: nothing is below a limit of -1. */
const tokensOf = async (text: string, tokenizer: (typeof tokenizers)[number]) => {
  const job = { texts: [text], together: true, limit: -1, stopAbove: Number.MAX_SAFE_INTEGER };
  return countTokens(job, await vocabularyOf(tokenizer), () => false)?.over;
};
const read = async (lists: readonly (readonly number[])[], tokenizer: (typeof tokenizers)[number], most?: number) =>
  decodeTokens(lists, await vocabularyOf(tokenizer), most);
/** Counts with the package itself, with special tokens as plain text. */
const expected = (text: string, tokenizer: (typeof tokenizers)[number]) =>
  encodings[tokenizer].encode(text, { disallowedSpecial: new Set() }).length;

const anyText = fc.oneof(
  fc.string({ unit: 'grapheme', maxLength: 80 }),
  fc.string({ unit: 'binary', maxLength: 40 }),
  fc.stringMatching(/^[ a-zA-Z'\n\r/.0-9]{0,80}$/),
  fc.constantFrom('<|endoftext|>', '<|im_start|>system', ' '.repeat(300), 'naïve 模型 🧪 ไทย', "I'LL don't WE'RE"),
);

describe('a vocabulary', () => {
  it.each(tokenizers)('counts every text as the tokenizer itself does: %s', async (tokenizer) => {
    const texts = fc.array(anyText, { maxLength: 6 }).map((parts) => parts.join(''));
    await fc.assert(
      fc.asyncProperty(texts, async (text) => {
        const tokens = expected(text, tokenizer);
        expect(await tokensOf(text, tokenizer)).toEqual({ at: 0, tokens, whole: true });
      }),
      { numRuns: cases(300) },
    );
  });

  it.each(tokenizers)('turns tokens back into their text, and special ones into line ends: %s', async (tokenizer) => {
    await fc.assert(
      fc.asyncProperty(fc.array(anyText, { maxLength: 4 }), async (texts) => {
        const lists = texts.map((text) => encodings[tokenizer].encode(text, { disallowedSpecial: new Set() }));
        expect(await read(lists, tokenizer)).toEqual({ texts });
      }),
      { numRuns: cases(100) },
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
      { numRuns: cases(200) },
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
    const job = { together: false, limit: 3, stopAbove: 6 } as const;
    const vocabulary = await vocabularyOf('cl100k_base');
    const count = (more: Partial<CountJob>) => countTokens({ ...job, texts, ...more }, vocabulary, () => false);
    const texts = ['one two three', 'one two three four', 'x '.repeat(1000)];
    expect(count({})).toEqual({ over: { at: 1, tokens: 4, whole: true } });
    expect(count({ texts: texts.slice(2) })).toEqual({ over: { at: 0, tokens: 7, whole: false } });
    expect(count({ texts: texts.slice(0, 1) })).toEqual({ over: null });
    expect(count({ texts: ['a b', 'c d'], together: true })).toMatchObject({
      over: { tokens: 4 },
    });
  });
});

it('gives up on a prompt that takes longer than it may', async () => {
  const job = { texts: ['a'], together: true, limit: 1, stopAbove: 2 };
  expect(countTokens(job, await vocabularyOf('r50k_base'), () => true)).toBeNull();
});

it('makes no text of a list that stands for more than may be', async () => {
  // 128 spaces.
  const spaces = 58_040;
  const decode = (count: number) => read([[1], Array(count).fill(spaces)], 'cl100k_base', 1280);
  expect(await decode(9)).toEqual({ texts: ['"', ' '.repeat(128 * 9)] });
  expect(await decode(10)).toEqual({ tooLong: true });
  expect(await read([Array(1_700_000).fill(spaces)], 'cl100k_base')).toEqual({ tooLong: true });
});

describe('long texts', () => {
  const units = [
    'a',
    'Aa',
    '\u0301',
    'e\u0301',
    '\ufdfa',
    ' ',
    '\n',
    ' \n',
    '!',
    '\\"',
    '<tag>',
    '1',
    '模型',
    '🧪',
    "I'll ",
  ];

  it.each(tokenizers)('are counted to their end, whatever they are made of: %s', async (tokenizer) => {
    // All of them run the same code, so only one is given the longest texts.
    const chars = tokenizer === 'o200k_base' ? cases(4 * 1024 * 1024, 256 * 1024) : 128 * 1024;
    for (const unit of units) {
      const text = unit.repeat(Math.floor(chars / unit.length));
      const over = await tokensOf(text, tokenizer);
      expect(over?.tokens, JSON.stringify(unit)).toBeGreaterThanOrEqual(
        Math.floor(Buffer.byteLength(text) / longestTokenBytes) - 64,
      );
    }
  });

  it.each(tokenizers)('are cut as the pattern cuts them whole: %s', async (tokenizer) => {
    const { pieces } = await vocabularyOf(tokenizer);
    const unit = fc.oneof(anyText, fc.constantFrom('   ', '\n', '\n   \n', '\u0301\u0301', 'Word', "'ll"));
    const texts = fc.array(unit, { minLength: 1, maxLength: 8 });
    fc.assert(
      fc.property(texts, fc.nat(200), (parts, shift) => {
        // So that each of them lies at the end of a window once.
        const text = `${'word '.repeat(windowChars / 5).slice(shift)}${parts.join('')}${' more'.repeat(20)}`;
        const cut = [...textPieces(text, pieces)];
        expect(cut.map((piece) => piece.text)).toEqual([...text.matchAll(pieces)].map(([piece]) => piece));
        expect(cut.every(({ isPart }) => !isPart)).toBe(true);
      }),
      { numRuns: cases(100, 15) },
    );
  });
});
