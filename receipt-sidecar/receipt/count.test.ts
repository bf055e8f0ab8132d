import type { JsonObject } from '@gw/contract/internal/strict-json';
import type { ModelFacts, TokenUsage } from '@gw/methodology/assess';
import { powerUse } from '@gw/methodology/power';
import { cases } from '@gw/testing/cases';
import { plainModel } from '@gw/testing/catalogue';
import { countedForTests } from '@gw/testing/receipt-sidecar/asked';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { ReplyCounts } from '../api/openai/reply-counts.ts';
import { parseRequest } from '../api/parse.ts';
import { countCall } from './count.ts';
import type { CountedCall } from './counted-call.ts';

const words = (count: number): string => Array.from({ length: count }, (_, index) => `word${index % 10}`).join(' ');
const hello = { model: 'm', messages: [{ role: 'user', content: 'Hello, what is there to say?' }] };

type Endpoint = 'chat' | 'completions' | 'embeddings' | 'responses';
function requestOf(body: object, endpoint: Endpoint = 'chat') {
  const parsed = parseRequest(endpoint, Buffer.from(JSON.stringify(body)));
  if (!parsed.ok) throw new Error(parsed.error.code);
  return parsed.value.request;
}

interface Told extends Partial<Omit<CountedCall, 'request'>> {
  readonly usage?: unknown;
  readonly body?: object;
  readonly message?: object;
  readonly endpoint?: Endpoint;
}

