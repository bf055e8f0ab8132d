/** Limits in tokens as the official clients meet them, through the whole gateway. */
import Anthropic from '@anthropic-ai/sdk';
import OpenAI from 'openai';
import { expect, test } from 'vitest';
import { messages, openAi, quick, stack } from '../sdk/gateway.ts';
import { accountsForFile } from '../sdk/test-account.ts';

const accounts = accountsForFile();
const model = 'sim-large';
const perDay = 1_000_000;

test('what is left falls by the tokens that the provider states, in every API', async () => {
  const key = await accounts.create({ tokensPerMinute: 60_000, tokensPerDay: perDay });
  const openai = openAi(key);
  const anthropic = new Anthropic({ apiKey: key, baseURL: stack.publicUrl, maxRetries: 0, defaultHeaders: quick });
  const chat = { model, messages, max_tokens: 200 };
  const calls = [
    async () => {
      const { data, response } = await openai.chat.completions.create(chat).withResponse();
      return { used: data.usage?.total_tokens, response };
    },
    async () => {
      const { data, response } = await openai.chat.completions
        .create({ ...chat, stream: true, stream_options: { include_usage: true } })
        .withResponse();
      let used: number | undefined;
      for await (const { usage } of data) used = usage?.total_tokens ?? used;
      return { used, response };
    },
    async () => {
      const { data, response } = await openai.responses
        .create({ model, input: 'Hello', max_output_tokens: 200 })
        .withResponse();
      return { used: data.usage?.total_tokens, response };
    },
    async () => {
      const { data, response } = await anthropic.messages.create(chat).withResponse();
      return { used: data.usage.input_tokens + data.usage.output_tokens, response };
    },
  ];
  let sum = 0;
  for (const call of calls) {
    const { response, used = Number.NaN } = await call();
    const left = (name: string) => Number(response.headers.get(`x-ratelimit-${name}`));
    expect([left('limit-tokens'), left('limit-tokens-day')]).toEqual([60_000, perDay]);
    // The call itself has reserved its prompt and its longest answer.
    const reserved = perDay - sum - left('remaining-tokens-day');
    expect(reserved).toBeGreaterThan(200);
    expect(reserved).toBeLessThan(220);
    expect(left('remaining-tokens')).toBeGreaterThanOrEqual(60_000 - sum - reserved);
    sum += used;
  }
});

test('a call without room raises the class, code and headers of a rate limit in both SDKs', async () => {
  const key = await accounts.create({ tokensPerMinute: 3000 });
  const openai = openAi(key);
  const chat = { model, messages, max_tokens: 2900 };
  await openai.chat.completions.create(chat, { headers: { 'x-sim-tokens': '2500' } });
  const refused = await openai.chat.completions.create(chat).catch((error: unknown) => error);
  expect(refused).toBeInstanceOf(OpenAI.RateLimitError);
  const { code, headers, message } = refused as InstanceType<typeof OpenAI.RateLimitError>;
  expect(code).toBe('tokens_per_minute_exceeded');
  expect(message).toMatch(/this account is 3000 tokens per minute: \d+ are left, and this call needs 29\d\d/);
  const waitS = Number(headers.get('retry-after'));
  expect(waitS).toBeGreaterThan(40);
  expect(waitS).toBeLessThanOrEqual(60);
  expect(headers.get('x-ratelimit-limit-tokens')).toBe('3000');
  expect(Number(headers.get('x-ratelimit-remaining-tokens'))).toBeLessThan(600);

  const anthropic = new Anthropic({ apiKey: key, baseURL: stack.publicUrl, maxRetries: 0 });
  const never = await anthropic.messages.create({ ...chat, max_tokens: 4000 }).catch((error: unknown) => error);
  expect(never).toBeInstanceOf(Anthropic.RateLimitError);
  const raised = never as InstanceType<typeof Anthropic.RateLimitError>;
  expect(raised.error).toMatchObject({ error: { type: 'rate_limit_error', code: 'tokens_per_minute_exceeded' } });
  expect(raised.message).toContain('can never be let in');
  expect(raised.headers.get('x-should-retry')).toBe('false');
});
