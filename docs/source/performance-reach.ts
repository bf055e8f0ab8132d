/** How much of each goal is left for the work of the gateway, by the medians of one run of the benchmarks. */
import { type Report, totalWithoutProvider } from '@gw/bench/internals/report';
import { show, showRange } from '@gw/bench/internals/table';
import { tableOf } from './numbers.ts';
import { figuresAt } from './performance.ts';

/** Requests per second, as parts of those of plain Envoy and of Envoy AI Gateway. */
const goals = {
  'json-32': { ofPlainEnvoy: 0.19, ofAiGateway: 1.2 },
  'stream-at-once': { ofPlainEnvoy: 0.24, ofAiGateway: null },
} as const;
type Scenario = keyof typeof goals;
type Name = 'envoy' | 'envoy-ai-gateway' | 'gateway' | 'bare';
const scenarios: readonly Scenario[] = ['json-32', 'stream-at-once'];

const nothing = '–';
const whole = (us: number): string => String(Math.round(us)).replace('-', '−');

/**
 * Times of all processors are their number / requests per second, whoever uses them: the provider and the load generator too, and
 * nobody while all of them wait. A peer that was not measured has dashes.
 */
export function reachTable(report: Report): string {
  const measured = (name: Name): boolean => report.figures.some(({ target }) => target === name);
  const ratio = (scenario: Scenario, name: Name): string => {
    if (!measured(name)) return nothing;
    const { ratioToEnvoy, ratioToEnvoyRange } = figuresAt(report, scenario, name);
    return `${show(ratioToEnvoy)} (${showRange(ratioToEnvoyRange)})`;
  };
  const us = (scenario: Scenario, name: Name): number =>
    (report.machine.cpus * 1e6) / (figuresAt(report, scenario, name).requestsPerS ?? Number.NaN);
  const left = (scenario: Scenario, name: Name, goal: number | null): string =>
    goal === null || !measured(name) ? nothing : whole(us(scenario, name) / goal - us(scenario, 'bare'));
  /** Processor time, of the gateway less what it takes without its work. */
  const work = (scenario: Scenario, parts: readonly string[] | null): string => {
    const [all, without] = (['gateway', 'bare'] as const).map((name) => {
      const used = figuresAt(report, scenario, name).cpuUsPerRequest;
      return parts
        ? parts.reduce((sum, part) => sum + (used[part] ?? 0), 0)
        : (totalWithoutProvider(used) ?? Number.NaN);
    });
    return whole((all ?? Number.NaN) - (without ?? Number.NaN));
  };
  const row = (name: string, cell: (scenario: Scenario) => string): string[] => [name, ...scenarios.map(cell)];
  return tableOf(
    ['', 'JSON, 32 connections', 'unpaced streams'],
    [
      row('without its work, × plain Envoy', (each) => ratio(each, 'bare')),
      row('Envoy AI Gateway, × plain Envoy', (each) => ratio(each, 'envoy-ai-gateway')),
      row('the gateway, × plain Envoy', (each) => ratio(each, 'gateway')),
      row('the goal, × plain Envoy', (each) => show(goals[each].ofPlainEnvoy)),
      row('the goal, × Envoy AI Gateway', (each) => show(goals[each].ofAiGateway)),
      row('µs of all processors for a call without the work', (each) => whole(us(each, 'bare'))),
      row('left for the work by the goal beside plain Envoy', (each) => left(each, 'envoy', goals[each].ofPlainEnvoy)),
      row('left for the work by the goal beside Envoy AI Gateway', (each) =>
        left(each, 'envoy-ai-gateway', goals[each].ofAiGateway),
      ),
      row('taken by the work', (each) => whole(us(each, 'gateway') - us(each, 'bare'))),
      row('the same, µs of processor time', (each) => work(each, null)),
      row('of which Valkey and Postgres', (each) => work(each, ['valkey', 'postgres'])),
    ],
  );
}
