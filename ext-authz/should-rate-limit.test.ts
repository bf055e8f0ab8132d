import type { ShadowLimit } from '@gw/contract/access';
import { dayMs } from '@gw/contract/internal/durations';
import type { FoundKey } from '@gw/prisma/find-key';
import { everyLimit, fullState, quotaStateOf, takeTogether } from '@gw/service/limits/bucket';
import { bodyKib, drawnLimits } from '@gw/service/limits/drawn-limits';
import type { Limiter } from '@gw/service/limits/limiter';
import { storedKey } from '@gw/testing/ext-authz/stored-key';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { limitsText } from './caller.ts';
import { type AdmissionOptions, openAdmission } from './limits/admission.ts';
import { makeShouldRateLimit } from './should-rate-limit.ts';

const addresses = { baseUrl: 'http://gw.test', statusUrl: '', auditEmail: '', securityEmail: '' };
const morning = Date.parse('2026-11-21T09:00:00Z');
type Sublimit = NonNullable<FoundKey['limits']>;

const keyWith = (
  limits: { ratePerS: number; burst: number; perDay: number },
  sub: Partial<Sublimit> | null = null,
  shadow: readonly ShadowLimit[] = [],
): FoundKey =>
  storedKey({
    limits: sub && {
      ratePerS: null,
      burst: null,
      perDay: null,
      streams: null,
      tokensPerMinute: null,
      tokensPerDay: null,
      ...sub,
    },
    account: { tier: 'enterprise', limits: { ...limits, streams: 1 }, shadow },
  });

const stepWith = (options: Pick<AdmissionOptions, 'limiter'> & Partial<AdmissionOptions>) =>
  makeShouldRateLimit({
    admission: openAdmission({ giveBack: () => {}, metrics: { decided: () => {} }, ...options }),
    addresses,
  });

/** Decides in memory; `clock.ms` is the time. */
function setUp(key: FoundKey, kind = 'calls') {
  const clock = { ms: morning };
  const text = limitsText(key);
  const { levels } = drawnLimits(kind, 'acct', text, 0);
  const states = levels.map(({ limit }) => fullState(limit, clock.ms));
  const limiter: Pick<Limiter, 'decide'> = {
    decide: async (_account, _kind, drawn) => {
      const shadow =
        (drawn.shadow.includes('rate') ? everyLimit.rate : 0) | (drawn.shadow.includes('day') ? everyLimit.day : 0);
      const pairs = levels.map(({ limit }, index) => ({ limit, state: states[index] ?? fullState(limit, clock.ms) }));
      const lacking = takeTogether(pairs, shadow, clock.ms);
      return {
        admitted: (lacking & ~shadow) === 0,
        lacking,
        quotaStates: pairs.map(({ limit, state }) => quotaStateOf(limit, state)),
        untilMidnightMs: dayMs - (clock.ms % dayMs),
      };
    },
  };
  const decide = stepWith({ limiter });
  const entries = Object.entries({ kind, account_id: 'acct', limits: text }).map(([name, value]) => ({
    key: name,
    value,
  }));
  const ask = async () => {
    const { overallCode, rawBody, responseHeadersToAdd = [] } = await decide({ descriptors: [{ entries }] });
    const headers = Object.fromEntries(responseHeadersToAdd.map(({ key: name, value }) => [name, value]));
    const error = rawBody ? JSON.parse(Buffer.from(rawBody).toString()).error : null;
    return { admitted: overallCode === 1, headers, error };
  };
  return { ask, clock };
}

