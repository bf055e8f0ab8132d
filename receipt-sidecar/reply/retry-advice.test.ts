import { apiError, errorHeaders } from '@gw/contract/errors';
import { expect, it } from 'vitest';
import { judgedReply } from '../attempts/attempt-outcome.ts';
import { advised } from './retry-advice.ts';

const headersOf = (status: number, headers: Readonly<Record<string, string>>, attempts = 1) => {
  const judged = judgedReply((name) => headers[name], status, Date.parse('2026-11-21T09:20:00Z'));
  const told = errorHeaders(advised(apiError('upstream_error'), judged, attempts));
  return [told.get('retry-after') ?? null, told.get('x-should-retry') ?? null];
};

it.each([
  [429, { 'retry-after': '17' }, ['17', null]],
  [503, { 'retry-after': '7' }, ['7', null]],
  [529, { 'retry-after': 'Sat, 21 Nov 2026 09:20:09 GMT' }, ['9', null]],
  [429, { 'retry-after-ms': '1200' }, ['2', null]],
  [429, { 'retry-after': '0' }, ['1', null]],
  // Longer than a client library waits.
  [429, { 'retry-after': '3600' }, ['3600', 'false']],
  [429, { 'retry-after': '99999999999' }, ['86400', 'false']],
  [429, { 'retry-after': '-1' }, [null, null]],
  [429, { 'retry-after': 'soon' }, [null, null]],
  [500, { 'retry-after': '17' }, [null, null]],
  [429, { 'x-ratelimit-remaining-tokens': '0', 'x-ratelimit-reset-tokens': '2m5.1s' }, ['126', 'false']],
])('%i with %j tells the client when to come back', (status, headers, told) => {
  expect(headersOf(status, headers)).toEqual(told);
});

it('a client does not retry where the only deployment needs its operator', () => {
  const fault = { 'x-gw-operator-fault': 'quota_exhausted', 'retry-after': '17' };
  expect(headersOf(429, fault)).toEqual([null, 'false']);
  // Another one may be well again.
  expect(headersOf(429, fault, 2)).toEqual([null, null]);
});

it('an error about the request has nothing to wait for', () => {
  const judged = judgedReply(() => '17', 429);
  expect(advised(apiError('content_filter'), judged, 1)).toEqual(apiError('content_filter'));
});