function count({ usage, body = hello, message = { content: 'hi' }, endpoint, ...more }: Told) {
  const said = new ReplyCounts();
  said.take({ choices: [{ index: 0, message }], usage });
  const call = { contextWindow: 128_000, elapsedS: 0.05, ...more };
  return countCall(said, countedForTests(requestOf(body, endpoint), call));
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

  it('are of as many prompts and answers as the request has', () => {
    const usage = { prompt_tokens: 12, completion_tokens: 2 };
    expect(counted({ usage, body: { ...hello, n: 2 } })).toMatchObject({ answers: 2 });
    expect(counted({ usage, body: { ...hello, n: 2 } })).not.toHaveProperty('prompts');
    const two = { model: 'm', prompt: ['Hello', 'Good day'], n: 2 };
    expect(counted({ usage, body: two, endpoint: 'completions' })).toMatchObject({ prompts: 2, answers: 4 });
    const inputs = { model: 'm', input: ['Hello', 'Good day', 'Good night'] };
    expect(counted({ usage, body: inputs, endpoint: 'embeddings' })).toMatchObject({ prompts: 3 });
  });

  it('are in doubt where the provider may run tools of its own, which nobody measures', () => {
    const usage = { prompt_tokens: 12, completion_tokens: 1 };
    const asked = (type: string) => ({ model: 'm', input: 'Hello', tools: [{ type, name: 'f', parameters: {} }] });
    const told = (type: string) => counted({ usage, body: asked(type), endpoint: 'responses' });
    expect(told('web_search')?.doubts).toContain('ran_tools');
    expect(told('function')?.doubts ?? []).not.toContain('ran_tools');
  });

  it('are in doubt where pictures or sound were encoded, by networks that nobody counts', () => {
    const usage = { prompt_tokens: 900, completion_tokens: 1 };
    const content = (part: object) => [{ role: 'user', content: [{ type: 'text', text: 'Hello' }, part] }];
    const seen = { type: 'image_url', image_url: { url: 'data:image/png;base64,aGVsbG8=' } };
    const heard = { type: 'input_audio', input_audio: { data: 'aGVsbG8=', format: 'wav' } };
    for (const part of [seen, heard])
      expect(counted({ usage, body: { ...hello, messages: content(part) } })?.doubts).toContain('encodes_media');
    const spoken = { ...hello, modalities: ['text', 'audio'], audio: { voice: 'alloy', format: 'wav' } };
    const few = { prompt_tokens: 12, completion_tokens: 1 };
    expect(counted({ usage: few, body: spoken })?.doubts).toContain('encodes_media');
    expect(counted({ usage: few, body: hello })?.doubts ?? []).not.toContain('encodes_media');
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
    refused({ body: { ...limited, n: 2 }, usage: { prompt_tokens: 12, completion_tokens: 99 } }).toContain('than 10 ');
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
    refused({ usage, readsByItself: false }).toContain('the request has');
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

describe('a count beyond what the call shows', () => {
  const visible = { prompt_tokens: 12, completion_tokens: 900 };

  it('is charged with bounds from the text that was delivered, as a model may think unseen', () => {
    const message = { content: words(8) };
    const least = { completionTokens: 900, completionLeast: 5 };
    expect(counted({ usage: visible, message })).toMatchObject({ ...least, doubts: ['hidden_unstated'] });
    expect(counted({ usage: visible, message, hidesReasoning: true })).toMatchObject({ ...least, doubts: ['hidden'] });
    refused({ usage: visible, message, hidesReasoning: false }).toContain('900 visible completion tokens');
    const named = { ...visible, completion_tokens_details: { reasoning_tokens: 890 } };
    expect(counted({ usage: named, message })).not.toHaveProperty('doubts');
  });

  it('is that of a text that the provider withheld, by the words of several', () => {
    for (const reason of [
      'content_filter',
      'SAFETY',
      'content_filtered',
      'guardrail_intervened',
      'sensitive',
      'PROHIBITED_CONTENT',
    ])
      for (const streamed of [false, true]) {
        const said = new ReplyCounts();
        const choice = { index: 0, finish_reason: reason, [streamed ? 'delta' : 'message']: { role: 'assistant' } };
        said.take({ choices: [choice] });
        said.take({ choices: [], usage: visible });
        const result = countCall(said, countedForTests(requestOf(hello), { hidesReasoning: false }));
        expect(result).toMatchObject({ value: { completionTokens: 900, completionLeast: 0, doubts: ['filtered'] } });
      }
    for (const reason of ['stop', 'length', 'tool_calls', 'x'.repeat(1e6)]) {
      const said = new ReplyCounts();
      said.take({ choices: [{ index: 0, finish_reason: reason, text: '' }], usage: visible });
      expect(said.isFiltered).toBe(false);
    }
  });

  it('is charged a little above the limit, or where the text bears it out', () => {
    const body = { ...hello, max_tokens: 5 };
    const six = { prompt_tokens: 9, completion_tokens: 6 };
    expect(counted({ body, usage: six, message: { content: 'a b c d e f' } })).toEqual({
      promptTokens: 9,
      cachedPromptTokens: 0,
      completionTokens: 6,
      completionLeast: 5,
      doubts: ['above_limit'],
    });
    const ignored = { prompt_tokens: 9, completion_tokens: 150 };
    expect(counted({ body, usage: ignored, message: { content: words(100) } })).toMatchObject({
      completionTokens: 150,
    });
    refused({ body, usage: ignored }).toContain('the request limits them');
    // A server that thinks beside the limit.
    expect(counted({ body, usage: ignored, hidesReasoning: true })).toMatchObject({ completionTokens: 150 });
  });

  it('is charged for a prompt that the provider added to, with its own text as the least', () => {
    const usage = { prompt_tokens: 15_000, completion_tokens: 1 };
    const asking = [
      { search_parameters: { mode: 'on' } },
      { enable_search: true },
      { web_search_options: {} },
      { tools: [{ type: 'web_search' }] },
      { tools: [{ type: 'builtin_function', function: { name: 'web_search' } }] },
      { compound_custom: { models: {} } },
      { venice_parameters: { enable_web_search: 'on' } },
    ];
    for (const more of asking)
      expect(counted({ body: { ...hello, ...more }, usage, readsByItself: false })).toMatchObject({
        promptTokens: 15_000,
        promptLeast: expect.closeTo(8, -1),
        doubts: ['read_elsewhere'],
      });
    const completion = { model: 'm', prompt: 'Hello', enable_search: true };
    expect(counted({ body: completion, endpoint: 'completions', usage })).toMatchObject({ doubts: ['read_elsewhere'] });
    expect(counted({ usage, readsByItself: true })).toMatchObject({ doubts: ['read_elsewhere'] });
    expect(counted({ usage })).toMatchObject({ promptTokens: 15_000, promptLeast: 5, doubts: ['read_unstated'] });
    for (const more of [{}, { search_parameters: { mode: 'off' } }, { enable_search: false }])
      refused({ body: { ...hello, ...more }, usage, readsByItself: false }).toContain('the request has');
    const embedded = { model: 'm', input: 'Hello' };
    refused({ body: embedded, endpoint: 'embeddings', usage }).toContain('the request has');
    refused({ usage: { ...usage, prompt_tokens: 128_001 } }).toContain('context window');
  });

  it('is refused above the power of the accelerators in the time, and doubtful from there down', () => {
    const site = { pue: 1.2, wueOnsiteLPerKwh: null, accelerators: { model: 'H100', count: 1 } };
    const thinking = (reasoning_tokens: number, elapsedS: number, model: Partial<ModelFacts> = {}) => ({
      usage: {
        prompt_tokens: 20,
        completion_tokens: reasoning_tokens + 1,
        completion_tokens_details: { reasoning_tokens },
      },
      elapsedS,
      powerOf: (usage: TokenUsage) => powerUse({ ...plainModel, ...model }, site, usage, elapsedS),
    });
    refused(thinking(99_000, 0.03)).toMatch(
      /99001 completion tokens, and no more than \d{4} can be true: 1 accelerator draws no more power in the time/,
    );
    const large = { activeParametersB: { min: 70, max: 70 }, totalParametersB: { min: 70, max: 70 } };
    refused(thinking(20_000, 0.03, large)).toContain('4 accelerators draw');
    const doubtful = counted(thinking(5000, 0.03, large));
    expect(doubtful).toMatchObject({ completionTokens: 5001, doubts: ['too_fast'] });
    expect(doubtful?.completionLeast).toBeLessThan(500);
    expect(counted(thinking(99_000, 300, large))).not.toHaveProperty('doubts');
    // A cache can have read what the request holds.
    const long = { ...hello, messages: [{ role: 'user', content: words(20_000) }] };
    const { powerOf } = thinking(0, 0.03, large);
    const read = { prompt_tokens: 30_000, completion_tokens: 1 };
    expect(counted({ body: long, usage: read, powerOf })).not.toHaveProperty('doubts');
    const unknown = { activeParametersB: null, totalParametersB: null };
    expect(counted(thinking(5000, 0.03, unknown))).not.toHaveProperty('doubts');
    refused(thinking(99_000, 0.03, { ...unknown, modelClass: 'frontier' })).toContain('accelerators draw');
  });
});

describe('what nobody counted', () => {
  const message = { content: words(10) };

  it('of an answer that broke off is bounded by its limit, or by the window', () => {
    const end = { message, isWhole: false, isCutShort: true };
    expect(counted({ ...end, body: { ...hello, max_tokens: 2000, n: 2 } })).toMatchObject({
      completionTokens: 15,
      completionMost: 4000,
    });
    expect(counted(end)).toMatchObject({ completionMost: 128_000 });
    expect(counted({ ...end, contextWindow: null })).not.toHaveProperty('completionMost');
    expect(counted({ ...end, isCutShort: false })).not.toHaveProperty('completionMost');
  });

  it('of a prompt with pictures, sound or files is unknown, and bounded by their size', () => {
    const data = 'x'.repeat(40_000);
    const text = { type: 'text', text: 'What is it?' };
    const image = (url: string) => ({ type: 'image_url', image_url: { url } });
    for (const [part, most] of [
      [image('https://img.test/a.png'), 100_000],
      [image(`data:image/png;base64,${data}`), 40_017],
      [{ type: 'input_audio', input_audio: { data, format: 'wav' } }, 30_000],
      [{ type: 'file', file: { file_data: `data:application/pdf;base64,${data}`, filename: 'a.pdf' } }, 30_021],
      [{ type: 'video_url', video_url: { url: 'https://img.test/a.mp4' } }, 128_000],
      [{ type: 'file', file: { file_id: 'f' } }, 128_000],
    ] as const) {
      const body = { ...hello, messages: [{ role: 'user', content: [text, part] }] };
      const usage = counted({ body, message, contextWindow: 128_000 });
      expect(usage).toMatchObject({ promptTokens: 7, estimated: 'both', doubts: ['parts_uncounted', 'encodes_media'] });
      expect(usage?.promptMost).toBe(Math.min(128_000, most + 7));
      const told = { prompt_tokens: 900, completion_tokens: 15 };
      expect(counted({ body, message, usage: told })).toEqual({
        doubts: ['encodes_media'],
        promptTokens: 900,
        cachedPromptTokens: 0,
        completionTokens: 15,
      });
    }
  });
});

describe('counts that stand elsewhere', () => {
  const usage = { prompt_tokens: 12, completion_tokens: 3 };

  it('are read from the message', () => {
    const found = { promptTokens: 12, cachedPromptTokens: 0, completionTokens: 3 };
    expect(counted({ message: { content: words(2), usage } })).toEqual(found);
  });

  it.each([
    { num_cached_tokens: 9 },
    { cached_prompt_tokens: 9 },
    { cache_read_tokens: 9 },
    { prompt_tokens_details: { cache_read_tokens: 9 } },
    { prompt_tokens_details: { cached_tokens: 0, cache_read_input_tokens: 9 } },
  ])('are read by another name of what a cache gave: %j', (more) => {
    expect(counted({ message: { content: words(2) }, usage: { ...usage, ...more } })).toMatchObject({
      promptTokens: 12,
      cachedPromptTokens: 9,
    });
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
    const result = countCall(said, countedForTests(requestOf(hello)));
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
      const { completionLeast, completionMost, doubts, promptLeast, promptMost } = result.value;
      const { mostPromptTokens, promptTextBytes } = requestOf(body);
      expect(promptTokens).toBeLessThanOrEqual(contextWindow ?? 10_000_000);
      const isBeyond = mostPromptTokens !== null && promptTokens > mostPromptTokens;
      expect((doubts ?? []).some((doubt) => doubt.startsWith('read'))).toBe(isBeyond);
      for (const [least, count, most] of [
        [promptLeast, promptTokens, promptMost],
        [completionLeast, completionTokens, completionMost],
      ] as const) {
        expect(least ?? 0).toBeLessThanOrEqual(count);
        expect(most ?? count).toBeGreaterThanOrEqual(count);
      }
      expect(promptTokens * 128).toBeGreaterThanOrEqual(promptTextBytes);
      expect(cachedPromptTokens).toBeLessThanOrEqual(promptTokens);
      const most = contextWindow ?? 200_000;
      if (estimated) expect(Number.isSafeInteger(completionTokens)).toBe(true);
      else
        expect(completionTokens - Math.max(0, outsideCounts ?? 0)).toBeLessThanOrEqual(
          max_tokens === null ? most : max_tokens + 16,
        );
      if (!estimated) expect(completionTokens).toBeLessThanOrEqual(most);
    }),
    { numRuns: cases(1000) },
  );
});
