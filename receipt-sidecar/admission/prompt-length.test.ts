import type { ApiError } from '@gw/contract/errors';
import { ok } from '@gw/contract/internal/result';
import type { SnapshotModel } from '@gw/contract/internal/snapshot';
import { longestTokenBytes } from '@gw/contract/internal/tokenizers';
import { cases } from '@gw/testing/cases';
import { emptySnapshot, plainModel } from '@gw/testing/catalogue';
import type { Endpoint } from '@gw/testing/receipt-sidecar/request-fields/field';
import fc from 'fast-check';
import { encode, encodeChat } from 'gpt-tokenizer/model/gpt-4o';
import { describe, expect, it, vi } from 'vitest';
import { parseRequest } from '../api/parse.ts';
import { type ReadLists, tokenLists } from '../api/token-lists.ts';
import { countTokens } from '../api/tokens/count-tokens.ts';
import { decodeTokens } from '../api/tokens/decode-tokens.ts';
import { vocabularyOf } from '../api/tokens/vocabulary.ts';
import { makeCatalogue } from '../catalogue/snapshot.ts';
import { promptLength } from './prompt-length.ts';

// A vocabulary takes half a second of processor time to read, and the machine may be busy.
vi.setConfig({ testTimeout: 60_000 });

const model = (id: string, contextWindow: number | null, tokenizer: string | null): SnapshotModel => ({
  ...plainModel,
  id,
  contextWindow,
  tokenizer,
});
const empty = makeCatalogue(emptySnapshot);
const catalogueOf = (models: SnapshotModel[]) => ({ ...empty, models: new Map(models.map((each) => [each.id, each])) });
const catalogue = catalogueOf([
  model('small', 100, 'o200k_base'),
  model('unknown', 100, null),
  model('newer', 100, 'o900k_base'),
  model('endless', null, 'o200k_base'),
]);

/** Returns a promise only where the answer needs a vocabulary. */
function ask(endpoint: Endpoint, fields: object, from = catalogue): ApiError | null | Promise<ApiError | null> {
  const parsed = parseRequest(endpoint, Buffer.from(JSON.stringify({ model: 'small', ...fields })));
  if (!parsed.ok) throw new Error(parsed.error.message);
  const length = promptLength(parsed.value.request, parsed.value.body, { allowed: null, models: from.models });
  if (!length || !('job' in length)) return length;
  return vocabularyOf(length.tokenizer).then((vocabulary) => {
    const over = countTokens(length.job, vocabulary, () => false)?.over;
    return over ? length.refusalOf(over) : null;
  });
}
const chat = (content: unknown, fields: object = {}) => ({ messages: [{ role: 'user', content }], ...fields });
const words = (count: number) => Array(count).fill('word').join(' ');
const tooLong = (message: string, param: string) => ({
  code: 'prompt_too_long',
  type: 'validation_error',
  status: 400,
  message,
  param,
});

