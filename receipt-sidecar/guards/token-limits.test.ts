/** Limits in tokens as a call meets them: what it takes, what it is told, and what it gives back at each end. */
import { dayMs } from '@gw/contract/internal/durations';
import { fullState, quotaStateOf, takeTogether } from '@gw/service/limits/bucket';
import { decisionOf, keyedLimits, shadowBits } from '@gw/service/limits/decision';
import type { Limiter } from '@gw/service/limits/limiter';
import { callForTests, chatBody, contextForTests } from '@gw/testing/receipt-sidecar/call';
import { expect, test } from 'vitest';
import { openTokenLimits } from './token-limits.ts';

const morning = Date.parse('2026-11-21T09:00:00Z');

/** Limits in memory, and what calls have corrected. */
function inMemory() {
  const states = new Map<string, ReturnType<typeof fullState>>();
  const corrected: number[] = [];
  const limiter: Pick<Limiter, 'correct' | 'decide'> = {
    async decide(accountId, kind, drawn) {
      const levels = keyedLimits(accountId, kind, drawn).map(({ cost = 1, key, limit }) => {
        const state = states.get(key) ?? fullState(limit, morning);
        states.set(key, state);
        return { key, limit, state, cost };
      });
      const lacking = takeTogether(levels, shadowBits(drawn), morning);
      const left = levels.map(({ cost, limit, state }) => quotaStateOf(limit, state, cost));
      return decisionOf(lacking, shadowBits(drawn), left, morning);
    },
    correct: (_account, _kind, _drawn, _taken, more) => void corrected.push(more),
  };
  const metrics = { decided: () => undefined };
  const tokenLimits = openTokenLimits({ limiter, metrics, now: () => morning });
  const { context } = contextForTests({ tokenLimits });
  return { context, corrected, states };
}

const chunk = (fields: object) => `data: ${JSON.stringify(fields)}\n\n`;
const usage = { prompt_tokens: 11, completion_tokens: 3, total_tokens: 14 };
const wholeStream = [
  chunk({ choices: [{ index: 0, delta: { content: 'Hi' } }] }),
  chunk({ choices: [{ index: 0, delta: {}, finish_reason: 'stop' }] }),
  chunk({ choices: [], usage }),
  'data: [DONE]\n\n',
].join('');

async function asked(metadata: Readonly<Record<string, string>>, fields: object = {}, held = inMemory()) {
  const call = callForTests(held.context);
  call.ask(chatBody({ max_tokens: 100, ...fields }), metadata);
  await expect.poll(() => call.answers.length).toBe(2);
  const answer = call.answers[1];
  const { body, headers } = answer?.immediateResponse ?? {};
  const shown = headers?.setHeaders?.map(({ header }) => [header?.key, String(header?.rawValue)]);
  const metadataOf = answer?.dynamicMetadata?.gw as Readonly<Record<string, string>> | undefined;
  return {
    ...held,
    call,
    error: body ? JSON.parse(String(body)).error : null,
    headers: shown ? Object.fromEntries(shown) : (metadataOf ?? {}),
  };
}

test('a call reserves its prompt and its longest answer from account and key, and is told what is left', async () => {
  const { error, headers, states } = await asked({ tokens: '1000/5000', key_tokens: '600/' });
  expect(error).toBeNull();
  const reserved = 1000 - (states.get('gw:limit:{acct}:tokens')?.milliTokens ?? 0) / 1000;
  expect(reserved).toBeGreaterThan(100);
  expect(reserved).toBeLessThan(110);
  expect(states.get('gw:limit:{acct}:tokens')?.used).toBe(reserved);
  expect(headers).toMatchObject({
    'x-ratelimit-limit-tokens': '600',
    'x-ratelimit-remaining-tokens': String(600 - reserved),
    'x-ratelimit-reset-tokens': '0',
    'x-ratelimit-limit-tokens-day': '5000',
    'x-ratelimit-remaining-tokens-day': String(5000 - reserved),
    'x-ratelimit-reset-tokens-day': String(15 * 3600),
  });
});

