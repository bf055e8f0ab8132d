import { Registry } from 'prom-client';
import { expect, test } from 'vitest';
import type { Logger } from '../log.ts';
import type { DrawnLimits } from './drawn-limits.ts';
import { createLimitMetrics } from './limit-metrics.ts';

const limit = { rate: { perS: 1, burst: 1 }, perDay: 1 };
const drawn = (shadow: DrawnLimits['shadow'], body: DrawnLimits['body'] = null): DrawnLimits => ({
  body,
  levels: [
    { of: 'account', id: 'acct', limit },
    { of: 'key', id: 'AbcdefGhijkl', limit },
  ],
  shadow,
});

function setUp() {
  const clock = { ms: 0 };
  const lines: object[] = [];
  const log = { info: (line: object) => lines.push(line) } as unknown as Logger;
  let local = false;
  const metrics = createLimitMetrics({ log, now: () => clock.ms, local: () => local });
  const registry = new Registry();
  metrics.register(registry);
  const decided = (lacking: number, shadow: DrawnLimits['shadow'] = [], admitted = lacking === 0, kind = 'calls') =>
    metrics.decided('acct', kind, drawn(shadow), { admitted, lacking, quotaStates: [], untilMidnightMs: 1 });
  const decidedOfBody = (lacking: number, shadow: DrawnLimits['shadow'] = []) =>
    metrics.decided('acct', 'calls', drawn(shadow, { limit, kib: 1024 }), {
      admitted: lacking === 0 || shadow.length > 0,
      lacking,
      quotaStates: [],
      untilMidnightMs: 1,
    });
  const metric = async (labels: string) =>
    Number(new RegExp(`^gw_limits_${labels} (\\d+)$`, 'm').exec(await registry.metrics())?.[1]);
  const goLocal = () => {
    local = true;
  };
  return { clock, lines, decided, decidedOfBody, metric, goLocal };
}
const of = (name: string, outcome: string) => `decisions_total\\{limit="${name}",outcome="${outcome}"\\}`;

test('a call that is admitted counts for each of its limits, one that is denied for those that denied it', async () => {
  const { decided, metric } = setUp();
  decided(0);
  decided(0);
  decided(1);
  decided(8);
  decided(0, [], true, 'management');
  decided(1, [], false, 'management');
  expect([await metric(of('rate', 'admitted')), await metric(of('rate', 'denied'))]).toEqual([2, 1]);
  expect([await metric(of('day', 'admitted')), await metric(of('day', 'denied'))]).toEqual([2, 1]);
  expect([await metric(of('management', 'admitted')), await metric(of('management', 'denied'))]).toEqual([1, 1]);
  // Reading changes nothing.
  expect(await metric(of('rate', 'admitted'))).toBe(2);
});

test('bytes are counted where a body costs something, apart from the calls', async () => {
  const { decided, decidedOfBody, lines, metric } = setUp();
  decided(0);
  decidedOfBody(0);
  decidedOfBody(16);
  decidedOfBody(16, ['rate']);
  const outcomes = (name: string) =>
    Promise.all(['admitted', 'denied', 'shadowed'].map((outcome) => metric(of(name, outcome))));
  expect(await outcomes('bytes')).toEqual([1, 1, 1]);
  expect(await outcomes('rate')).toEqual([3, 0, 0]);
  expect(lines).toEqual([{ accountId: 'acct', keyId: 'AbcdefGhijkl', limits: ['bytes'] }]);
});

test('a limit in shadow that would have refused is counted as such, and said once a minute for each account', async () => {
  const { clock, decided, lines, metric } = setUp();
  for (clock.ms = 0; clock.ms < 125_000; clock.ms += 1000) decided(5, ['rate'], true);
  expect([await metric(of('rate', 'shadowed')), await metric(of('rate', 'denied'))]).toEqual([125, 0]);
  expect(await metric(of('day', 'admitted'))).toBe(125);
  expect(lines).toEqual(Array(3).fill({ accountId: 'acct', keyId: 'AbcdefGhijkl', limits: ['rate'] }));
});

test('a gauge says whether this instance is on its own', async () => {
  const { goLocal, metric } = setUp();
  expect(await metric('local')).toBe(0);
  goLocal();
  expect(await metric('local')).toBe(1);
});
