/** From samples to figures: medians over rounds; ratios and differences are made inside a round, then their median. */
import type { Micro } from './micro.ts';
import { LONG_STREAM_TOKENS, type Sample, type Scenario, SHORT_STREAM_TOKENS, STREAMS } from './rounds.ts';
import { difference, medianOf, ratio } from './statistics.ts';
import type { Target } from './target.ts';

export type TargetName = Target['name'];
type PerPart = Readonly<Record<string, number | null>>;

/** Times in milliseconds; for streams they run to the first token. Null where nothing was measured. */
export interface Figures {
  readonly scenario: Scenario;
  readonly target: TargetName;
  readonly requestsPerS: number | null;
  readonly eventsPerS: number | null;
  readonly ratioToEnvoy: number | null;
  readonly p50Ms: number | null;
  readonly p99Ms: number | null;
  readonly addedP50Ms: number | null;
  readonly addedP99Ms: number | null;
  readonly errors: number;
  readonly cpuUsPerRequest: PerPart;
  /** The cost of opening the streams included. */
  readonly cpuUsPerEvent: PerPart;
}

export interface Report {
  readonly generator: string;
  readonly machine: { readonly cpus: number; readonly platform: string; readonly node: string };
  readonly rounds: number;
  readonly secondsPerMeasurement: number;
  readonly streams: { readonly count: number; readonly shortTokens: number; readonly longTokens: number };
  readonly figures: readonly Figures[];
  /** What one more event costs, from the distance between short and long streams. */
  readonly cpuUsPerFurtherEvent: Readonly<Partial<Record<TargetName, PerPart>>>;
  readonly idleCpuPercent: Readonly<Partial<Record<TargetName, PerPart>>>;
  readonly rssMb: Readonly<Partial<Record<TargetName, Readonly<Record<string, number>>>>>;
  /** Processor time of steps by themselves. */
  readonly micro: readonly Micro[];
  /** Parts that ended while they were measured: what was measured then is worth little. */
  readonly restarted: readonly string[];
  readonly goals: readonly Goal[];
}

export interface Goal {
  readonly name: string;
  readonly goal: string;
  readonly reached: number | null;
}

const requestsPerS = ({ load }: Sample): number | null => ratio(load.requests, load.durationS);
const answered = ({ load }: Sample): number => load.requests + load.errors;

/** The sample of another target in the same round and scenario. */
function twin(samples: readonly Sample[], of: Sample, target: TargetName): Sample | undefined {
  return samples.find((other) => other.round === of.round && other.scenario === of.scenario && other.target === target);
}

function perPart(samples: readonly Sample[], figure: (sample: Sample, cpuUs: number | null) => number | null): PerPart {
  const parts = new Set(samples.flatMap(({ cpuUs }) => Object.keys(cpuUs)));
  return Object.fromEntries(
    [...parts].map((part) => [part, medianOf(samples, (sample) => figure(sample, sample.cpuUs[part] ?? null))]),
  );
}

/** The same samples without what the parts use when nobody asks anything, as it was measured in the same round. */
export function withoutIdle(samples: readonly Sample[]): Sample[] {
  const net = (sample: Sample, part: string): number | null => {
    const idle = samples.find(
      ({ round, target, scenario }) => round === sample.round && target === sample.target && scenario === 'idle',
    );
    const perS = ratio(idle?.cpuUs[part], idle?.elapsedS);
    return perS === null ? null : difference(sample.cpuUs[part], perS * sample.elapsedS);
  };
  return samples
    .filter(({ scenario }) => scenario !== 'idle')
    .map((sample) => ({
      ...sample,
      cpuUs: Object.fromEntries(Object.keys(sample.cpuUs).map((part) => [part, net(sample, part)])),
    }));
}

/** Share of one processor, in per cent, that each part uses when nobody asks anything. */
export function idleCpuPercent(samples: readonly Sample[], target: TargetName): PerPart {
  const idle = samples.filter((sample) => sample.scenario === 'idle' && sample.target === target);
  return perPart(idle, ({ elapsedS }, cpuUs) => ratio(cpuUs, elapsedS * 1e4));
}

