import type { Figures, Report } from '@gw/bench/internals/report';
import { expect, test } from 'vitest';
import { costTable, partsTable, performanceReport, runText, speedTable, stepsTable } from './performance.ts';
import { performanceChart } from './performance-chart.ts';
import { reachTable } from './performance-reach.ts';

function figures(scenario: Figures['scenario'], target: Figures['target'], perS: number): Figures {
  return {
    scenario,
    target,
    requestsPerS: perS,
    requestsPerSRange: { lowest: perS / 2, highest: perS * 2 },
    eventsPerS: null,
    ratioToEnvoy: perS / 1000,
    ratioToEnvoyRange: { lowest: 0.1, highest: 0.3 },
    p50Ms: 1000 / perS,
    p99Ms: null,
    addedP50Ms: null,
    addedP99Ms: null,
    errors: 1,
    cpuUsPerRequest: { simulator: 9000, [target]: 1e6 / perS },
    cpuUsPerEvent: { simulator: 9000, [target]: 7 },
  };
}

const report: Report = {
  date: '2026-01-02',
  machine: { cpus: 2, cpu: 'A processor', memoryGiB: 24, platform: 'linux x64', node: '24.1.0' },
  rounds: 5,
  secondsPerMeasurement: 4,
  peers: [
    { name: 'portkey', version: '1.2.3', notMeasured: null },
    { name: 'litellm', version: '4.5.6', notMeasured: 'There is no python3.' },
  ],
  figures: (['json-1', 'json-32', 'stream-at-once', 'stream'] as const).flatMap((scenario) => [
    figures(scenario, 'provider', 4000),
    figures(scenario, 'envoy', 1000),
    figures(scenario, 'gateway', 200),
    figures(scenario, 'portkey', 250),
  ]),
  budget: { requestsPerS: 0.9, cpuUs: 1.1 },
  rssMb: { gateway: { simulator: 50, gateway: 321 } },
  micro: [{ name: 'make a receipt', us: 12.34, limitUs: 30 }],
  slowness: 1,
};

test('a run is told with its machine, its length and the releases beside it', () => {
  const text = runText(report);
  expect(text).toContain('Measured on 2026-01-02 on 2 processors (A processor)');
  expect(text).toContain('Medians of 5 rounds of 4 s');
  expect(text).toContain('Portkey 1.2.3, LiteLLM 4.5.6 (not measured: There is no python3.)');
  expect(text).not.toContain('short run');
  expect(runText({ ...report, rounds: 4 })).toContain('This was a short run');
});

test('the tables show each target with its range, and processor time without the provider', () => {
  expect(speedTable(report)).toContain(
    '| gateway | 200 (100–400) | 0.20 (0.10–0.30) | 200 (100–400) | 5.00 | – | 200 (100–400) | 0.20 (0.10–0.30) | 5.00 | 4 |',
  );
  expect(costTable(report)).toContain('| gateway | 5000 | 5000 | 5000 | 7.00 | 321 |');
  expect(costTable(report)).not.toContain('provider alone');
  expect(partsTable(report)).toContain('| gateway | 5000 | 5000 | 5000 | 7.00 | 321 |');
  expect(partsTable(report)).toContain('| simulator | 9000 | 9000 | 9000 | 9000 | 50.0 |');
  expect(stepsTable(report)).toContain('| make a receipt | 12.3 | 30.0 |');
});

test('a bar of the chart is as long as its figure, and what was not measured has none', () => {
  const chart = performanceChart(report);
  const bars = [...chart.matchAll(/class="(bar[ own]*)".* width="([\d.]+)"/g)].map(([, name, size]) => [name, size]);
  // The longest range, of plain Envoy, fills the first panel.
  expect(bars.slice(0, 3)).toEqual([
    ['bar', '270.0'],
    ['bar own', '54.0'],
    ['bar', '67.5'],
  ]);
  expect(bars).toHaveLength(9);
  expect(chart).toContain('<path class="range" d="M157.0 70H238.0"/>');
  expect(chart).not.toContain('LiteLLM');
});

test('what a goal leaves for the work is the time of all processors that it allows, less what the way takes', () => {
  const further = (['json-32', 'stream-at-once'] as const).flatMap((scenario) => [
    figures(scenario, 'bare', 250),
    figures(scenario, 'envoy-ai-gateway', 240),
  ]);
  const reach = reachTable({ ...report, figures: [...report.figures, ...further] });
  // Two processors: 2000 µs for a call of plain Envoy, 8000 without the work, 10,000 of the gateway.
  expect(reach).toContain('| µs of all processors for a call without the work | 8000 | 8000 |');
  expect(reach).toContain('| left for the work by the goal beside plain Envoy | 2526 | 333 |');
  expect(reach).toContain('| left for the work by the goal beside Envoy AI Gateway | −1056 | – |');
  expect(reach).toContain('| taken by the work | 2000 | 2000 |');
  expect(reach).toContain('| the same, µs of processor time | 1000 | 1000 |');
  expect(reach).toContain('| of which Valkey and Postgres | 0 | 0 |');
  const alone = further.filter(({ target }) => target === 'bare');
  expect(reachTable({ ...report, figures: [...report.figures, ...alone] })).toContain(
    '| Envoy AI Gateway, × plain Envoy | – | – |',
  );
  expect(() => reachTable(report)).toThrow('has no json-32 of bare');
});

test('the results of the documentation are of a run with other gateways', () => {
  expect(performanceReport().peers.map(({ name }) => name)).toEqual(['envoy-ai-gateway', 'portkey', 'litellm']);
});
