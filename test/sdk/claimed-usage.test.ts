/** A provider's token counts are believed as far as they can be true; the rest is estimated or refused. */
import { expect, test } from 'vitest';
import { collect, openAi, quick, receiptOf } from './gateway.ts';

const chat = { model: 'sim-small', messages: [{ role: 'user' as const, content: 'What is the weather?' }] };

/** Returns the receipt and the text of a call by the official client that makes the provider state `usage`. */
async function called(stream: boolean, headers: Record<string, string>, more: object = {}) {
  const options = { headers: { ...quick, ...headers } };
  if (!stream) {
    const reply = await openAi().chat.completions.create({ ...chat, ...more }, options);
    return { receipt: receiptOf(reply), text: reply.choices[0]?.message.content ?? '' };
  }
  const chunks = await collect(await openAi().chat.completions.create({ ...chat, ...more, stream: true }, options));
  const text = chunks.map((chunk) => chunk.choices[0]?.delta.content ?? '').join('');
  return { receipt: receiptOf(chunks.find((chunk) => 'gw' in chunk)), text };
}

const claiming = (usage: unknown, tokens = 400) => ({
  'x-sim-usage': JSON.stringify(usage),
  'x-sim-tokens': String(tokens),
});

test.each([false, true])('what cannot be true degrades the receipt, with both numbers (stream: %s)', async (stream) => {
  const huge = { prompt_tokens: Number.MAX_SAFE_INTEGER, completion_tokens: 1 };
  const limited = { prompt_tokens: 9, completion_tokens: 1_000_000 };
  for (const [usage, more, explanation] of [
    [huge, {}, /9007199254740991 prompt tokens, and no more than \d+ can be true/],
    [limited, { max_tokens: 5 }, /1000000 completion tokens, and no more than 5 can be true: the request limits/],
    [
      { ...limited, completion_tokens: Number.MAX_SAFE_INTEGER },
      {},
      /9007199254740991 .*completion tokens, and no more/,
    ],
  ] as const) {
    const { receipt, text } = await called(stream, claiming(usage, 5), more);
    expect(text).toContain('simulated');
    expect(receipt).toMatchObject({
      tier: 'degraded',
      degraded_reason: 'usage_implausible',
      recalculable: false,
      usage_source: null,
      prompt_tokens: null,
      completion_tokens: null,
      energy_wh: null,
      explanation: expect.stringMatching(explanation),
    });
  }
});

test.each([false, true])('a count that is missing or zero is estimated from the text (stream: %s)', async (stream) => {
  const counted = await called(stream, { 'x-sim-tokens': '400' });
  for (const headers of [
    claiming({ prompt_tokens: 9 }),
    claiming({ prompt_tokens: 9, completion_tokens: null }),
    claiming({ prompt_tokens: 0, completion_tokens: 0 }),
    { 'x-sim-tokens': '400', 'x-sim-fault': 'no-usage' },
  ]) {
    const { receipt, text } = await called(stream, headers);
    expect(receipt).toMatchObject({
      status: 'complete',
      tier: counted.receipt.tier,
      usage_source: 'estimated',
      completion_tokens: Math.ceil(Buffer.byteLength(text) / 4),
    });
    expect(receipt.tier_reason).toContain('estimated from the text');
    const width = (of: typeof receipt) => Number(of.energy_high_wh) / Number(of.energy_low_wh);
    expect(width(receipt)).toBeGreaterThan(1.5 * width(counted.receipt));
  }
});

test('a running count is not a final one', async () => {
  const { receipt, text } = await called(true, { 'x-sim-tokens': '400', 'x-sim-fault': 'running-usage' });
  expect(receipt).toMatchObject({
    usage_source: 'estimated',
    // Its 1 is far below what the text makes.
    prompt_tokens: 9,
    completion_tokens: Math.ceil(Buffer.byteLength(text) / 4),
  });
});

test.each([false, true])('tokens outside of the two counts are charged (stream: %s)', async (stream) => {
  const usage = {
    prompt_tokens: 10,
    completion_tokens: 20,
    total_tokens: 530,
    completion_tokens_details: { reasoning_tokens: 500 },
  };
  const { receipt } = await called(stream, claiming(usage, 20));
  expect(receipt).toMatchObject({ usage_source: 'provider', prompt_tokens: 10, completion_tokens: 520 });
  expect(receipt.tier_reason).toContain('500 tokens that the provider states outside of its two counts');
});

test("DeepSeek's count of a cache is read", async () => {
  const usage = { prompt_tokens: 1000, completion_tokens: 5 };
  const all = await called(false, claiming(usage, 5));
  const hit = { ...usage, prompt_cache_hit_tokens: 900, prompt_cache_miss_tokens: 100 };
  const cached = await called(false, claiming(hit, 5));
  expect(Number(cached.receipt.energy_wh)).toBeLessThan(Number(all.receipt.energy_wh));
  expect(cached.receipt.prompt_tokens).toBe(1000);
});

test('a stream ends with the estimated usage that its client asked for and its provider does not report', async () => {
  const request = { ...chat, stream: true as const, stream_options: { include_usage: true } };
  const headers = { ...quick, 'x-sim-tokens': '40', 'x-sim-fault': 'no-usage' };
  const chunks = await collect(await openAi().chat.completions.create(request, { headers }));
  const last = chunks.at(-1);
  const receipt = receiptOf(last);
  expect(receipt.usage_source).toBe('estimated');
  const { completion_tokens, prompt_tokens } = receipt;
  expect(last).toMatchObject({
    choices: [],
    usage: {
      prompt_tokens,
      completion_tokens,
      total_tokens: Number(prompt_tokens) + Number(completion_tokens),
      gw: { receipt_id: receipt.id, energy_wh: receipt.energy_wh },
    },
  });
  expect(chunks.filter(({ usage }) => usage)).toHaveLength(1);
});
