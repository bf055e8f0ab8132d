import { expect, test } from 'vitest';
import type { ApiScenario } from './load/apis.ts';
import type { Target } from './load/target.ts';
import {
  apiCostsOf,
  budgetCostOf,
  figuresOf,
  isTooDear,
  type Report,
  totalWithoutProvider,
  withoutIdle,
} from './report.ts';
import type { Sample, Scenario } from './rounds.ts';
import { reportText, show, table } from './table.ts';

function sample(round: number, target: Target['name'], scenario: Scenario, more: Partial<Sample['load']>): Sample {
  const load = { requests: 100, errors: 0, durationS: 1, p50Ms: 1, p99Ms: 2, events: 0, ...more };
  return { round, target, scenario, load, elapsedS: 2, cpuUs: { simulator: 1000, envoy: 5000 } };
}

const json = [
  sample(0, 'envoy', 'json-32', { requests: 1000, p50Ms: 1 }),
  sample(0, 'gateway', 'json-32', { requests: 100, p50Ms: 3, errors: 25 }),
  sample(1, 'envoy', 'json-32', { requests: 100, p50Ms: 11 }),
  sample(1, 'gateway', 'json-32', { requests: 20, p50Ms: 12 }),
];

test('ratios and added times compare the same round, so a machine that slows down does not show in them', () => {
  const figures = figuresOf(json, 'json-32', 'gateway');
  expect(figures.ratioToEnvoy).toBeCloseTo(0.15);
  expect(figures.ratioToEnvoyRange).toEqual({ lowest: 0.1, highest: 0.2 });
  expect(figures.requestsPerSRange).toEqual({ lowest: 20, highest: 100 });
  expect(figures.addedP50Ms).toBe(1.5);
  expect(figures.requestsPerS).toBe(60);
  expect(figures.errors).toBe(25);
});

test('what a budget costs is told as a part of the same account without one, in the same round', () => {
  const budget = [
    { ...sample(0, 'budget', 'json-32', { requests: 80 }), cpuUs: { simulator: 9, envoy: 4400 } },
    { ...sample(1, 'budget', 'json-32', { requests: 18 }), cpuUs: { simulator: 9, envoy: 5400 } },
  ];
  const { cpuUs, requestsPerS } = budgetCostOf([...json, ...budget]);
  expect(requestsPerS).toBeCloseTo((0.8 + 0.9) / 2);
  expect(cpuUs).toBeCloseTo((4400 / 80 / (5000 / 125) + 5400 / 18 / (5000 / 20)) / 2);
  expect(budgetCostOf(json)).toEqual({ requestsPerS: null, cpuUs: null });
});

test('processor time is shared among all replies, also those with an error', () => {
  const figures = figuresOf(json.slice(0, 2), 'json-32', 'gateway');
  expect(figures.cpuUsPerRequest).toEqual({ simulator: 8, envoy: 40 });
  expect(figures.cpuUsPerEvent).toEqual({ simulator: null, envoy: null });
});

test('the provider is compared with nothing, and what was not measured is null', () => {
  expect(figuresOf(json, 'json-32', 'provider')).toMatchObject({
    requestsPerS: null,
    requestsPerSRange: null,
    ratioToEnvoy: null,
    ratioToEnvoyRange: null,
  });
  expect(figuresOf(json, 'json-32', 'envoy').addedP50Ms).toBeNull();
});

test('what the parts use when nobody asks is not put down to requests', () => {
  const idle = { ...sample(0, 'gateway', 'idle', {}), elapsedS: 4, cpuUs: { simulator: 0, envoy: 8000 } };
  const [net, ...others] = withoutIdle([idle, ...json.slice(1, 2)]);
  expect(others).toEqual([]);
  expect(net?.cpuUs).toEqual({ simulator: 1000, envoy: 1000 });
});

test('a total leaves the provider out, and is unknown if a part is', () => {
  expect(totalWithoutProvider({ simulator: 5, envoy: 1, 'ext-authz': 2 })).toBe(3);
  expect(totalWithoutProvider({ simulator: 5, envoy: null, 'ext-authz': 2 })).toBeNull();
  expect(totalWithoutProvider({ simulator: 5 })).toBeNull();
});

