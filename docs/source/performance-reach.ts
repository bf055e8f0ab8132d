/** How much of each goal is left for the work of the gateway, of one run of the benchmarks. */
import type { Report } from '@gw/bench/internals/report';
import { show, showRange } from '@gw/bench/internals/table';
import { tableOf } from './numbers.ts';
import { figuresAt } from './performance.ts';

/** Requests per second, as parts of those of plain Envoy and of Envoy AI Gateway. Decision 55 says where they are from. */
const goals = {
  'json-32': { ofPlainEnvoy: 0.19, ofAiGateway: 1.2 },
  'stream-at-once': { ofPlainEnvoy: 0.24, ofAiGateway: null },
} as const;
type Scenario = keyof typeof goals;
const scenarios: readonly Scenario[] = ['json-32', 'stream-at-once'];

/**
 * Times are µs of all processors for a call: their number / requests per second. All of them are busy in these scenarios, with the
 * provider and the load generator too.
 */
export function reachTable(report: Report): string {
  const of = (scenario: Scenario, name: 'envoy' | 'envoy-ai-gateway' | 'gateway' | 'bare') => {
    const { cpuUsPerRequest, ratioToEnvoy, ratioToEnvoyRange, requestsPerS } = figuresAt(report, scenario, name);
    return {
      ratio: `${show(ratioToEnvoy)} (${showRange(ratioToEnvoyRange)})`,
      us: (report.machine.cpus * 1e6) / (requestsPerS ?? Number.NaN),
      storesUs: (cpuUsPerRequest.valkey ?? 0) + (cpuUsPerRequest.postgres ?? 0),
    };
  };
  const whole = (us: number): string => String(Math.round(us));
  const row = (name: string, cell: (scenario: Scenario) => string): string[] => [name, ...scenarios.map(cell)];
  const left = (scenario: Scenario, name: 'envoy' | 'envoy-ai-gateway', goal: number | null): string =>
    goal === null ? 'no such goal' : whole(of(scenario, name).us / goal - of(scenario, 'bare').us);
  return tableOf(
    ['', 'JSON, 32 connections', 'streams that come at once'],
    [
      row('without its work, × plain Envoy', (each) => of(each, 'bare').ratio),
      row('Envoy AI Gateway, × plain Envoy', (each) => of(each, 'envoy-ai-gateway').ratio),
      row('the gateway, × plain Envoy', (each) => of(each, 'gateway').ratio),
      row('the goal, × plain Envoy', (each) => show(goals[each].ofPlainEnvoy)),
      row('the goal, × Envoy AI Gateway', (each) => show(goals[each].ofAiGateway)),
      row('µs of all processors for a call without the work', (each) => whole(of(each, 'bare').us)),
      row('what the goal beside plain Envoy would leave for the work', (each) =>
        left(each, 'envoy', goals[each].ofPlainEnvoy),
      ),
      row('what the goal beside Envoy AI Gateway would leave', (each) =>
        left(each, 'envoy-ai-gateway', goals[each].ofAiGateway),
      ),
      row('what the work takes', (each) => whole(of(each, 'gateway').us - of(each, 'bare').us)),
      row('Valkey and Postgres for the work, µs of processor time', (each) =>
        whole(of(each, 'gateway').storesUs - of(each, 'bare').storesUs),
      ),
    ],
  );
}