describe('a prompt', () => {
  it('is refused with its count and what the model takes, by one token too many', async () => {
    // 93 words, 3 tokens of frame and 1 of the role, 3 for the reply.
    expect(await ask('chat', chat(words(93)))).toBeNull();
    expect(await ask('chat', chat(words(94)))).toEqual(
      tooLong(
        'The prompt is too long: it has 101 tokens, which exceeds the context window of small (100).',
        'messages',
      ),
    );
    expect(await ask('completions', { prompt: words(100) })).toBeNull();
    expect(await ask('completions', { prompt: words(101) })).toEqual(
      tooLong('The prompt is too long: it has 101 tokens, which exceeds the context window of small (100).', 'prompt'),
    );
    expect(await ask('embeddings', { input: [words(100), words(99), words(150)] })).toEqual(
      tooLong(
        'The prompt is too long: `input[2]` has 150 tokens, which exceeds the context window of small (100).',
        'input',
      ),
    );
  });

  it('is counted as OpenAI counts a chat', async () => {
    const roles = fc.constantFrom('system', 'user', 'assistant');
    const message = fc.record({ role: roles, content: fc.string({ unit: 'grapheme', maxLength: 60 }) });
    await fc.assert(
      fc.asyncProperty(fc.array(message, { minLength: 3, maxLength: 12 }), async (messages) => {
        const tokens = encodeChat(messages as Parameters<typeof encodeChat>[0]).length;
        const bytes = Buffer.byteLength(messages.map(({ content }) => content).join(''));
        const exact = catalogueOf([model('small', tokens, 'o200k_base')]);
        expect(await ask('chat', { messages }, exact)).toBeNull();
        // Below half of the count, or if even one token for 128 bytes were too many, the number is no longer exact.
        const one = catalogueOf([model('small', tokens - 1, 'o200k_base')]);
        const ofText = tokens - (4 * messages.length + 3);
        fc.pre(ofText > Math.ceil(bytes / longestTokenBytes));
        expect(await ask('chat', { messages }, one)).toEqual(
          tooLong(
            `The prompt is too long: it has ${tokens} tokens, which exceeds the context window of small (${tokens - 1}).`,
            'messages',
          ),
        );
      }),
      { numRuns: cases(100) },
    );
  });

  it('of text parts, images, names and tools is counted for what is certain', async () => {
    const image = { type: 'image_url', image_url: { url: `data:image/png;base64,${'A'.repeat(100_000)}` } };
    const text = (count: number) => ({ type: 'text', text: ` ${words(count)}` });
    expect(await ask('chat', chat([text(50), image, text(40)]))).toBeNull();
    const atLeast = tooLong(
      'The prompt is too long: it has at least 107 tokens, which exceeds the context window of small (100).',
      'messages',
    );
    expect(await ask('chat', chat([text(50), image, text(50)]))).toEqual(atLeast);
    expect(await ask('chat', chat([text(50), text(50)]))).toEqual({
      ...atLeast,
      message: 'The prompt is too long: it has 107 tokens, which exceeds the context window of small (100).',
    });
    const tools = [{ type: 'function', function: { name: 'f', description: words(500) } }];
    expect(await ask('chat', chat(words(10), { tools }))).toBeNull();
    expect(await ask('chat', chat(words(100), { tools }))).toEqual(atLeast);
    expect(await ask('chat', { messages: [{ role: 'user', name: 'n', content: words(100) }] })).toEqual(atLeast);
  });

  it('holds special tokens as the plain text that they are', async () => {
    const special = '<|endoftext|>'.repeat(18);
    const tokens = encode(special, { disallowedSpecial: new Set() }).length;
    expect(tokens).toBeGreaterThan(100);
    expect(await ask('completions', { prompt: special })).toMatchObject({
      message: expect.stringContaining(` ${tokens} `),
    });
  });

  it('is only counted exactly up to twice the limit, and not at all if it is too long in any case', async () => {
    expect(await ask('completions', { prompt: words(1000) })).toEqual(
      tooLong(
        'The prompt is too long: it has at least 201 tokens, which exceeds the context window of small (100).',
        'prompt',
      ),
    );
    expect(await ask('completions', { prompt: ' '.repeat(128 * 101) })).toEqual(
      tooLong(
        'The prompt is too long: it has at least 101 tokens, which exceeds the context window of small (100).',
        'prompt',
      ),
    );
    expect(await ask('completions', { prompt: ' '.repeat(128 * 100) })).toBeNull();
  });

  it('that fits by its bytes is not counted, and has its answer at once', () => {
    expect(ask('chat', chat('short'))).toBeNull();
    expect(ask('chat', chat('x'.repeat(93)))).toBeNull();
    expect(ask('embeddings', { input: Array(50).fill('x'.repeat(100)) })).toBeNull();
  });

  it('passes where nothing is known for certain', () => {
    for (const name of ['unknown', 'newer', 'endless', 'no-such-model'])
      expect(ask('chat', chat(words(1000), { model: name })), name).toBeNull();
    for (const field of ['truncate_prompt_tokens', 'truncate', 'truncation'])
      expect(ask('chat', chat(words(1000), { [field]: 'END' })), field).toBeNull();
  });

  it('of tokens is as long as its list, whatever the tokenizer', () => {
    const list = (length: number) => Array(length).fill(1000);
    for (const name of ['small', 'unknown']) {
      const input = (value: unknown) => ask('embeddings', { model: name, input: value });
      expect(input(list(100))).toBeNull();
      expect(input(list(101))).toEqual(
        tooLong(
          `The prompt is too long: it has 101 tokens, which exceeds the context window of ${name} (100).`,
          'input',
        ),
      );
      expect(input([list(2), list(300)])).toEqual(
        tooLong(
          `The prompt is too long: \`input[1]\` has 300 tokens, which exceeds the context window of ${name} (100).`,
          'input',
        ),
      );
    }
  });
});

