import { expect, test } from 'vitest';
import { forwardedBytes, isDirected } from './headers.ts';

test('a call is directed by any header that the simulated provider reads', () => {
  expect(isDirected(new Map([['user-agent', 'x-sim-fault']]))).toBe(false);
  expect(isDirected(new Map([['x-sim-fault', 'reset']]))).toBe(true);
});

test('of the headers of a request those count that go on', () => {
  const headers = new Map([
    ['cookie', 'a'.repeat(1000)],
    ['user-agent', 'curl'],
  ]);
  expect(forwardedBytes(headers)).toBe('user-agentcurl'.length);
});
