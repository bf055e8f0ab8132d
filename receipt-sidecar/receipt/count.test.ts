import type { JsonObject } from '@gw/contract/internal/strict-json';
import { cases } from '@gw/testing/cases';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { ReplyCounts } from '../api/openai/reply-counts.ts';
import { parseRequest } from '../api/parse.ts';
import { type CountedCall, countCall } from './count.ts';

const words = (count: number): string => Array.from({ length: count }, (_, index) => `word${index % 10}`).join(' ');
const hello = { model: 'm', messages: [{ role: 'user', content: 'Hello, what is there to say?' }] };

function requestOf(body: object, endpoint: 'chat' | 'completions' | 'embeddings' = 'chat') {
  const parsed = parseRequest(endpoint, Buffer.from(JSON.stringify(body)));
  if (!parsed.ok) throw new Error(parsed.error.code);
  return parsed.value.request;
}

interface Told extends Partial<Omit<CountedCall, 'request'>> {
  readonly usage?: unknown;
  readonly body?: object;
  readonly message?: object;
  readonly endpoint?: 'chat' | 'completions' | 'embeddings';
}

function count({ usage, body = hello, message = { content: 'hi' }, endpoint, ...more }: Told) {
  const said = new ReplyCounts();
  said.take({ choices: [{ index: 0, message }], usage });
  const call = { request: requestOf(body, endpoint), contextWindow: 128_000, elapsedS: 0.05, isWhole: true, ...more };
  return countCall(said, call);
}

const counted = (told: Told) => {
  const result = count(told);
  if (!result.ok) throw new Error(result.error);
  return result.value;
};
const refused = (told: Told) => {
  const result = count(told);
  return expect(result.ok ? '' : result.error);
};

