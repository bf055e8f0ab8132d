/** From samples to figures: medians over rounds; ratios and differences are made inside a round, then their median. */

import { type ApiScenario, apiScenarios } from './load/apis.ts';
import { difference, medianOf, type Range, rangeOf, ratio } from './load/statistics.ts';
import type { Target } from './load/target.ts';
import type { Micro } from './micro.ts';
import type { PeerState } from './peers/start.ts';
import type { Sample, Scenario } from './rounds.ts';

export type TargetName = Target['name'];
export type PerPart = Readonly<Record<string, number | null>>;

/** Times in milliseconds; for streams they run to the first token. Null where nothing was measured. */
export interface Figures {
  readonly scenario: Scenario;
  readonly target: TargetName;
  readonly requestsPerS: number | null;
  /** The range is over the rounds, as every range is. */
  readonly requestsPerSRange: Range | null;
  readonly eventsPerS: number | null;
  readonly ratioToEnvoy: number | null;
  readonly ratioToEnvoyRange: Range | null;
  readonly p50Ms: number | null;
  readonly p99Ms: number | null;
  readonly addedP50Ms: number | null;
  readonly addedP99Ms: number | null;
  readonly errors: number;
  readonly cpuUsPerRequest: PerPart;
  /** The cost of opening the streams included. */
  readonly cpuUsPerEvent: PerPart;
}

/** The cost of a budget per call: figures with a budget as ratios of those without, for the same account and round. */
export interface BudgetCost {
  readonly requestsPerS: number | null;
  /** The processor time of all parts except the provider, for one request. */
  readonly cpuUs: number | null;
}

/** The cost of a call in the words of an API, beside the same call as a chat completion that took turns with it. */
export interface ApiCost {
  readonly scenario: ApiScenario['name'];
  /** Processor time of all parts but the provider, by that of a chat completion in the same round. */
  readonly ratioToChat: number | null;
  readonly ratioToChatRange: Range | null;
  readonly limit: number;
  readonly cpuUsPerRequest: PerPart;
  readonly errors: number;
}

export interface Machine {
  readonly cpus: number;
  readonly cpu: string;
  readonly memoryGiB: number;
  readonly platform: string;
  readonly node: string;
}

export interface Report {
  /** The day, UTC. */
  readonly date: string;
  readonly machine: Machine;
  readonly rounds: number;
  readonly secondsPerMeasurement: number;
  /** The other gateways that were asked for. */
  readonly peers: readonly PeerState[];
  readonly figures: readonly Figures[];
  readonly budget: BudgetCost;
  /** Absent in a run of before they were measured. */
  readonly apis?: readonly ApiCost[];
  readonly rssMb: Readonly<Partial<Record<TargetName, PerPart>>>;
  /** Processor time of steps by themselves. */
  readonly micro: readonly Micro[];
  /** This machine's slowness while they were measured (MicroReport). */
  readonly slowness: number;
}

const requestsPerS = ({ load }: Sample): number | null => ratio(load.requests, load.durationS);

/** The same samples without what the parts use when nobody asks anything, as it was measured in the same round. */
export function withoutIdle(samples: readonly Sample[]): Sample[] {
  const idleOf = ({ round, target }: Sample): Sample | undefined =>
    samples.find((other) => other.round === round && other.target === target && other.scenario === 'idle');
  const net = (sample: Sample, part: string, cpuUs: number): number => {
    const idle = idleOf(sample);
    return cpuUs - (ratio(idle?.cpuUs[part], idle?.elapsedS) ?? 0) * sample.elapsedS;
  };
  return samples
    .filter(({ scenario }) => scenario !== 'idle')
    .map((sample) => ({
      ...sample,
      cpuUs: Object.fromEntries(Object.entries(sample.cpuUs).map(([part, cpuUs]) => [part, net(sample, part, cpuUs)])),
    }));
}

