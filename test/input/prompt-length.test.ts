/** A prompt that is too long is one error for the client, whoever notices: the gateway by its bounds or by counting, or the provider. */
import { describe, expect, it } from 'vitest';
import {
  call,
  chatPath,
  expectCompletion,
  expectRefusal,
  invalid,
  newMarker,
  quick,
  reachedProvider,
  send,
} from './ask.ts';

/** The limits of sim-small and sim-large in the seeded catalogue. */
const window = 131_072;
const frame = 7;
/** Each is one token, in all vocabularies. */
const words = (count: number) => Array(count).fill('word').join(' ');
const chat = (content: string, fields: object = {}) => ({ messages: [{ role: 'user', content }], ...fields });

describe('by count', () => {
  it('the last prompt that fits passes, and one token more is refused with both numbers before any provider', async () => {
    const marker = newMarker();
    const full = words(window - frame);
    expectCompletion(await call(chat(full), { 'x-sim-marker': marker }));
    for (const stream of [false, true]) {
      const message = expectRefusal(
        await call(chat(`${full} word`, { stream }), { 'x-sim-marker': marker }),
        invalid('prompt_too_long', 'messages'),
      );
      expect(message).toBe(
        'The prompt is too long: it has 131,073 tokens, which exceeds the context window of sim-small (131,072).',
      );
    }
    expect(await reachedProvider(marker)).toBe(1);
  });

  it('10 MiB of words are refused without counting them all', async () => {
    const message = expectRefusal(await call(chat(words(2_000_000))), invalid('prompt_too_long', 'messages'));
    expect(message).toMatch(
      /^The prompt is too long: it has at least 262,1\d\d tokens, which exceeds the context window of sim-small \(131,072\)\.$/,
    );
  });

  it('of several texts to embed the one that is too long is named; a list of tokens is as long as it is', async () => {
    const embed = (input: unknown) =>
      send({ path: '/v1/embeddings', body: JSON.stringify({ model: 'sim-embed', input }), headers: quick });
    expect(expectRefusal(await embed(['a', words(9000)]), invalid('prompt_too_long', 'input'))).toBe(
      'The prompt is too long: `input[1]` has 9,000 tokens, which exceeds the context window of sim-embed (8,192).',
    );
    expect((await embed(Array(8192).fill(1000))).status).toBe(200);
    expectRefusal(await embed(Array(8193).fill(1000)), invalid('prompt_too_long', 'input'));
  });

  it('a model without a tokenizer leaves it to the provider', async () => {
    expectCompletion(await call({ ...chat(words(window)), model: 'sim-measured' }));
  });
});

describe('by the provider', () => {
  it.each(['too-long-openai', 'too-long-vllm', 'too-long-tgi'])('%s', async (error) => {
    for (const stream of [false, true]) {
      const reply = await call({ stream }, { 'x-sim-fault': error });
      const message = expectRefusal(reply, invalid('prompt_too_long', 'messages'));
      expect(message).toBe(
        'The prompt is too long: it has 130,112 tokens, which exceeds the context window of sim-small (128,000).',
      );
      expect(reply.headers['x-gw-receipt-id']).toMatch(/^rcpt_/);
    }
  });

  it('in the first event of a stream', async () => {
    const reply = await send({
      path: chatPath,
      body: JSON.stringify({ model: 'sim-small', ...chat('hi'), stream: true }),
      headers: { ...quick, 'x-sim-fault': 'too-long-event' },
    });
    expect(reply.status).toBe(400);
    expect(JSON.parse(reply.text).error).toMatchObject({
      code: 'prompt_too_long',
      param: 'messages',
      message:
        'The prompt is too long: it has 130,112 tokens, which exceeds the context window of sim-small (128,000).',
    });
  });
});