const single = { ...sample(0, 'gateway', 'json-1', { requests: 50 }), cpuUs: { simulator: 1, envoy: 35_000 } };
const report: Report = {
  date: '2026-01-02',
  machine: { cpus: 2, cpu: 'A processor', memoryGiB: 24, platform: 'linux x64', node: '20.20.2' },
  rounds: 2,
  secondsPerMeasurement: 4,
  peers: [
    { name: 'portkey', version: '1.2.3', notMeasured: null },
    { name: 'litellm', version: '4.5.6', notMeasured: 'There is no python3.' },
  ],
  figures: [
    figuresOf([single], 'json-1', 'gateway'),
    figuresOf(json, 'json-32', 'envoy'),
    figuresOf(json, 'json-32', 'gateway'),
  ],
  budget: { requestsPerS: 0.93, cpuUs: 1.05 },
  rssMb: {
    budget: { envoy: 60 },
    gateway: { envoy: 60, 'ext-authz': 100, 'receipt-sidecar': 110, 'control-plane': 120, postgres: 99 },
  },
  slowness: 1,
  micro: [
    { name: 'cheap', us: 29.9, limitUs: 30 },
    { name: 'dear', us: 30.1, limitUs: 30 },
  ],
};

test('the text shows each figure in its column, a dash for the unknown, and which step exceeds its limit', () => {
  const text = reportText(report);
  expect(text).toContain('2 CPUs shared with the load generator');
  expect(text).toContain('medians of 2, after 10 s of calls or more.');
  expect(text).toMatch(/plain Envoy +550 +100–1000 +1\.00 +1\.00–1\.00 +6\.00 +2\.00 +– +– +0\n/);
  expect(text).toMatch(/requests\/s +0\.93\n +CPU per request +1\.05\n/);
  expect(text).toMatch(/gateway +60\.0 +20\.0–100 +0\.15 +0\.10–0\.20 +7\.50 +2\.00 +1\.50 +0\.00 +25\n/);
  expect(text).toMatch(/CPU µs per request, 1 connection\n +gateway\n +simulator +0\.020\n +envoy +700\n/);
  expect(text).toContain('Portkey 1.2.3\nLiteLLM 4.5.6 was not measured: There is no python3.\n');
  expect(text).toMatch(/cheap +29\.9 +≤ 30\.0 +ok\n/);
  expect(text).toMatch(/dear +30\.1 +≤ 30\.0 +exceeded\n/);
});

test('columns line up', () => {
  expect(
    table([
      ['', 'a'],
      ['long name', '1'],
      ['x', '1000'],
    ]),
  ).toBe(['                 a', '  long name      1', '  x           1000'].join('\n'));
  expect([show(0.1234), show(12.34), show(1234.5), show(-0.5), show(0), show(0.0123), show(null)]).toEqual([
    '0.12',
    '12.3',
    '1235',
    '-0.50',
    '0.00',
    '0.012',
    '–',
  ]);
});

test('a call of an API is compared with the chat completion of its round, streams with streams', () => {
  const of = (round: number, scenario: ApiScenario['name'], envoy: number) => ({
    ...sample(round, 'gateway', 'json-32', {}),
    scenario,
    cpuUs: { simulator: 9, envoy },
  });
  const costs = apiCostsOf([
    of(0, 'chat JSON', 1000),
    of(1, 'chat JSON', 2000),
    of(0, 'chat stream', 4000),
    of(0, 'messages JSON', 1100),
    of(1, 'messages JSON', 2800),
    of(0, 'messages translated stream', 6000),
  ]);
  const shown = costs.filter(({ ratioToChat }) => ratioToChat !== null);
  expect(shown).toMatchObject([
    { scenario: 'messages JSON', ratioToChat: 1.25, ratioToChatRange: { lowest: 1.1, highest: 1.4 }, limit: 1.15 },
    { scenario: 'messages translated stream', ratioToChat: 1.5, limit: 1.4 },
  ]);
  expect(costs).toHaveLength(8);
  expect(costs.filter(isTooDear)).toEqual(shown);
});
