import { expect, test } from 'vitest';
import { forwardedBytes, isDirected, patienceHeader, steeringHeaders } from './headers.ts';

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

test('a head may be held since the request where the router counts from there, else since it came', () => {
  const timeouts = { upstreamTimeoutS: 600, firstByteTimeoutS: 2 };
  const headerOf = (name: string, headers: readonly ReturnType<typeof patienceHeader>[]) =>
    headers.find(({ header }) => header.key === name)?.header.rawValue.toString();
  for (const [stream, others] of [
    [true, 1],
    [true, 0],
    [false, 1],
  ] as const) {
    const perTry = headerOf(
      'x-envoy-upstream-rq-per-try-timeout-ms',
      steeringHeaders(stream, { others, retries: 1 }, timeouts),
    );
    const patience = headerOf('x-gw-head-patience', [patienceHeader(stream, others, timeouts)]);
    expect([perTry, patience]).toEqual(stream && others === 1 ? ['2000', 'request+2000'] : [undefined, 'head+2000']);
  }
  const slow = patienceHeader(true, 0, { ...timeouts, firstByteTimeoutS: 3600 });
  expect(headerOf('x-gw-head-patience', [slow])).toBe('head+240000');
});