describe("a provider's counts", () => {
  it('are taken as they are where they can be true', () => {
    const usage = { prompt_tokens: 12, completion_tokens: 1, total_tokens: 13 };
    expect(counted({ usage })).toEqual({ promptTokens: 12, cachedPromptTokens: 0, completionTokens: 1 });
  });

  it('above what the request and the reply allow are refused, with both numbers', () => {
    const most = Number.MAX_SAFE_INTEGER;
    refused({ usage: { prompt_tokens: most, completion_tokens: 1 } }).toMatch(
      new RegExp(`${most} prompt .* than \\d+ `),
    );
    refused({ usage: { prompt_tokens: 12, completion_tokens: most } }).toMatch(
      /9007199254740991 completion .* 128000 /,
    );
    refused({ usage: { prompt_tokens: 12, completion_tokens: 1e300 } }).toContain('can be true');
    const limited = { ...hello, max_tokens: 5 };
    refused({ body: limited, usage: { prompt_tokens: 12, completion_tokens: 1_000_000 } }).toBe(
      'The provider states 1000000 completion tokens, and no more than 5 can be true: the request limits them.',
    );
    refused({ body: { ...limited, n: 2 }, usage: { prompt_tokens: 12, completion_tokens: 11 } }).toContain('than 10 ');
    refused({ usage: { prompt_tokens: 12, completion_tokens: 1000 } }).toContain('1000 visible completion tokens');
  });

  it('are bounded by the time where nothing else bounds them', () => {
    const hidden = { completion_tokens_details: { reasoning_tokens: 1_000_000_000 } };
    const usage = { prompt_tokens: 12, completion_tokens: 1_000_000_000, ...hidden };
    refused({ usage, contextWindow: null }).toContain('no hardware writes so fast');
    const some = { prompt_tokens: 12, completion_tokens: 900, completion_tokens_details: { reasoning_tokens: 890 } };
    expect(counted({ usage: some, contextWindow: null })).toMatchObject({ completionTokens: 900 });
  });

  it('of a prompt are bounded where neither its bytes nor a window bound them', () => {
    const content = [{ type: 'file', file: { file_id: 'f' } }];
    const referring = { ...hello, messages: [{ role: 'user', content }] };
    const hosted = { ...hello, tools: [{ type: 'web_search' }] };
    for (const body of [referring, hosted, { ...hello, web_search_options: {} }]) {
      for (const prompt_tokens of [10_000_001, Number.MAX_SAFE_INTEGER, 1e300])
        refused({ body, usage: { prompt_tokens, completion_tokens: 1 }, contextWindow: null }).toContain(
          'no more than 10000000 can be true: no model reads so much',
        );
      const usage = { prompt_tokens: 900_000, completion_tokens: 1 };
      expect(counted({ body, usage, contextWindow: null })).toMatchObject({ promptTokens: 900_000 });
    }
  });

  it('of a prompt below what its text makes are estimated', () => {
    const long = 'x'.repeat(1_000_000);
    const with_ = (message: object) => ({ ...hello, messages: [message] });
    const one = { prompt_tokens: 1, completion_tokens: 1 };
    const user = with_({ role: 'user', content: long });
    expect(counted({ body: user, usage: one, contextWindow: null })).toEqual({
      promptTokens: 250_004,
      cachedPromptTokens: 0,
      completionTokens: 1,
      estimated: 'prompt',
    });
    const least = { ...one, prompt_tokens: 7813 };
    expect(counted({ body: user, usage: least, contextWindow: null })).toMatchObject({ promptTokens: 7813 });
    expect(counted({ body: user, usage: { ...least, prompt_tokens: 7812 } })).toMatchObject({ estimated: 'prompt' });
    // A server that cuts a text off reads a window of it.
    const cut = { body: { model: 'm', input: long }, endpoint: 'embeddings' as const, contextWindow: 512 };
    expect(counted({ ...cut, usage: { prompt_tokens: 512 } })).not.toHaveProperty('estimated');
    const image = { type: 'image_url', image_url: { url: `data:image/png;base64,${long}` } };
    for (const message of [
      { role: 'user', content: [image, { type: 'text', text: 'What is it?' }] },
      { role: 'user', content: `<img src="${image.image_url.url}">` },
      { role: 'assistant', content: `<think>${long}</think>Yes.` },
    ])
      expect(counted({ body: with_(message), usage: one })).toMatchObject({ promptTokens: 1 });
    const tokens = { model: 'm', input: Array.from({ length: 3000 }, () => 1) };
    expect(counted({ body: tokens, endpoint: 'embeddings', usage: { prompt_tokens: 1 } })).not.toHaveProperty(
      'estimated',
    );
  });

  it('of a prompt leave room for templates, tools and images, and for what is sent by reference', () => {
    const usage = { prompt_tokens: 40_000, completion_tokens: 1 };
    refused({ usage }).toContain('the request has');
    const image = { type: 'image_url', image_url: { url: 'https://img.test/a.png' } };
    const with_ = (part: object) => ({ ...hello, messages: [{ role: 'user', content: [part] }] });
    expect(counted({ usage, body: with_(image) })).toMatchObject({ promptTokens: 40_000 });
    const file = { type: 'file', file: { file_id: 'f' } };
    expect(counted({ usage, body: with_(file) })).toMatchObject({ promptTokens: 40_000 });
    refused({ usage: { ...usage, prompt_tokens: 128_001 }, body: with_(file) }).toContain('context window');
    const tokens = { model: 'm', input: Array.from({ length: 3000 }, () => 1) };
    expect(counted({ usage: { prompt_tokens: 3000 }, body: tokens, endpoint: 'embeddings' })).toMatchObject({
      promptTokens: 3000,
      completionTokens: 0,
    });
  });

  it('allow reasoning that was delivered beside the limit of tokens', () => {
    const message = { content: 'hi', reasoning_content: words(400) };
    const usage = { prompt_tokens: 12, completion_tokens: 410 };
    expect(counted({ body: { ...hello, max_tokens: 5 }, message, usage })).toMatchObject({ completionTokens: 410 });
  });

  it('of reasoning outside of the completion are charged', () => {
    const details = { completion_tokens_details: { reasoning_tokens: 500 } };
    const usage = { prompt_tokens: 10, completion_tokens: 20, ...details };
    for (const total of [{ total_tokens: 530 }, { total_tokens: 30 }, {}])
      expect(counted({ usage: { ...usage, ...total } })).toMatchObject({ completionTokens: 520, outsideCounts: 500 });
    const inside = { prompt_tokens: 10, completion_tokens: 520, total_tokens: 530, ...details };
    expect(counted({ usage: inside })).toEqual({ promptTokens: 10, cachedPromptTokens: 0, completionTokens: 520 });
  });

  it('allow reasoning that the provider counts outside of the completion beside the limit, and nothing else', () => {
    const body = { ...hello, max_tokens: 50 };
    const usage = { prompt_tokens: 10, completion_tokens: 2 };
    const details = { completion_tokens_details: { reasoning_tokens: 500 } };
    for (const total of [{ total_tokens: 512 }, {}])
      expect(counted({ body, usage: { ...usage, ...total, ...details } })).toMatchObject({ completionTokens: 502 });
    refused({ body, usage: { ...usage, total_tokens: 1012, ...details } }).toContain('than 550 can be true');
    refused({ body, usage: { ...usage, total_tokens: 512 } }).toContain('than 50 can be true');
    const huge = { completion_tokens_details: { reasoning_tokens: 200_000 } };
    refused({ body, usage: { ...usage, ...huge } }).toContain('context window');
    refused({ body, usage: { ...usage, ...huge }, contextWindow: null }).toContain('no hardware writes so fast');
  });

  it('that contradict their total are read the dearer way, and it is noted', () => {
    const usage = { prompt_tokens: 10, completion_tokens: 20, total_tokens: 9999 };
    expect(counted({ usage })).toMatchObject({ completionTokens: 9989, outsideCounts: 9969 });
    expect(counted({ usage: { ...usage, total_tokens: 0 } })).toMatchObject({
      completionTokens: 20,
      outsideCounts: -30,
    });
    refused({ usage, body: { ...hello, max_tokens: 50 } }).toContain('9989 completion tokens');
  });

  it('of a cache are read in each form', () => {
    const cached = (usage: object) => counted({ usage: { prompt_tokens: 20, completion_tokens: 1, ...usage } });
    expect(cached({ prompt_cache_hit_tokens: 9, prompt_cache_miss_tokens: 11 })).toMatchObject({
      cachedPromptTokens: 9,
    });
    expect(cached({ prompt_cache_miss_tokens: 11 })).toMatchObject({ cachedPromptTokens: 9 });
    expect(cached({ prompt_tokens_details: { cached_tokens: 30 } })).toMatchObject({ cachedPromptTokens: 20 });
    expect(cached({ cache_read_input_tokens: 9 })).toMatchObject({ cachedPromptTokens: 9, promptTokens: 20 });
  });
});

