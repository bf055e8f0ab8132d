import type { IProcessingResponse } from '@gw/grpc/service';
import { describe, expect, it, vi } from 'vitest';
import { createFailedAttempts, type FailedAttempt } from '../attempts/failed-attempts.ts';
import type { CallRecord } from '../receipt/call-record.ts';
import { answerNotAsked } from './not-asked.ts';

const addresses = { baseUrl: 'http://gw', statusUrl: '', auditEmail: '', securityEmail: '' };
const failure = (deployment: string, outcome: FailedAttempt['outcome']): FailedAttempt => ({
  deployment,
  outcome,
  result: 'failed',
  retryAfterMs: null,
});

interface Ended {
  /** Attempts that the access log has reported. */
  readonly known: readonly FailedAttempt[];
  readonly pinned?: boolean;
  readonly header?: string;
}

/** Returns the outcome of a call over a, b and c that ends at c. */
async function ended({ header = 'x-gw-at-capacity', known, pinned = false }: Ended) {
  const failedAttempts = createFailedAttempts(null);
  failedAttempts.begin('rcpt');
  for (const each of known) failedAttempts.tell('rcpt', each);
  const kept: string[] = [];
  const failoverChain = ['a', 'b', 'c'].map((id) => ({ deployment: { id } }));
  const record = {
    identity: { receiptId: 'rcpt', request: { endpoint: 'chat' }, route: { failoverChain, pinned } },
    unsaved: null,
    discard: (status: number) => void kept.push(`discarded: ${status}`),
    answeredBy: (deployment: string | null) => void kept.push(`by ${deployment}`),
    breakOff: () => {
      // As the trace names the last one.
      const last = failedAttempts.of('rcpt').find(({ deployment }) => deployment === 'c');
      kept.push(`recorded after ${last?.outcome}`);
      return { saved: Promise.resolve() };
    },
  } as unknown as CallRecord;
  let body = '';
  let isAsked = true;
  const call = {
    answer: (answer: IProcessingResponse) => {
      isAsked = JSON.stringify(answer.dynamicMetadata) !== '{"gw":{"done":true,"not_asked":true}}';
      body = String(answer.immediateResponse?.body);
    },
    fail: () => undefined,
  };
  const headers = new Map([
    ['x-gw-deployment', 'c'],
    [header, '1'],
  ]);
  const answered = { deployment: 'c', attempts: 3, headers };
  answerNotAsked(record, call as never, answered, { addresses, failedAttempts });
  await vi.waitFor(() => expect(body).not.toBe(''), { interval: 1 });
  const { code, param } = JSON.parse(body).error;
  return { code, param, kept, isAsked };
}

const full = [failure('a', 'at_capacity'), failure('b', 'unhealthy')];
/** Operators are told of the answer, and Envoy that no call is to be counted. */
const unrecorded = (status: number) => ({ kept: [`discarded: ${status}`], isAsked: false });
const recorded = { param: null, isAsked: true, kept: ['by null', 'recorded after at_capacity'] };

describe('a call whose last deployment was not asked', () => {
  it('has no receipt where the others were not either', async () => {
    expect(await ended({ known: full })).toEqual({ code: 'overloaded', param: null, ...unrecorded(503) });
    const saturated = { code: 'region_saturated', param: 'gw.region' };
    expect(await ended({ known: full, pinned: true })).toEqual({ ...saturated, ...unrecorded(503) });
    const missing = await ended({ known: full, header: 'x-gw-credential-missing' });
    expect(missing).toEqual({ code: 'upstream_credential_missing', param: null, ...unrecorded(502) });
    const unwell = { header: 'x-gw-unhealthy', known: full };
    expect(await ended(unwell)).toEqual({ code: 'overloaded', param: null, ...unrecorded(503) });
    expect(await ended({ ...unwell, pinned: true })).toEqual({ ...saturated, ...unrecorded(503) });
    const all = { ...unwell, known: [failure('a', 'no_credential'), failure('b', 'unhealthy')] };
    expect(await ended(all)).toEqual({ code: 'upstream_error', param: null, ...unrecorded(502) });
    const notReady = { header: 'x-gw-not-ready', known: [failure('a', 'not_ready'), failure('b', 'not_ready')] };
    for (const pinned of [false, true])
      expect(await ended({ ...notReady, pinned })).toEqual({ code: 'overloaded', param: null, ...unrecorded(503) });
    const degraded = { code: 'region_degraded', param: 'gw.region' };
    expect(await ended({ ...all, pinned: true })).toEqual({ ...degraded, ...unrecorded(503) });
  });

  it.each([
    [[failure('a', 'rate_limited'), failure('b', 'at_capacity')], 'upstream_rate_limited'],
    [[failure('a', 'rate_limited'), failure('b', 'timed_out')], 'upstream_timeout'],
    [[failure('a', 'at_capacity'), failure('b', 'server_error')], 'upstream_error'],
  ])('is told of the provider that was asked (%#)', async (known, code) => {
    for (const pinned of [false, true]) expect(await ended({ known, pinned })).toEqual({ code, ...recorded });
  });

  it('names in its trace what that one was', async () => {
    const known = [failure('a', 'server_error'), failure('b', 'unhealthy')];
    for (const [header, outcome] of [
      ['x-gw-credential-missing', 'no_credential'],
      ['x-gw-unhealthy', 'unhealthy'],
    ] as const)
      expect((await ended({ known, header })).kept.at(-1)).toBe(`recorded after ${outcome}`);
  });

  it('is told of a failure of the provider where nobody knows whether one was asked', async () => {
    expect(await ended({ known: full.slice(0, 1) })).toEqual({ code: 'upstream_error', ...recorded });
  });
});