describe('what a body costs', () => {
  test.each([
    ['0', 0],
    ['1', 1],
    ['65535', 64],
    ['64512', 63],
    ['65536', 64],
    ['1048576', 1024],
    ['10485761', 10_241],
    ['16777216', 16_384],
    ['99999999999', 16_384],
    [undefined, 10_240],
  ])('of the length %s: %d KiB', (length, kib) => expect(bodyKib(length)).toBe(kib));

  test('nothing where bytes do not count', () => {
    expect(drawnLimits('calls', 'a', limitsText(keyWith({ ratePerS: 1, burst: 1, perDay: 1 })), 0).body).toBeNull();
  });

  test('is drawn on by what Envoy says of it, and a refusal names size, limit and wait', async () => {
    const seen: unknown[] = [];
    const limiter: Pick<Limiter, 'decide'> = {
      decide: async (_account, _kind, drawn) => {
        seen.push(drawn.body?.kib ?? null);
        const quotaStates = [
          { remaining: 5, nextTokenMs: 0, remainingDay: 7 },
          { remaining: 0, nextTokenMs: 1500, remainingDay: null },
        ];
        return { admitted: drawn.body === null, lacking: drawn.body ? 4 : 0, quotaStates, untilMidnightMs: dayMs };
      },
    };
    const decide = stepWith({ limiter });
    const limits = limitsText(keyWith({ ratePerS: 10, burst: 10, perDay: 10 }));
    const ask = (more: Record<string, string>, kind = 'calls') => {
      const entries = Object.entries({ kind, account_id: 'acct', limits, ...more });
      return decide({ descriptors: [{ entries: entries.map(([key, value]) => ({ key, value })) }] });
    };
    for (const more of [{}, { content_length: '1048576' }, { content_length: '10' }])
      expect((await ask(more)).overallCode).toBe(1);
    await ask({ body: 'counts', content_length: '10' });
    await ask({ body: 'counts' });
    const refused = await ask({ body: 'counts', content_length: '10485760' });
    await ask({ body: 'counts', content_length: '10485760' }, 'management');
    expect(seen).toEqual([null, null, null, 1, 10_240, 10_240, null]);
    const { error } = JSON.parse(Buffer.from(refused.rawBody ?? '').toString());
    expect(error).toMatchObject({ code: 'bytes_per_second_exceeded', type: 'rate_limit_error', param: null });
    expect(error.message).toMatch(
      /^This body counts 10 MiB, and the account may send 256 MiB per second, bursts of up to 4096\./,
    );
    const headers = Object.fromEntries((refused.responseHeadersToAdd ?? []).map(({ key, value }) => [key, value]));
    expect(headers).toMatchObject({
      'retry-after': '2',
      'x-ratelimit-remaining-requests': '5',
      'x-ratelimit-remaining-day': '7',
    });
  });
});

