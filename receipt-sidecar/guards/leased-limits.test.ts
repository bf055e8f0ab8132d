/** The limits of calls that a lease has let in, as the client and Envoy meet them. */
import type { IProcessingResponse } from '@gw/grpc/service';
import { quotaStateOf } from '@gw/service/limits/bucket';
import { type Decision, decisionOf } from '@gw/service/limits/decision';
import { drawnLimits } from '@gw/service/limits/drawn-limits';
import type { Limiter } from '@gw/service/limits/limiter';
import { callForTests, chatBody, contextForTests } from '@gw/testing/receipt-sidecar/call';
import { describe, expect, test, vi } from 'vitest';
import { leasedFrom, openLeasedLimits } from './leased-limits.ts';

const morning = Date.parse('2026-11-21T09:00:00Z');
const limits = JSON.stringify({ account: [50, 200, 1000], body: [1024, 4096] });

interface Taken {
  readonly lacking?: number;
  readonly tokens?: number;
  readonly used?: number;
  readonly shadow?: number;
}

/** A call of a lease, and limits that are decided when it is told to. */
function leasedCall(metadata: Readonly<Record<string, string>> = { leased: limits }) {
  const asked: unknown[] = [];
  let answer: (decision: Decision) => void = () => undefined;
  let fail: (error: Error) => void = () => undefined;
  const decide: Limiter['decide'] = (account, kind, drawn) => {
    asked.push([account, kind, drawn]);
    return new Promise((resolve, reject) => {
      answer = resolve;
      fail = reject;
    });
  };
  const decided: [string, boolean][] = [];
  const metrics = {
    decided: (account: string, _: unknown, __: unknown, { admitted }: Decision) => decided.push([account, admitted]),
  };
  const call = callForTests(contextForTests({ limitsOf: openLeasedLimits({ limiter: { decide }, metrics }) }).context);
  return {
    asked,
    decided,
    call,
    ask: (body = chatBody(), bytes = 70_000) => call.ask(body, metadata, { 'content-length': String(bytes) }),
    answers: ({ lacking = 0, tokens = 150_000, used = 7, shadow = 0 }: Taken = {}) => {
      const limit = { rate: { perS: 50, burst: 200 }, perDay: 1000 };
      answer(decisionOf(lacking, shadow, [quotaStateOf(limit, { milliTokens: tokens, used })], morning));
    },
    fails: () => fail(new Error('is broken')),
  };
}

const shownOf = (mutation: NonNullable<IProcessingResponse['immediateResponse']>['headers']) =>
  Object.fromEntries((mutation?.setHeaders ?? []).map(({ header }) => [header?.key, String(header?.rawValue)]));
const fromRedis = {
  'x-ratelimit-limit-requests': '200',
  'x-ratelimit-remaining-requests': '150',
  'x-ratelimit-reset-requests': '0',
  'x-ratelimit-limit-day': '1000',
  'x-ratelimit-remaining-day': '993',
  'x-ratelimit-reset-day': '54000',
};