export function figuresOf(samples: readonly Sample[], scenario: Scenario, target: TargetName): Figures {
  const own = samples.filter((sample) => sample.scenario === scenario && sample.target === target);
  const envoy = (sample: Sample): Sample | undefined =>
    target === 'gateway' ? twin(samples, sample, 'envoy') : undefined;
  return {
    scenario,
    target,
    requestsPerS: medianOf(own, requestsPerS),
    eventsPerS: medianOf(own, ({ load }) => ratio(load.events, load.durationS)),
    ratioToEnvoy: medianOf(own, (sample) => {
      const plain = twin(samples, sample, 'envoy');
      return plain === undefined ? null : ratio(requestsPerS(sample), requestsPerS(plain));
    }),
    p50Ms: medianOf(own, ({ load }) => load.p50Ms),
    p99Ms: medianOf(own, ({ load }) => load.p99Ms),
    addedP50Ms: medianOf(own, (sample) => difference(sample.load.p50Ms, envoy(sample)?.load.p50Ms)),
    addedP99Ms: medianOf(own, (sample) => difference(sample.load.p99Ms, envoy(sample)?.load.p99Ms)),
    errors: own.reduce((sum, { load }) => sum + load.errors, 0),
    cpuUsPerRequest: perPart(own, (sample, cpuUs) => ratio(cpuUs, answered(sample))),
    cpuUsPerEvent: perPart(own, ({ load }, cpuUs) => ratio(cpuUs, load.events)),
  };
}

/** (CPU of a long stream − CPU of a short one) ÷ (events of a long one − events of a short one), by part. */
export function furtherEventCpuUs(samples: readonly Sample[], target: TargetName): PerPart {
  const of = (scenario: Scenario): Sample[] =>
    samples.filter((sample) => sample.scenario === scenario && sample.target === target);
  const long = of('stream-long');
  const parts = new Set(long.flatMap(({ cpuUs }) => Object.keys(cpuUs)));
  const cost = (short: Sample, part: string): number | null => {
    const other = long.find(({ round }) => round === short.round);
    const perStream = (sample: Sample | undefined, amount: number | null | undefined): number | null =>
      ratio(amount, sample?.load.requests);
    return ratio(
      difference(perStream(other, other?.cpuUs[part]), perStream(short, short.cpuUs[part])),
      difference(perStream(other, other?.load.events), perStream(short, short.load.events)),
    );
  };
  return Object.fromEntries(
    [...parts].map((part) => [part, medianOf(of('stream-short'), (short) => cost(short, part))]),
  );
}

/** All parts but the provider, which is not ours to make cheaper. Null if any figure is missing. */
export function totalWithoutProvider(parts: PerPart | undefined): number | null {
  const own = Object.entries(parts ?? {}).filter(([part]) => part !== 'simulator');
  let total = 0;
  for (const [, value] of own) {
    if (value === null) return null;
    total += value;
  }
  return own.length === 0 ? null : total;
}

const typescriptParts = ['ext-authz', 'receipt-sidecar', 'control-plane'];

/** What the project wants to reach, beside what was reached. Nothing is asserted: the machine decides too. */
export function goalsOf(report: Omit<Report, 'goals'>): Goal[] {
  const find = (scenario: Scenario): Figures | undefined =>
    report.figures.find((figures) => figures.target === 'gateway' && figures.scenario === scenario);
  const rss = report.rssMb.gateway;
  return [
    {
      name: "share of plain Envoy's requests/s, 32 connections",
      goal: '≥ 0.10',
      reached: find('json-32')?.ratioToEnvoy ?? null,
    },
    { name: 'added p50 at 1 connection, ms', goal: '≤ 3', reached: find('json-1')?.addedP50Ms ?? null },
    {
      name: 'CPU µs per stream event, all parts, opening the stream included',
      goal: '≤ 80',
      reached: totalWithoutProvider(find('stream-short')?.cpuUsPerEvent),
    },
    {
      name: 'CPU µs per further stream event, all parts',
      goal: '≤ 80',
      reached: totalWithoutProvider(report.cpuUsPerFurtherEvent.gateway),
    },
    {
      name: 'RSS of the TypeScript parts together, MB',
      goal: '≤ 500',
      reached: rss === undefined ? null : typescriptParts.reduce((sum, part) => sum + (rss[part] ?? 0), 0),
    },
  ];
}

export const streamSettings = { count: STREAMS, shortTokens: SHORT_STREAM_TOKENS, longTokens: LONG_STREAM_TOKENS };