test('one that finds too little is told the limit, its need, and when to come again', async () => {
  const held = inMemory();
  const of = { tokens: '240/' };
  for (const _ of [1, 2]) expect((await asked(of, {}, held)).error).toBeNull();
  const { error, headers, states } = await asked(of, {}, held);
  const left = (states.get('gw:limit:{acct}:tokens')?.milliTokens ?? 0) / 1000;
  const need = (240 - left) / 2;
  expect(error).toMatchObject({ code: 'tokens_per_minute_exceeded', type: 'rate_limit_error' });
  expect(error.message).toContain('this account is 240 tokens per minute');
  expect(error.message).toContain(
    `${left} are left, and this call needs ${need}, ${need - 100} for its prompt and 100 for`,
  );
  expect(headers).toMatchObject({
    'x-ratelimit-remaining-tokens': String(left),
    'x-ratelimit-reset-tokens': String((need - left) / 4),
    'retry-after': String(Math.ceil((need - left) / 4)),
  });
  expect(headers).not.toHaveProperty('x-should-retry');
});

test('a spent day is refused until midnight, by the limit of the key', async () => {
  const held = inMemory();
  const of = { key_tokens: '/150' };
  await asked(of, {}, held);
  const { error, headers } = await asked(of, {}, held);
  expect(error.code).toBe('tokens_per_day_exceeded');
  expect(error.message).toContain('this API key is 150 tokens per day');
  expect(headers).toMatchObject({
    'retry-after': String((dayMs - (morning % dayMs)) / 1000),
    'x-should-retry': 'false',
  });
});

test.each([
  ['tokens_per_minute_exceeded', { tokens: '50/' }, 'tokens', '60', '0'],
  ['tokens_per_day_exceeded', { tokens: '1000/50' }, 'tokens-day', String(15 * 3600), String(15 * 3600)],
])('one that can never fit is told at once that waiting does not help: %s', async (code, metadata, of, wait, reset) => {
  const { error, headers, states } = await asked(metadata);
  expect(error.code).toBe(code);
  expect(error.message).toContain('can never be let in');
  expect(headers).toMatchObject({
    'x-should-retry': 'false',
    'retry-after': wait,
    [`x-ratelimit-limit-${of}`]: '50',
    [`x-ratelimit-remaining-${of}`]: '50',
    [`x-ratelimit-reset-${of}`]: reset,
  });
  expect([...states.values()].map(({ used }) => used)).toEqual([0]);
});

test('in shadow nothing is refused', async () => {
  const held = inMemory();
  for (const _ of [1, 2, 3]) expect((await asked({ tokens: '50/50:shadow' }, {}, held)).error).toBeNull();
  expect(held.states.get('gw:limit:{acct}:tokens')).toMatchObject({ milliTokens: 50_000, used: 0 });
});

type AskedCall = Awaited<ReturnType<typeof asked>>;
const reservedOf = ({ states }: AskedCall) => 1000 - (states.get('gw:limit:{acct}:tokens')?.milliTokens ?? 0) / 1000;
const longest = 800;
const ends: readonly [string, (call: AskedCall['call']) => void, (reserved: number) => readonly number[]][] = [
  [
    'a whole stream counts what the provider states',
    (call) => {
      call.replyHeaders();
      call.replyBody(wholeStream, true);
    },
    (reserved) => [usage.total_tokens - reserved],
  ],
  [
    'a refusal of the provider counts nothing',
    (call) => call.replyHeaders({ ':status': '400', 'content-type': 'application/json' }),
    (reserved) => [-reserved],
  ],
  ['a client that leaves early counts a typical answer at most', (call) => call.close(), () => [400 - longest]],
];
test.each(ends)('%s, once', async (_, end, corrections) => {
  const held = await asked({ tokens: '1000/' }, { stream: true, max_tokens: longest });
  end(held.call);
  held.call.close();
  await new Promise(setImmediate);
  expect(held.corrected).toEqual(corrections(reservedOf(held)));
});

test('a budget that refuses gives the tokens back', async () => {
  const held = inMemory();
  const reserve = async () => {
    throw new Error('broken');
  };
  const context = { ...held.context, budgets: { reserve } };
  const budgets = JSON.stringify([['bud', 'account', 'tokens', 10, 1, '']]);
  const refused = await asked({ tokens: '1000/', budgets }, {}, { ...held, context });
  expect(refused.error.code).toBe('internal_error');
  expect(refused.corrected).toEqual([-reservedOf(refused)]);
});