describe('a leased call', () => {
  test('takes once from its limits, and goes on when Redis has said that they have room', async () => {
    const { answers, ask, asked, call, decided } = leasedCall();
    ask();
    expect(asked).toEqual([['acct', 'calls', drawnLimits('calls', 'acct', limits, 69)]]);
    // The headers alone: no provider is asked before.
    expect(call.answers).toHaveLength(1);
    answers();
    await vi.waitUntil(() => call.answers.length === 2);
    expect(call.answers[1]?.requestBody?.response?.clearRouteCache).toBe(true);
    call.replyHeaders();
    expect(shownOf(call.answers[2]?.responseHeaders?.response?.headerMutation)).toMatchObject(fromRedis);
    expect(decided).toEqual([['acct', true]]);
    expect(call.errors).toEqual([]);
  });

  test('tells Envoy of its limits, for replies that Envoy makes itself', async () => {
    const { answers, ask, call } = leasedCall();
    ask();
    answers();
    await vi.waitUntil(() => call.answers.length === 2);
    const told = { ...fromRedis, receipt_id: expect.stringMatching(/^rcpt_/) };
    expect(call.answers[1]?.dynamicMetadata?.gw).toMatchObject(told);
  });

  test.each([
    ['rate', { lacking: 1, tokens: 400 }, 'requests_per_second_exceeded', '1'],
    ['day', { lacking: 2, used: 1000 }, 'daily_budget_exceeded', '54000'],
  ])('is refused where its %s has no room, as the rate-limit step would, and reaches nobody', async (...row) => {
    const [, taken, code, retryAfter] = row;
    const { answers, ask, call, decided } = leasedCall();
    ask();
    answers(taken);
    await vi.waitUntil(() => call.answers.length === 2);
    const ending = call.answers[1]?.immediateResponse;
    expect(ending?.status?.code).toBe(429);
    expect(JSON.parse(String(ending?.body)).error).toMatchObject({ code, type: 'rate_limit_error' });
    expect(shownOf(ending?.headers)).toMatchObject({ 'retry-after': retryAfter, 'x-ratelimit-limit-day': '1000' });
    expect(decided).toEqual([['acct', false]]);
  });

  test('is let in by a limit in shadow that has no room', async () => {
    const { answers, ask, call } = leasedCall();
    ask();
    answers({ lacking: 1, shadow: 1, tokens: 0 });
    await vi.waitUntil(() => call.answers.length === 2);
    expect(call.answers[1]?.requestBody).toBeDefined();
  });

  test('ends where its limits cannot be decided', async () => {
    const { ask, call, fails } = leasedCall();
    ask();
    fails();
    await vi.waitUntil(() => call.errors.length === 1);
    expect(call.answers).toHaveLength(1);
  });

  test.each([
    ['is refused for its body', { tokens: 150_000 }, 400, 'invalid_json'],
    ['is refused by its limits before its body', { lacking: 1, tokens: 0 }, 429, 'requests_per_second_exceeded'],
  ])('%s, and says where it stands', async (_, taken, status, code) => {
    const { answers, ask, call } = leasedCall();
    ask('{');
    answers(taken);
    await vi.waitUntil(() => call.answers.length === 2);
    const ending = call.answers[1]?.immediateResponse;
    expect([ending?.status?.code, JSON.parse(String(ending?.body)).error.code]).toEqual([status, code]);
    expect(shownOf(ending?.headers)['x-ratelimit-remaining-day']).toBe('993');
  });

  test.each([
    ['has room', {}],
    ['has none', { lacking: 1 }],
  ])('whose client has gone meanwhile is answered no more, if it %s', async (_, taken) => {
    const { answers, ask, call, decided } = leasedCall();
    ask();
    call.close();
    answers(taken);
    await vi.waitUntil(() => decided.length === 1);
    await new Promise((resolve) => setTimeout(resolve, 10));
    expect(call.answers).toHaveLength(1);
    expect(call.errors).toEqual([]);
  });
});

test('any other call takes nothing here, and says nothing of limits', async () => {
  const { ask, asked, call } = leasedCall({});
  ask();
  call.replyHeaders();
  expect(asked).toEqual([]);
  const shown = Object.keys(shownOf(call.answers[2]?.responseHeaders?.response?.headerMutation));
  expect(shown.filter((name) => name.startsWith('x-ratelimit'))).toEqual([]);
});

test('limits that ext-authz has not made end the call', () => {
  expect(() => leasedCall({ leased: '{' }).ask()).toThrow();
});

test('the small bodies that a refused call was to pay for are paid for by the next one that is let in', async () => {
  const asked: (number | null)[] = [];
  let lacking = 0;
  const decide: Limiter['decide'] = async (_account, _kind, { body }) => {
    asked.push(body?.kib ?? null);
    const limit = { rate: { perS: 50, burst: 200 }, perDay: 1000 };
    return decisionOf(lacking, 0, [quotaStateOf(limit, { milliTokens: 0, used: 0 })], morning);
  };
  const take = openLeasedLimits({ limiter: { decide }, metrics: { decided: () => undefined } });
  const ask = (kib: number) => take(leasedFrom('acct', limits), String(kib * 1024)).whenKnown(() => undefined);
  await ask(40);
  lacking = 1;
  for (const _ of [1, 2]) await ask(50);
  lacking = 0;
  await ask(30);
  expect(asked).toEqual([null, 90, 90, 70]);
});
