import { describe, expect, it } from 'vitest';
import type { CallRecord } from './call-record.ts';
import { createFailedAttempts, type FailedAttempt } from './failed-attempts.ts';
import { answerNotAsked } from './not-asked.ts';

const addresses = { baseUrl: 'http://gw', statusUrl: '', auditEmail: '', securityEmail: '' };
const failure = (deployment: string, outcome: FailedAttempt['outcome']): FailedAttempt => ({
  ...{ deployment, outcome, result: 'failed', retryAfterMs: null },
});

/** What comes of a call over a, b and c that ends at c; `known` is what the access log has told of it. */
async function answered(known: readonly FailedAttempt[], pinned: boolean, header = 'x-gw-at-capacity') {
  const failedAttempts = createFailedAttempts(null);
  failedAttempts.begin('rcpt');
  for (const each of known) failedAttempts.tell('rcpt', each);
  const kept: string[] = [];
  const failoverChain = ['a', 'b', 'c'].map((id) => ({ deployment: { id } }));
  const record = {
    identity: { receiptId: 'rcpt', request: {}, route: { failoverChain, pinned } },
    discard: () => void kept.push('discarded'),
    answeredBy: (deployment: string | null) => void kept.push(`by ${deployment}`),
    breakOff: () => {
      kept.push('recorded');
      return { saved: Promise.resolve() };
    },
  } as unknown as CallRecord;
  let body = '';
  const call = {
    answer: (answer: { immediateResponse?: { body?: unknown } }) => {
      body = String(answer.immediateResponse?.body);
    },
    fail: () => undefined,
  };
  const headers = new Map([
    ['x-gw-deployment', 'c'],
    [header, '1'],
  ]);
  answerNotAsked(record, call as never, { attempts: 3, headers }, { addresses, failedAttempts });
  // The receipt is safe before the answer goes.
  await Promise.resolve();
  await Promise.resolve();
  const { code, param } = JSON.parse(body).error;
  return { code, param, kept };
}

const full = [failure('a', 'at_capacity'), failure('b', 'unhealthy')];

describe('a call whose last deployment was not asked', () => {
  it('has no receipt where the others were not either', async () => {
    expect(await answered(full, false)).toEqual({ code: 'overloaded', param: null, kept: ['discarded'] });
    expect(await answered(full, true)).toEqual({ code: 'region_saturated', param: 'gw.region', kept: ['discarded'] });
    const code = 'upstream_credential_missing';
    expect(await answered(full, false, 'x-gw-credential-missing')).toEqual({ code, param: null, kept: ['discarded'] });
  });

  it.each([
    [[failure('a', 'rate_limited'), failure('b', 'at_capacity')], 'upstream_rate_limited'],
    [[failure('a', 'rate_limited'), failure('b', 'timed_out')], 'upstream_timeout'],
    [[failure('a', 'at_capacity'), failure('b', 'server_error')], 'upstream_error'],
    [[failure('a', 'at_capacity')], 'upstream_error'],
  ])('is told of the provider that was asked, or of which that is not known (%#)', async (known, code) => {
    const kept = ['by null', 'recorded'];
    for (const pinned of [false, true]) expect(await answered(known, pinned)).toEqual({ code, param: null, kept });
  });
});