describe('the rate-limit step', () => {
  test('tells on every reply where the client stands', async () => {
    const { ask } = setUp(keyWith({ ratePerS: 2, burst: 2, perDay: 100 }));
    const day = { 'x-ratelimit-limit-day': '100', 'x-ratelimit-reset-day': '54000' };
    expect((await ask()).headers).toEqual({
      ...day,
      'x-ratelimit-limit-requests': '2',
      'x-ratelimit-remaining-requests': '1',
      'x-ratelimit-reset-requests': '0',
      'x-ratelimit-remaining-day': '99',
    });
    await ask();
    expect(await ask()).toMatchObject({
      admitted: false,
      error: { code: 'requests_per_second_exceeded', type: 'rate_limit_error' },
      headers: {
        ...day,
        'x-ratelimit-remaining-requests': '0',
        'x-ratelimit-reset-requests': '0.5',
        'x-ratelimit-remaining-day': '98',
        'retry-after': '1',
        'content-type': 'application/json',
      },
    });
  });

  test('refuses a spent day until midnight UTC, which is no wait for an SDK', async () => {
    const { ask, clock } = setUp(keyWith({ ratePerS: 10, burst: 10, perDay: 1 }));
    await ask();
    const refused = await ask();
    expect(refused.error.code).toBe('daily_budget_exceeded');
    expect(refused.headers).toMatchObject({
      'x-ratelimit-remaining-day': '0',
      'x-ratelimit-reset-day': '54000',
      'retry-after': '54000',
      'x-should-retry': 'false',
    });
    clock.ms += 54_000_000 - 30_000;
    expect((await ask()).headers).toMatchObject({ 'retry-after': '30', 'x-ratelimit-reset-day': '30' });
    expect((await ask()).headers).not.toHaveProperty('x-should-retry');
    clock.ms += 30_000;
    expect((await ask()).admitted).toBe(true);
  });

  test('shows the limit that binds most, and names whose limit refused', async () => {
    const { ask } = setUp(keyWith({ ratePerS: 50, burst: 3, perDay: 100 }, { ratePerS: 1, burst: 2, perDay: 90 }));
    expect((await ask()).headers).toMatchObject({
      'x-ratelimit-limit-requests': '2',
      'x-ratelimit-remaining-requests': '1',
      'x-ratelimit-limit-day': '90',
      'x-ratelimit-remaining-day': '89',
    });
    await ask();
    const byKey = await ask();
    expect(byKey.error.message).toContain('this API key is exceeded (1 requests per second');
    expect(byKey.headers['x-ratelimit-reset-requests']).toBe('1');

    const other = setUp(keyWith({ ratePerS: 1, burst: 2, perDay: 100 }, { ratePerS: 1, burst: 2, perDay: 1 }));
    await other.ask();
    expect((await other.ask()).error.message).toContain('budget of this API key is used up (1 requests)');

    const both = setUp(keyWith({ ratePerS: 10, burst: 1, perDay: 100 }, { ratePerS: 1, burst: 1 }));
    await both.ask();
    expect((await both.ask()).headers).toMatchObject({ 'x-ratelimit-reset-requests': '1', 'retry-after': '1' });

    const account = setUp(keyWith({ ratePerS: 1, burst: 1, perDay: 100 }, { perDay: 90 }));
    await account.ask();
    expect((await account.ask()).error.message).toContain('this account is exceeded');
  });

  test('in shadow shows the headers of an enforced limit, and lets everybody in', async () => {
    const { ask } = setUp(keyWith({ ratePerS: 1, burst: 1, perDay: 2 }, { perDay: 1 }, ['rate', 'day']));
    for (let asked = 0; asked < 5; asked += 1) expect((await ask()).admitted).toBe(true);
    const { headers } = await ask();
    expect(headers).toMatchObject({
      'x-ratelimit-remaining-requests': '0',
      'x-ratelimit-reset-requests': '1',
      'x-ratelimit-remaining-day': '0',
    });
    expect(headers).not.toHaveProperty('retry-after');

    const rateAlone = setUp(keyWith({ ratePerS: 1, burst: 1, perDay: 2 }, null, ['rate']));
    await rateAlone.ask();
    await rateAlone.ask();
    expect((await rateAlone.ask()).error.code).toBe('daily_budget_exceeded');
  });

  test('gives reads and keys a rate of their own, outside the day and apart from limits of a key', async () => {
    const key = keyWith({ ratePerS: 1, burst: 1, perDay: 1 }, { ratePerS: 1, burst: 1 }, ['rate']);
    const { ask } = setUp(key, 'management');
    const { headers } = await ask();
    expect(headers).toEqual({
      'x-ratelimit-limit-requests': '50',
      'x-ratelimit-remaining-requests': '49',
      'x-ratelimit-reset-requests': '0',
    });
    for (let asked = 0; asked < 49; asked += 1) await ask();
    expect((await ask()).headers).toMatchObject({ 'x-ratelimit-reset-requests': '0.1', 'retry-after': '1' });
  });

  test('lets in whoever waits as long as Retry-After or reset-requests says', async () => {
    const rate = { ratePerS: fc.integer({ min: 1, max: 100 }), burst: fc.integer({ min: 1, max: 10 }) };
    const limits = fc.record({ ...rate, perDay: fc.integer({ min: 1, max: 40 }) });
    const subs = fc.option(fc.record({ ...rate, perDay: fc.option(fc.integer({ min: 1, max: 40 })) }), { nil: null });
    await fc.assert(
      fc.asyncProperty(
        limits,
        subs,
        fc.array(fc.tuple(fc.integer({ min: 0, max: 300 }), fc.boolean()), { maxLength: 60 }),
        async (account, sub, calls) => {
          const { ask, clock } = setUp(keyWith(account, sub));
          for (const [pauseMs, byReset] of calls) {
            clock.ms += pauseMs;
            const { admitted, error, headers } = await ask();
            if (admitted) continue;
            const rateAlone = error.code === 'requests_per_second_exceeded';
            const waitS = headers[byReset && rateAlone ? 'x-ratelimit-reset-requests' : 'retry-after'];
            clock.ms += Math.round(Number(waitS) * 1000);
            expect((await ask()).admitted).toBe(true);
          }
        },
      ),
    );
  });

  test.each([
    ['is given back where Envoy has given it up', 'calls', true, true, [['acct', 'own']]],
    ['stays counted where Envoy waits for it', 'calls', true, false, []],
    ['was not counted where it was refused', 'calls', false, true, []],
    ['has no day where it only reads', 'management', true, true, []],
  ] as const)('a call %s', async (_, kind, admitted, isGone, expected) => {
    const given: unknown[] = [];
    const key = keyWith({ ratePerS: 1, burst: 1, perDay: 10 }, { perDay: 5 });
    const text = limitsText({ ...key, publicId: 'own' });
    const decide = stepWith({
      limiter: {
        decide: async (_account, _kind, { levels }) => ({
          admitted,
          lacking: admitted ? 0 : everyLimit.day,
          untilMidnightMs: 1,
          quotaStates: levels.map(({ limit }) => quotaStateOf(limit, fullState(limit, morning))),
        }),
      },
      giveBack: (...of) => given.push(of),
    });
    const entries = Object.entries({ kind, account_id: 'acct', limits: text });
    await decide({ descriptors: [{ entries: entries.map(([name, value]) => ({ key: name, value })) }] }, () => isGone);
    expect(given).toEqual(expected);
  });

  test('fails when nobody has said whose limits they are', async () => {
    const decide = stepWith({
      limiter: { decide: () => Promise.reject(new Error('was asked')) },
    });
    const entries = [{ key: 'kind', value: 'calls' }];
    await expect(decide({ descriptors: [{ entries }] })).rejects.toThrow('without an account');
    const account = { key: 'account_id', value: 'acct' };
    await expect(decide({ descriptors: [{ entries: [...entries, account] }] })).rejects.toThrow();
    // Envoy inserts this where the check stated nothing; reads and keys need no text of limits.
    for (const kind of ['calls', 'management']) {
      const missing = ['account_id', 'limits'].map((name) => ({ key: name, value: 'missing' }));
      const asked = decide({ descriptors: [{ entries: [{ key: 'kind', value: kind }, ...missing] }] });
      await expect(asked).rejects.toThrow('without an account');
    }
  });
});
