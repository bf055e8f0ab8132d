import { setTimeout as delay } from 'node:timers/promises';
import { failedAttemptChannel } from '@gw/contract/internal/redis';
import type { AccessLogEntry } from '@gw/envoy/shown-receipt';
import { emptyValkey } from '@gw/testing/valkey';
import { Redis } from 'ioredis';
import { expect, onTestFinished, test } from 'vitest';
import { sharedByRedis } from '../wire/shared.ts';
import { createFailedAttempts, type FailedAttempt, failedAttempt, failedAttemptSchema } from './failed-attempts.ts';

const entry = (
  response: { status: number; headers?: Record<string, string> },
  flags: object = {},
  gw: Readonly<Record<string, string>> = { attempt_of: 'rcpt', deployment: 'd' },
) =>
  ({
    commonProperties: {
      responseFlags: flags,
      metadata: {
        filterMetadata: {
          gw: { fields: Object.fromEntries(Object.entries(gw).map(([name, stringValue]) => [name, { stringValue }])) },
        },
      },
    },
    response: { responseCode: { value: response.status }, responseHeaders: response.headers ?? {} },
  }) as unknown as AccessLogEntry;

test.each([
  [entry({ status: 503 }, { upstreamConnectionFailure: true }), 'no_connection', 'down'],
  [entry({ status: 503 }, { noHealthyUpstream: true }), 'unhealthy', 'down'],
  [entry({ status: 503 }, { noClusterFound: true }), 'no_connection', 'down'],
  [entry({ status: 503 }, { upstreamConnectionTermination: true }), 'connection_lost', 'down'],
  [entry({ status: 502 }, { upstreamProtocolError: true }), 'connection_lost', 'down'],
  [entry({ status: 0 }, { downstreamRemoteReset: true }), 'timed_out', 'down'],
  [entry({ status: 504 }), 'timed_out', 'down'],
  [entry({ status: 429 }), 'rate_limited', 'busy'],
  [entry({ status: 500 }), 'server_error', 'failed'],
  [entry({ status: 401, headers: { 'x-gw-operator-fault': 'auth_failed' } }), 'auth_failed', 'needs_operator'],
  [entry({ status: 403, headers: { 'x-gw-operator-fault': 'auth_failed' } }), 'auth_failed', 'failed'],
  [entry({ status: 404, headers: { 'x-gw-operator-fault': 'model_missing' } }), 'model_missing', 'needs_operator'],
  [entry({ status: 429, headers: { 'x-gw-operator-fault': 'quota_exhausted' } }), 'quota_exhausted', 'needs_operator'],
  [entry({ status: 429, headers: { 'x-gw-credential-missing': '1' } }), 'no_credential', 'failed'],
  [entry({ status: 429, headers: { 'x-gw-at-capacity': '1' } }), 'at_capacity', 'full'],
])('an entry tells why an attempt failed (%#)', (logged, outcome, result) => {
  expect(failedAttempt(logged)).toMatchObject({ receiptId: 'rcpt', attempt: { deployment: 'd', outcome, result } });
});

test('an entry tells how long the provider wants to be left alone', () => {
  const busy = (status: number, after: string) =>
    failedAttempt(entry({ status, headers: { 'retry-after': after } }))?.attempt;
  expect(busy(429, '7')).toMatchObject({ result: 'busy', retryAfterMs: 7000 });
  expect(busy(503, '7')).toMatchObject({ result: 'busy', retryAfterMs: 7000 });
  expect(busy(500, '7')).toMatchObject({ result: 'failed', retryAfterMs: null });
  expect(busy(503, 'soon')).toMatchObject({ result: 'down', retryAfterMs: null });
});

test('an entry of a call, and not of an attempt, is none', () => {
  expect(failedAttempt(entry({ status: 503 }, {}, { receipt_id: 'rcpt' }))).toBeNull();
});

test('a sidecar hears of its calls from another one, and of no others', async () => {
  const url = await emptyValkey();
  const connections = Array.from({ length: 4 }, () => new Redis(url));
  onTestFinished(() => {
    for (const each of connections) each.disconnect();
  });
  const [a, b, c, d] = connections as [Redis, Redis, Redis, Redis];
  const [here, there] = [
    createFailedAttempts(sharedByRedis({ redis: a, subscriber: b }, failedAttemptChannel, failedAttemptSchema)),
    createFailedAttempts(sharedByRedis({ redis: c, subscriber: d }, failedAttemptChannel, failedAttemptSchema)),
  ];
  const attempt: FailedAttempt = { deployment: 'd', outcome: 'timed_out', result: 'down', retryAfterMs: null };
  here.begin('mine');
  for (let tries = 0; here.of('mine').length === 0 && tries < 100; tries += 1) {
    there.tell('mine', attempt);
    there.tell('nobody', attempt);
    await a.publish(failedAttemptChannel, 'no JSON');
    await delay(50);
  }
  expect(here.of('mine')[0]).toEqual(attempt);
  expect(here.of('nobody')).toEqual([]);
  here.end('mine');
  expect(here.of('mine')).toEqual([]);
});