export function figuresOf(samples: readonly Sample[], scenario: Scenario, target: TargetName): Figures {
  const own = samples.filter((sample) => sample.scenario === scenario && sample.target === target);
  /** Plain Envoy in the same round. */
  const plain = ({ round }: Sample): Sample | undefined =>
    samples.find((other) => other.round === round && other.scenario === scenario && other.target === 'envoy');
  const ratioToEnvoy = (sample: Sample): number | null => {
    const other = plain(sample);
    return other === undefined ? null : ratio(requestsPerS(sample), requestsPerS(other));
  };
  const added = (time: 'p50Ms' | 'p99Ms'): number | null =>
    target === 'provider' || target === 'envoy'
      ? null
      : medianOf(own, (each) => difference(each.load[time], plain(each)?.load[time]));
  const perPart = (per: (sample: Sample) => number): PerPart =>
    Object.fromEntries(
      Object.keys(own[0]?.cpuUs ?? {}).map((part) => [
        part,
        medianOf(own, (each) => ratio(each.cpuUs[part], per(each))),
      ]),
    );
  return {
    scenario,
    target,
    requestsPerS: medianOf(own, requestsPerS),
    requestsPerSRange: rangeOf(own, requestsPerS),
    eventsPerS: medianOf(own, ({ load }) => ratio(load.events, load.durationS)),
    ratioToEnvoy: medianOf(own, ratioToEnvoy),
    ratioToEnvoyRange: rangeOf(own, ratioToEnvoy),
    p50Ms: medianOf(own, ({ load }) => load.p50Ms),
    p99Ms: medianOf(own, ({ load }) => load.p99Ms),
    addedP50Ms: added('p50Ms'),
    addedP99Ms: added('p99Ms'),
    errors: own.reduce((sum, { load }) => sum + load.errors, 0),
    cpuUsPerRequest: perPart(({ load }) => load.requests + load.errors),
    cpuUsPerEvent: perPart(({ load }) => load.events),
  };
}

/** The processor time of all parts but the provider, for one call. */
const cpuUsPerCall = ({ cpuUs, load }: Sample): number | null =>
  ratio(totalWithoutProvider(cpuUs), load.requests + load.errors);

export function budgetCostOf(samples: readonly Sample[]): BudgetCost {
  const scenario: Scenario = 'json-32';
  const having = samples.filter((sample) => sample.scenario === scenario && sample.target === 'budget');
  const without = ({ round }: Sample): Sample | undefined =>
    samples.find((other) => other.round === round && other.scenario === scenario && other.target === 'gateway');
  const compared = (figure: (sample: Sample) => number | null): number | null =>
    medianOf(having, (sample) => {
      const other = without(sample);
      return other === undefined ? null : ratio(figure(sample), figure(other));
    });
  return { requestsPerS: compared(requestsPerS), cpuUs: compared(cpuUsPerCall) };
}

/** All parts but the provider, which is not ours to make cheaper. Null if any figure is missing. */
export function totalWithoutProvider(parts: PerPart): number | null {
  const own = Object.entries(parts).filter(([part]) => part !== 'simulator');
  return own.length === 0
    ? null
    : own.reduce<number | null>((sum, [, value]) => (sum === null || value === null ? null : sum + value), 0);
}

const limitOf = ({ isTranslated }: ApiScenario): number => (isTranslated ? 1.4 : 1.15);
export const isTooDear = ({ limit, ratioToChat }: ApiCost): boolean => ratioToChat !== null && ratioToChat > limit;

export function apiCostsOf(samples: readonly Sample[]): ApiCost[] {
  return apiScenarios
    .filter(({ api }) => api !== 'chat')
    .map((scenario) => {
      const own = samples.filter((sample) => sample.scenario === scenario.name);
      const chat = `chat ${scenario.isStream ? 'stream' : 'JSON'}`;
      const ratioToChat = (sample: Sample): number | null => {
        const other = samples.find(({ round, scenario: of }) => round === sample.round && of === chat);
        return other === undefined ? null : ratio(cpuUsPerCall(sample), cpuUsPerCall(other));
      };
      return {
        scenario: scenario.name,
        ratioToChat: medianOf(own, ratioToChat),
        ratioToChatRange: rangeOf(own, ratioToChat),
        limit: limitOf(scenario),
        cpuUsPerRequest: Object.fromEntries(
          Object.keys(own[0]?.cpuUs ?? {}).map((part) => [
            part,
            medianOf(own, ({ cpuUs: parts, load }) => ratio(parts[part], load.requests + load.errors)),
          ]),
        ),
        errors: own.reduce((sum, { load }) => sum + load.errors, 0),
      };
    });
}
