import { callAt } from '@gw/testing/control-plane/calls';
import { counters } from '@gw/testing/control-plane/stub-prometheus';
import { expect, test } from 'vitest';
import { measureCalls } from './measure-calls.ts';
import type { Prometheus, Series } from './prometheus.ts';
import type { WaitingCall } from './queue.ts';

const settings = {
  deployments: new Map([['gpu', counters]]),
  prometheus: { baseUrl: '', headers: {} },
  refreshS: 10,
  marginS: 1,
  maxGapS: 60,
  giveUpS: 3600,
};
const midnightS = Date.parse('2026-11-21T00:00:00Z') / 1000;

/** A call that begins `atS` seconds after midnight. */
function waiting(atS: number, tookS = 2): WaitingCall {
  const requestedAt = new Date((midnightS + atS) * 1000).toISOString();
  const facts = callAt(requestedAt, { upstreamLatencyS: tookS, site: { pue: 1.2, wueOnsiteLPerKwh: null } });
  return { id: `call-${atS}`, deployment: 'gpu', attempts: 1, facts } as WaitingCall;
}

/** Counters that rise by one each second, in a server whose replies end at samples of `mostS` seconds. */
function prometheus(mostS: number): Prometheus & { readonly asked: number[] } {
  const asked: number[] = [];
  return {
    asked,
    skewS: async () => 0,
    samples: async (selector, fromS, toS) => {
      asked.push(toS - fromS);
      if (toS - fromS > mostS) return { refused: 'too_large', detail: 'more than 1 bytes' };
      const samples = Array.from({ length: Math.floor(toS - fromS) + 1 }, (_, index) => {
        const atS = Math.floor(fromS) + index;
        return { atS, value: (atS - midnightS) * 1000 };
      });
      const name = /^[^{]+/.exec(selector)?.[0] ?? '';
      const series: Series = { labels: { __name__: name, UUID: 'a' }, samples };
      return [series];
    },
  };
}

const calls = Array.from({ length: 12 }, (_, index) => waiting(100 + index * 60));

test('calls that lie close to each other share one question for each counter', async () => {
  const server = prometheus(10_000);
  const judged = await measureCalls({ settings, prometheus: server }, counters, calls);
  expect(server.asked).toHaveLength(3);
  expect(judged.every(({ outcome }) => 'telemetry' in outcome)).toBe(true);
});

test('a reply that is too large is asked for in shorter spans, and each call gets the same as from one reply', async () => {
  const whole = await measureCalls({ settings, prometheus: prometheus(10_000) }, counters, calls);
  const server = prometheus(400);
  const parts = await measureCalls({ settings, prometheus: server }, counters, calls);
  expect(parts).toEqual(whole);
  // All of it in vain, then five calls, five and two, each with three counters.
  expect(server.asked).toHaveLength(1 + 3 * 3);
});

test('a call that is too large by itself waits, is not asked for again in the same round, and holds up no shorter one', async () => {
  const long = [waiting(5000, 600), waiting(5001, 600), waiting(5002, 700)];
  const server = prometheus(130);
  const judged = await measureCalls({ settings, prometheus: server }, counters, [...calls, ...long]);
  const outcomeOf = (call: WaitingCall) => judged.find(({ call: { id } }) => id === call.id)?.outcome;
  for (const call of calls) expect(outcomeOf(call)).toHaveProperty('telemetry');
  for (const call of long) expect(outcomeOf(call)).toMatchObject({ refusal: { refused: 'too_large' } });
  expect(judged).toHaveLength(15);
  // There was one query for the interval that three calls shared, and one for the first call alone.
  expect(server.asked.filter((lengthS) => lengthS > 500 && lengthS < 800).length).toBeLessThanOrEqual(2);
});

test('another error of the server is asked about once', async () => {
  let asked = 0;
  const away: Prometheus = {
    skewS: async () => 0,
    samples: async () => {
      asked += 1;
      return { refused: 'unreachable', detail: 'no' };
    },
  };
  const judged = await measureCalls({ settings, prometheus: away }, counters, calls);
  expect(asked).toBe(1);
  expect(judged.every(({ outcome }) => 'refusal' in outcome && outcome.refusal.refused === 'unreachable')).toBe(true);
});
