/** Who limits a call says so on its reply, even where the reply of the provider could not be used. */
import { expect, test } from 'vitest';
import { call } from '../input/ask.ts';
import { accountsForFile } from '../sdk/test-account.ts';

const accounts = accountsForFile();

const names = ['limit', 'remaining', 'reset'].flatMap((what) =>
  ['requests', 'day'].map((of) => `x-ratelimit-${what}-${of}`),
);

test.each([
  ['cut', { 'x-sim-fault': 'cut' }],
  ['empty', { 'x-sim-fault': 'empty' }],
  ['larger than 64 MiB', { 'x-sim-fault': 'big', 'x-sim-bytes': String(66 * 1024 * 1024) }],
  ['malformed', { 'x-sim-fault': 'malformed' }],
  ['HTML', { 'x-sim-fault': 'html' }],
  ['reset before it began', { 'x-sim-fault': 'reset' }],
  ['a refusal', { 'x-sim-fault': 'status-500' }],
])('a reply that is %s has the limit headers, each once, and they count on', async (_name, error) => {
  const key = await accounts.create({ perDay: 50 });
  // More than once: a cut may come before the sidecar has seen the headers, or after that.
  for (let left = 49; left > 44; left -= 1) {
    const { status, headers, text } = await call({}, error, { key });
    expect(status, text).toBe(502);
    for (const name of names) expect(headers[name], name).toMatch(/^[0-9.]+$/);
    expect([headers['x-ratelimit-limit-day'], headers['x-ratelimit-remaining-day']]).toEqual(['50', String(left)]);
    expect(headers['x-gw-receipt-id']).toMatch(/^rcpt_/);
  }
});

test('what was never limited says nothing of limits', async () => {
  const { status, headers } = await call({}, { 'x-large': 'a'.repeat(40_000) });
  expect(status).toBe(400);
  expect(Object.keys(headers).filter((name) => name.startsWith('x-ratelimit'))).toEqual([]);
});