describe('a list of tokens', () => {
  const read = (
    endpoint: Endpoint,
    fields: object,
    maxBytes?: number,
    allowed: readonly string[] | null = null,
  ): ReadLists | null | Promise<ReadLists> => {
    const parsed = parseRequest(endpoint, Buffer.from(JSON.stringify({ model: 'small', ...fields })));
    if (!parsed.ok) throw new Error(parsed.error.message);
    const lists = tokenLists(parsed.value.request, parsed.value.body, { ...catalogue, allowed });
    if (!lists || !('textsOf' in lists)) return lists;
    return vocabularyOf(lists.tokenizer).then((vocabulary) =>
      lists.textsOf(decodeTokens(lists.lists, vocabulary, maxBytes)),
    );
  };

  it('is read as the text that it stands for', async () => {
    const texts = ['Guten Tag, 模型 🧪', 'second'];
    const lists = texts.map((text) => encode(text));
    expect(await read('embeddings', { input: lists })).toEqual(ok(texts));
    expect(await read('completions', { prompt: lists[0] })).toEqual(ok(texts.slice(0, 1)));
  });

  it('tells nothing of a model that the account cannot use: the route refuses it', () => {
    for (const model of ['unknown', 'nobody has it'])
      expect(read('embeddings', { model, input: [1, 2] }, undefined, ['small'])).toEqual(ok([]));
  });

  it('is refused where it cannot be read', async () => {
    for (const name of ['unknown', 'newer'])
      expect(read('embeddings', { model: name, input: [1, 2] })).toMatchObject({
        error: {
          code: 'invalid_input',
          param: 'input',
          message: expect.stringContaining('check_embedding_ctx_length'),
        },
      });
    expect(await read('completions', { prompt: [1, 999_999] })).toMatchObject({
      error: { code: 'invalid_prompt', param: 'prompt', message: expect.stringContaining('999999') },
    });
  });

  it('is refused where it stands for more text than a body may hold', async () => {
    expect(await read('completions', { prompt: [1] }, 0)).toMatchObject({
      error: { code: 'invalid_prompt', param: 'prompt', message: expect.stringContaining('10 MiB') },
    });
  });

  it.each([
    ['chat', 'prompt', [1, 2]],
    ['chat', 'input', [[1, 2]]],
    ['completions', 'input', [1, 2]],
    ['embeddings', 'prompt', [1, 2]],
    ['completions', 'prompt_token_ids', [1, 2]],
    ['completions', 'prompt_embeds', 'AAAA'],
    ['chat', 'input_ids', [1, 2]],
    ['completions', 'PROMPT_EMBEDS', 'AAAA'],
    ['completions', 'promptEmbeds', 'AAAA'],
    ['chat', 'Input_Ids', [1]],
    ['chat', 'token_data', [1]],
    ['chat', 'Prompt', [1]],
    ['completions', 'INPUT', [[1]]],
    ['embeddings', 'input_embeds', [[0.5]]],
  ] as const)('is refused in a field of %s where nobody would read it: %s', (endpoint, field, value) => {
    const own = { chat: chat('a'), completions: { prompt: 'a' }, embeddings: { input: 'a' } }[endpoint];
    expect(read(endpoint, { ...own, [field]: value })).toMatchObject({
      error: { code: 'invalid_request', status: 400, param: field },
    });
    expect(read(endpoint, { ...own, [field]: null })).toBeNull();
  });

  it('is none where there is text', () => {
    expect(read('embeddings', { input: ['a', 'b'] })).toBeNull();
    expect(read('completions', { prompt: 'a' })).toBeNull();
    expect(read('chat', { ...chat('a'), input: [{ a: 1 }], prompt: ['a'] })).toBeNull();
  });
});