describe('a count that is missing', () => {
  const message = { content: words(400) };

  it('is estimated from the text, never 0', () => {
    for (const completion_tokens of [undefined, null, -1, 1.5, '7', 0]) {
      const usage = counted({ message, usage: { prompt_tokens: 100, completion_tokens } });
      expect(usage).toMatchObject({ promptTokens: 100, estimated: 'completion', completionTokens: 600 });
    }
    expect(counted({ message, usage: { prompt_tokens: 0, completion_tokens: 0 } })).toMatchObject({
      estimated: 'both',
    });
    expect(counted({ message })).toEqual({
      promptTokens: 11,
      cachedPromptTokens: 0,
      completionTokens: 600,
      estimated: 'both',
    });
  });

  it('follows from a total', () => {
    expect(counted({ usage: { prompt_tokens: 12, total_tokens: 20 } })).toEqual({
      promptTokens: 12,
      cachedPromptTokens: 0,
      completionTokens: 8,
    });
  });

  it('counts tool calls and reasoning, and what two names say once', () => {
    const call = { id: 'c', type: 'function', function: { name: 'f', arguments: 'x'.repeat(3999) } };
    expect(counted({ message: { content: null, tool_calls: [call] } })).toMatchObject({ completionTokens: 1000 });
    const thought = { reasoning: 'y'.repeat(400), reasoning_content: 'y'.repeat(400) };
    expect(counted({ message: thought })).toMatchObject({ completionTokens: 100 });
  });

  it('is unknown where there is nothing to count by, however the call ended', () => {
    expect(counted({ message: {} })).toBeNull();
    expect(counted({ message: {}, usage: { prompt_tokens: 10 } })).toBeNull();
    expect(counted({ message: {}, isWhole: false })).toBeNull();
    const none = { prompt_tokens: 10, completion_tokens: 0 };
    expect(counted({ message: {}, usage: none, isWhole: false })).toBeNull();
    expect(counted({ message: {}, usage: none })).toMatchObject({
      completionTokens: 0,
    });
  });

  it('of an embedding is that of its input', () => {
    const body = { model: 'm', input: 'x'.repeat(400) };
    expect(counted({ body, endpoint: 'embeddings', message: {} })).toMatchObject({
      promptTokens: 100,
      completionTokens: 0,
      estimated: 'prompt',
    });
    expect(counted({ body, endpoint: 'embeddings', message: {}, usage: { prompt_tokens: 90 } })).not.toHaveProperty(
      'estimated',
    );
  });
});

