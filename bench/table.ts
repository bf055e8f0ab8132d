/** The report as text for a terminal. */
import { isExceeded, type Micro } from './micro.ts';
import { type Figures, type Report, type TargetName, totalWithoutProvider } from './report.ts';
import type { Scenario } from './rounds.ts';

const title: Record<TargetName, string> = { provider: 'provider alone', envoy: 'plain Envoy', gateway: 'gateway' };

/** Two to four significant digits, a dash for what is not known. */
export function show(value: number | null | undefined): string {
  if (value === null || value === undefined) return '–';
  const size = Math.abs(value);
  return value.toFixed(size >= 100 ? 0 : size >= 10 ? 1 : 2);
}

/** Columns as wide as their longest cell; the first one is text, the others are numbers and stand at the right. */
export function table(rows: readonly (readonly string[])[]): string {
  const widths: number[] = [];
  for (const row of rows) for (const [i, cell] of row.entries()) widths[i] = Math.max(widths[i] ?? 0, cell.length);
  const line = (row: readonly string[]): string =>
    row.map((cell, i) => (i === 0 ? cell.padEnd(widths[i] ?? 0) : cell.padStart(widths[i] ?? 0))).join('   ');
  return rows.map((row) => `  ${line(row)}`.trimEnd()).join('\n');
}

function speedTable(figures: readonly Figures[], scenario: Scenario): string {
  const isStream = scenario.startsWith('stream');
  const head = [
    '',
    isStream ? 'events/s' : 'requests/s',
    '× Envoy',
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
      show(isStream ? row.eventsPerS : row.requestsPerS),
      isStream ? '' : show(row.ratioToEnvoy),
      show(row.p50Ms),
      show(row.p99Ms),
      show(row.addedP50Ms),
      show(row.addedP99Ms),
      String(row.errors),
    ]);
  return table([head, ...rows]);
}

type Columns = readonly (readonly [TargetName, Readonly<Record<string, number | null>>])[];

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

const entries = (values: Report['cpuUsPerFurtherEvent'] | Report['rssMb']): Columns =>
  (['provider', 'envoy', 'gateway'] as const).flatMap((target) => {
    const parts = values[target];
    return parts === undefined ? [] : [[target, parts] as const];
  });

function microTable(micro: readonly Micro[]): string {
  const rows = micro.map((step) => {
    const { limitUs, name, us } = step;
    const limit = limitUs === null ? ['', ''] : [`≤ ${limitUs}`, isExceeded(step) ? 'exceeded' : 'ok'];
    return [name, show(us), ...limit];
  });
  return table([['', 'µs', 'limit', ''], ...rows]);
}

export function reportText(report: Report): string {
  const { machine, streams, rounds } = report;
  const pace = `${streams.count} paced streams of`;
  const sections: [string, string][] = [
    ['JSON chat completions, 1 connection', speedTable(report.figures, 'json-1')],
    ['JSON chat completions, 32 connections', speedTable(report.figures, 'json-32')],
    [`${pace} ${streams.shortTokens} tokens, time to the first token`, speedTable(report.figures, 'stream-short')],
    [`${pace} ${streams.longTokens} tokens, time to the first token`, speedTable(report.figures, 'stream-long')],
    ['CPU µs per request, 32 connections', partTable(byTarget(report, 'json-32', 'cpuUsPerRequest'))],
    ['CPU µs per stream event, opening included', partTable(byTarget(report, 'stream-short', 'cpuUsPerEvent'))],
    ['CPU µs per further stream event', partTable(entries(report.cpuUsPerFurtherEvent))],
    ['CPU % of one processor while nobody asks, not contained above', partTable(entries(report.idleCpuPercent))],
    ['RSS in MB after all rounds', partTable(entries(report.rssMb))],
    ['CPU µs of steps of a request, in this process', microTable(report.micro)],
  ];
  if (report.goals.length > 0) {
    const rows = report.goals.map(({ name, goal, reached }) => [name, goal, show(reached)]);
    sections.push(['Goals', table([['', 'goal', 'reached'], ...rows])]);
  }
  const about = `${machine.cpus} CPUs shared with the load generator (${report.generator}) and the provider; ${report.secondsPerMeasurement} s each, medians of ${rounds}. ${machine.platform}, Node ${machine.node}.`;
  if (report.restarted.length > 0) {
    sections.push([
      'Parts that ended meanwhile, so that these figures are worth little',
      `  ${report.restarted.join(', ')}`,
    ]);
  }
  return [about, ...sections.map(([name, text]) => `${name}\n${text}`), ''].join('\n\n');
}
