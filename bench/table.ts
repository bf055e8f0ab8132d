/** The report as text for a terminal. */
import { elementAt } from '@gw/contract/internal/defined';
import type { Range } from './load/statistics.ts';
import { isExceeded, type Micro } from './micro.ts';
import {
  type ApiCost,
  type Figures,
  isTooDear,
  type PerPart,
  type Report,
  type TargetName,
  totalWithoutProvider,
} from './report.ts';
import { leastWarmUpSeconds, type Scenario, STREAM_TOKENS, STREAMS } from './rounds.ts';

export const title: Record<TargetName, string> = {
  provider: 'provider alone',
  envoy: 'plain Envoy',
  gateway: 'gateway',
  budget: 'with a budget',
  bare: 'without its work',
  'envoy-ai-gateway': 'Envoy AI Gateway',
  portkey: 'Portkey',
  litellm: 'LiteLLM',
};

/** Two to four significant digits, a dash for what is not known. */
export function show(value: number | null | undefined): string {
  if (value === null || value === undefined) return '–';
  const size = Math.abs(value);
  return value.toFixed(size >= 100 ? 0 : size >= 10 ? 1 : size >= 0.1 || size === 0 ? 2 : 3);
}

/** The lowest and the highest of the rounds. */
export const showRange = (range: Range | null): string =>
  range === null ? '–' : `${show(range.lowest)}–${show(range.highest)}`;

/** Columns as wide as their longest cell; the first one is text, the others are numbers and stand at the right. */
export function table(rows: readonly (readonly string[])[]): string {
  const widths: number[] = [];
  for (const row of rows) for (const [i, cell] of row.entries()) widths[i] = Math.max(widths[i] ?? 0, cell.length);
  const line = (row: readonly string[]): string =>
    row
      .map((cell, i) => (i === 0 ? cell.padEnd(elementAt(widths, i)) : cell.padStart(elementAt(widths, i))))
      .join('   ');
  return rows.map((row) => `  ${line(row)}`.trimEnd()).join('\n');
}

function speedTable(figures: readonly Figures[], scenario: Scenario): string {
  const isStream = scenario === 'stream';
  // Streams are paced: how many arrive says nothing of the way.
  const range = 'lowest–highest';
  const head = [
    '',
    ...(isStream ? ['events/s'] : ['requests/s', range, '× Envoy', range]),
    'p50 ms',
    'p99 ms',
    'added p50',
    'added p99',
    'errors',
  ];
  const rows = figures
    .filter((row) => row.scenario === scenario)
    .map((row) => [
      title[row.target],
      ...(isStream
        ? [show(row.eventsPerS)]
        : [
            show(row.requestsPerS),
            showRange(row.requestsPerSRange),
            show(row.ratioToEnvoy),
            showRange(row.ratioToEnvoyRange),
          ]),
      show(row.p50Ms),
      show(row.p99Ms),
      show(row.addedP50Ms),
      show(row.addedP99Ms),
      String(row.errors),
    ]);
  return table([head, ...rows]);
}

type Columns = readonly (readonly [TargetName, PerPart])[];

/** Parts as rows, targets as columns; `total` leaves the provider out. */
function partTable(columns: Columns): string {
  const parts = [...new Set(columns.flatMap(([, values]) => Object.keys(values)))];
  const rows = parts.map((part) => [part, ...columns.map(([, values]) => show(values[part]))]);
  const totals = ['all but the simulator', ...columns.map(([, values]) => show(totalWithoutProvider(values)))];
  return table([['', ...columns.map(([target]) => title[target])], ...rows, totals]);
}

function byTarget(report: Report, scenario: Scenario, figure: 'cpuUsPerRequest' | 'cpuUsPerEvent'): Columns {
  return report.figures.filter((row) => row.scenario === scenario).map((row) => [row.target, row[figure]]);
}

function microTable(micro: readonly Micro[]): string {
  const rows = micro.map((step) => [
    step.name,
    show(step.us),
    `≤ ${show(step.limitUs)}`,
    isExceeded(step) ? 'exceeded' : 'ok',
  ]);
  return table([['', 'µs', 'limit', ''], ...rows]);
}

function apiTable(costs: readonly ApiCost[]): string {
  const rows = costs.map((cost) => [
    cost.scenario,
    show(cost.ratioToChat),
    showRange(cost.ratioToChatRange),
    `≤ ${show(cost.limit)}`,
    show(totalWithoutProvider(cost.cpuUsPerRequest)),
    String(cost.errors),
    isTooDear(cost) ? 'exceeded' : 'ok',
  ]);
  return table([['', '× chat', 'lowest–highest', 'limit', 'µs', 'errors', ''], ...rows]);
}

const targetNames = ({ figures }: Report): TargetName[] => [...new Set(figures.map(({ target }) => target))];

export function reportText(report: Report): string {
  const { machine, rounds, rssMb } = report;
  // The gateway with a budget runs in the same processes as the one without.
  const rss: Columns = targetNames(report).flatMap((target) => {
    if (target === 'budget') return [];
    const parts = rssMb[target];
    return parts === undefined ? [] : [[target, parts] as const];
  });
  const streams = `${STREAMS} paced streams of ${STREAM_TOKENS} tokens`;
  const sections: [string, string][] = [
    ['JSON chat completions, 1 connection', speedTable(report.figures, 'json-1')],
    ['JSON chat completions, 32 connections', speedTable(report.figures, 'json-32')],
    [`${STREAMS} streams of ${STREAM_TOKENS} tokens that come at once`, speedTable(report.figures, 'stream-at-once')],
    [`${streams}, time to the first token`, speedTable(report.figures, 'stream')],
    ['CPU µs per request, 1 connection', partTable(byTarget(report, 'json-1', 'cpuUsPerRequest'))],
    ['CPU µs per request, 32 connections', partTable(byTarget(report, 'json-32', 'cpuUsPerRequest'))],
    [
      'A budget, 32 connections: the gateway with one / without, same account and round',
      table([
        ['requests/s', show(report.budget.requestsPerS)],
        ['CPU per request', show(report.budget.cpuUs)],
      ]),
    ],
    ['CPU of a call of each API / of the same chat completion, 32 connections', apiTable(report.apis ?? [])],
    ['CPU µs per stream that comes at once', partTable(byTarget(report, 'stream-at-once', 'cpuUsPerRequest'))],
    ['CPU µs per stream event, opening included', partTable(byTarget(report, 'stream', 'cpuUsPerEvent'))],
    ['RSS in MB after all rounds', partTable(rss)],
    [
      `CPU µs of steps of a request, in this process; their limits × ${show(report.slowness)}, as slow as the machine was`,
      microTable(report.micro),
    ],
  ];
  const peers = report.peers.map(
    ({ name, notMeasured, version }) =>
      `${title[name]} ${version}${notMeasured === null ? '' : ` was not measured: ${notMeasured}`}`,
  );
  const about = `${machine.cpus} CPUs shared with the load generator and the provider; ${report.secondsPerMeasurement} s each, medians of ${rounds}, after ${leastWarmUpSeconds} s of calls or more. ${machine.platform}, Node ${machine.node}, ${machine.cpu}.`;
  return [
    about,
    ...(peers.length === 0 ? [] : [peers.join('\n')]),
    ...sections.map(([name, text]) => `${name}\n${text}`),
    '',
  ].join('\n\n');
}