describe('a stream', () => {
  const chunk = (content: string, usage?: object) => ({ choices: [{ index: 0, delta: { content } }], usage });
  const streamed = (chunks: readonly { choices: unknown; usage?: object | undefined }[]) => {
    const said = new ReplyCounts();
    for (const each of chunks) said.take(each);
    const result = countCall(said, { request: requestOf(hello), contextWindow: null, elapsedS: 1, isWhole: true });
    return result.ok ? result.value : result.error;
  };

  it('without usage counts its text, not its chunks', () => {
    expect(streamed([chunk(words(400)), chunk(words(400)), chunk(words(400))])).toMatchObject({
      completionTokens: 1800,
      estimated: 'both',
    });
  });

  it('takes no running count for a final one', () => {
    const running = { prompt_tokens: 12, completion_tokens: 1 };
    const text = Array.from({ length: 30 }, () => chunk('and so on'));
    expect(streamed([chunk('a', running), ...text])).toMatchObject({
      promptTokens: 12,
      completionTokens: 68,
      estimated: 'completion',
    });
    // Some count the prompt as they go, too: one far below its text is not a count of all of it.
    expect(streamed([chunk('a', { ...running, prompt_tokens: 1 }), ...text])).toMatchObject({
      promptTokens: 11,
      estimated: 'both',
    });
    expect(streamed([chunk('a', { ...running, completion_tokens: 5 }), chunk('b')])).toMatchObject({
      completionTokens: 5,
      estimated: 'completion',
    });
    expect(streamed([chunk('a', { ...running, completion_tokens: 1e9 }), chunk('b')])).toContain('can be true');
  });
});

it('tells a bound that is one, however much reasoning is claimed', () => {
  const usage = { completion_tokens: 65_536, completion_tokens_details: { reasoning_tokens: 1e21 } };
  expect(count({ usage, body: { ...hello, max_tokens: 1 }, contextWindow: 128_000 })).toMatchObject({
    error: expect.stringContaining('no more than 128000 can be true'),
  });
});

it('nothing that a reply says makes more tokens than request, text, window and time allow, or an exception', () => {
  const number = fc.oneof(fc.nat(2000), fc.maxSafeNat(), fc.double(), fc.constant(null), fc.string());
  const usage = fc.record(
    {
      prompt_tokens: number,
      completion_tokens: number,
      total_tokens: number,
      prompt_cache_hit_tokens: number,
      prompt_cache_miss_tokens: number,
      completion_tokens_details: fc.record({ reasoning_tokens: number, rejected_prediction_tokens: number }),
    },
    { requiredKeys: [] },
  );
  const limits = fc.option(fc.integer({ min: 1, max: 3000 }));
  const windows = fc.constantFrom(128_000, null);
  const asked = fc.constantFrom<JsonObject>(
    hello,
    { ...hello, web_search_options: {} },
    { ...hello, messages: [{ role: 'user', content: [{ type: 'file', file: { file_id: 'f' } }] }] },
    { ...hello, messages: [{ role: 'user', content: words(2000) }] },
  );
  const said = fc.tuple(fc.oneof(usage, fc.jsonValue()), fc.jsonValue());
  fc.assert(
    fc.property(said, asked, limits, windows, ([claimed, content], of, max_tokens, contextWindow) => {
      const body: JsonObject = { ...of, ...(max_tokens !== null && { max_tokens }) };
      const result = count({ usage: claimed, body, message: { content }, contextWindow });
      if (!result.ok) {
        expect(result.error).toMatch(/states (?:\d[\d.e+]*|Infinity) .* than \d+ can be true/);
        return;
      }
      if (result.value === null) return;
      const { cachedPromptTokens, completionTokens, estimated, outsideCounts, promptTokens } = result.value;
      const { mostPromptTokens, promptTextBytes } = requestOf(body);
      expect(promptTokens).toBeLessThanOrEqual(mostPromptTokens ?? contextWindow ?? 10_000_000);
      expect(promptTokens * 128).toBeGreaterThanOrEqual(promptTextBytes);
      expect(cachedPromptTokens).toBeLessThanOrEqual(promptTokens);
      const most = contextWindow ?? 200_000;
      if (estimated) expect(Number.isSafeInteger(completionTokens)).toBe(true);
      else expect(completionTokens - Math.max(0, outsideCounts ?? 0)).toBeLessThanOrEqual(max_tokens ?? most);
      if (!estimated) expect(completionTokens).toBeLessThanOrEqual(most);
    }),
    { numRuns: cases(1000) },
  );
});
