import { expect, it } from 'vitest';
import { retryAfter, waitMs } from './retry-after.ts';

const now = Date.parse('2026-11-21T09:20:00Z');
const wait = (headers: Readonly<Record<string, string>>) => waitMs((name) => headers[name], now);

it('reads seconds and dates, a day at most and never negative', () => {
  expect(retryAfter('17', now)).toBe(17_000);
  expect(retryAfter('0.5', now)).toBe(500);
  expect(retryAfter('12s', now)).toBe(12_000);
  expect(retryAfter('999999999', now)).toBe(86_400_000);
  expect(retryAfter('Sat, 21 Nov 2026 09:20:30 GMT', now)).toBe(30_000);
  expect(retryAfter('Saturday, 21-Nov-26 09:20:30 GMT', now)).toBe(30_000);
  expect(retryAfter('Fri, 20 Nov 2026 09:20:00 GMT', now)).toBe(0);
  for (const text of ['1e9', '-5', 'soon', '', `Sat${'a'.repeat(100_000)}`]) expect(retryAfter(text, now)).toBeNull();
});

it('prefers milliseconds, as the SDKs do', () => {
  expect(wait({ 'retry-after-ms': '1500', 'retry-after': '2' })).toBe(1500);
  expect(wait({ 'retry-after-ms': 'x', 'retry-after': '2' })).toBe(2000);
  expect(wait({ 'x-ms-retry-after-ms': '4200' })).toBe(4200);
});

it.each([
  ['6m0s', 360_000],
  ['7.66s', 7660],
  ['1h2m3s', 3_723_000],
  ['20ms', 20],
  // Seconds or a time: nobody knows.
  ['1741305600000', null],
  ['30', null],
])('knows when a limit that is used up has room again: %s', (reset, ms) => {
  expect(wait({ 'x-ratelimit-remaining-tokens': '0', 'x-ratelimit-reset-tokens': reset })).toBe(ms);
});

it('waits for the slowest limit that is used up, and for no other', () => {
  const requests = { 'x-ratelimit-remaining-requests': '0', 'x-ratelimit-reset-requests': '1s' };
  expect(wait({ ...requests, 'x-ratelimit-remaining-tokens': '0', 'x-ratelimit-reset-tokens': '5s' })).toBe(5000);
  expect(wait({ ...requests, 'x-ratelimit-remaining-tokens': '9', 'x-ratelimit-reset-tokens': '5s' })).toBe(1000);
  expect(wait({ 'x-ratelimit-reset-requests': '1s' })).toBeNull();
  expect(wait({ ...requests, 'retry-after': '3' })).toBe(3000);
});
