/** The tables of docs/performance.md show one run of the benchmarks, which `./gw bench --peers --json` wrote to docs/performance.json. */
import { readFileSync } from 'node:fs';
import { type Figures, type Report, totalWithoutProvider } from '@gw/bench/internals/report';
import type { Scenario } from '@gw/bench/internals/rounds';
import { show, showRange, title } from '@gw/bench/internals/table';
import { z } from 'zod';
import { tableOf } from './numbers.ts';

const figure = z.number().nullable();
const range = z.object({ lowest: z.number(), highest: z.number() }).nullable();
const perPart = z.record(z.string(), figure);
const target = z.enum(['provider', 'envoy', 'gateway', 'budget', 'bare', 'envoy-ai-gateway', 'portkey', 'litellm']);

const reportSchema: z.ZodType<Report> = z.object({
  date: z.iso.date(),
  machine: z.object({
    cpus: z.number(),
    cpu: z.string(),
    memoryGiB: z.number(),
    platform: z.string(),
    node: z.string(),
  }),
  rounds: z.number(),
  secondsPerMeasurement: z.number(),
  peers: z.array(
    z.object({
      name: z.enum(['envoy-ai-gateway', 'portkey', 'litellm']),
      version: z.string(),
      notMeasured: z.string().nullable(),
    }),
  ),
  figures: z.array(
    z.object({
      scenario: z.enum(['idle', 'json-1', 'json-32', 'stream-at-once', 'stream']),
      target,
      requestsPerS: figure,
      requestsPerSRange: range,
      eventsPerS: figure,
      ratioToEnvoy: figure,
      ratioToEnvoyRange: range,
      p50Ms: figure,
      p99Ms: figure,
      addedP50Ms: figure,
      addedP99Ms: figure,
      errors: z.number(),
      cpuUsPerRequest: perPart,
      cpuUsPerEvent: perPart,
    }),
  ),
  budget: z.object({ requestsPerS: figure, cpuUs: figure }),
  rssMb: z.partialRecord(target, perPart),
  micro: z.array(z.object({ name: z.string(), us: z.number(), limitUs: z.number() })),
  slowness: z.number(),
});

export const performanceReport = (): Report =>
  reportSchema.parse(JSON.parse(readFileSync(new URL('../performance.json', import.meta.url), 'utf8')));

type Target = Figures['target'];

const targetsOf = ({ figures }: Report): Target[] => [...new Set(figures.map((each) => each.target))];

export function figuresAt({ figures }: Report, scenario: Scenario, name: Target): Figures {
  const found = figures.find((each) => each.scenario === scenario && each.target === name);
  if (found === undefined) throw new Error(`docs/performance.json has no ${scenario} of ${name}.`);
  return found;
}

/** When, where, how often, and which releases of the others. */
export function runText({ date, machine, peers, rounds, secondsPerMeasurement }: Report): string {
  const { cpu, cpus, memoryGiB, node, platform } = machine;
  const others = peers.map(
    ({ name, notMeasured, version }) =>
      `${title[name]} ${version}${notMeasured === null ? '' : ` (not measured: ${notMeasured})`}`,
  );
  const short =
    rounds < 5 || secondsPerMeasurement < 4 ? ' This was a short run: its figures show only orders of magnitude.' : '';
  return [
    `Measured on ${date} on ${cpus} processors (${cpu}), shared by all parts, the provider and the load generator; ${memoryGiB} GiB, ${platform}, Node ${node}.`,
    `Medians of ${rounds} ${rounds === 1 ? 'round' : 'rounds'} of ${secondsPerMeasurement} s per measurement; the lowest and the highest round in parentheses.${short}`,
    ...(others.length === 0 ? [] : [`Peers: ${others.join(', ')}.`]),
  ].join('\n');
}

export function speedTable(report: Report): string {
  const rows = targetsOf(report).map((name) => {
    const [one, many, atOnce, stream] = (['json-1', 'json-32', 'stream-at-once', 'stream'] as const).map((each) =>
      figuresAt(report, each, name),
    );
    return [
      title[name],
      `${show(many?.requestsPerS)} (${showRange(many?.requestsPerSRange ?? null)})`,
      `${show(many?.ratioToEnvoy)} (${showRange(many?.ratioToEnvoyRange ?? null)})`,
      `${show(one?.requestsPerS)} (${showRange(one?.requestsPerSRange ?? null)})`,
      ...[show(one?.p50Ms), show(one?.addedP50Ms)],
      `${show(atOnce?.requestsPerS)} (${showRange(atOnce?.requestsPerSRange ?? null)})`,
      `${show(atOnce?.ratioToEnvoy)} (${showRange(atOnce?.ratioToEnvoyRange ?? null)})`,
      show(stream?.p50Ms),
      String([one, many, atOnce, stream].reduce((sum, each) => sum + (each?.errors ?? 0), 0)),
    ];
  });
  return tableOf(
    [
      ...['', 'requests/s, 32 connections', '× plain Envoy', 'requests/s, 1 connection', 'p50 ms, 1 connection'],
      ...['added to plain Envoy, ms', 'unpaced streams/s, 32 connections', '× plain Envoy'],
      ...['first token ms, 32 paced streams', 'errors'],
    ],
    rows,
  );
}

const costColumns = [
  ...['CPU µs per call, 32 connections', '1 connection', 'per unpaced stream'],
  ...['per event of a paced stream', 'RSS MB'],
];

/** The provider is left out of these sums. */
export function costTable(report: Report): string {
  const rows = targetsOf(report)
    .filter((name) => name !== 'provider')
    .map((name) => [
      title[name],
      show(totalWithoutProvider(figuresAt(report, 'json-32', name).cpuUsPerRequest)),
      show(totalWithoutProvider(figuresAt(report, 'json-1', name).cpuUsPerRequest)),
      show(totalWithoutProvider(figuresAt(report, 'stream-at-once', name).cpuUsPerRequest)),
      show(totalWithoutProvider(figuresAt(report, 'stream', name).cpuUsPerEvent)),
      show(totalWithoutProvider(report.rssMb[name] ?? {})),
    ]);
  return tableOf(['', ...costColumns], rows);
}

export function partsTable(report: Report): string {
  const many = figuresAt(report, 'json-32', 'gateway').cpuUsPerRequest;
  const one = figuresAt(report, 'json-1', 'gateway').cpuUsPerRequest;
  const atOnce = figuresAt(report, 'stream-at-once', 'gateway').cpuUsPerRequest;
  const event = figuresAt(report, 'stream', 'gateway').cpuUsPerEvent;
  const rows = Object.keys(many).map((part) =>
    [part, ...[many, one, atOnce, event, report.rssMb.gateway ?? {}].map((each) => show(each[part]))].map(String),
  );
  return tableOf(['Part', ...costColumns], rows);
}

export const stepsTable = ({ micro }: Report): string =>
  tableOf(
    ['Step', 'CPU µs', 'Limit'],
    micro.map(({ limitUs, name, us }) => [name, show(us), show(limitUs)]),
  );
