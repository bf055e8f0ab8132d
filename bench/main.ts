/** `gw bench`: starts what is measured, measures it in turns, prints the report, and stops all it started. */
import { availableParallelism } from 'node:os';
import { findOnPath } from '@gw/cli/services/child';
import { autocannonLoad } from './json-load.ts';
import { startLimitSteps } from './limit-steps.ts';
import { cpuMs, isExceeded, microBenchmarks } from './micro.ts';
import { type Options, readOptions, UsageError, usage } from './options.ts';
import { usedBy } from './processes.ts';
import {
  figuresOf,
  furtherEventCpuUs,
  goalsOf,
  idleCpuPercent,
  type Report,
  streamSettings,
  withoutIdle,
} from './report.ts';
import { restartedParts, runRounds, type Sample, scenarios } from './rounds.ts';
import { screeningSteps } from './screening.ts';
import { reportText } from './table.ts';
import type { Target } from './target.ts';
import { startTargets } from './targets.ts';
import { wrkLoad } from './wrk.ts';

const say = (line: string): void => {
  process.stderr.write(`${line}\n`);
};

const MB = 1024 * 1024;
function rssMb(target: Target): Record<string, number> {
  return Object.fromEntries(Object.entries(usedBy(target.pids())).map(([part, used]) => [part, used.rssBytes / MB]));
}

async function makeReport(
  options: Options,
  generator: string,
  targets: readonly Target[],
  samples: Sample[],
): Promise<Report> {
  const limits = await startLimitSteps();
  const micro = await microBenchmarks(cpuMs, undefined, [...limits.steps, ...screeningSteps()]).finally(limits.stop);
  const byName = <T>(value: (target: Target) => T): Partial<Record<Target['name'], T>> =>
    Object.fromEntries(targets.map((target) => [target.name, value(target)]));
  const net = withoutIdle(samples);
  const report = {
    generator,
    machine: {
      cpus: availableParallelism(),
      platform: `${process.platform} ${process.arch}`,
      node: process.versions.node,
    },
    rounds: options.rounds,
    secondsPerMeasurement: options.seconds,
    streams: streamSettings,
    figures: scenarios
      .filter((scenario) => scenario !== 'idle')
      .flatMap((scenario) => targets.map(({ name }) => figuresOf(net, scenario, name))),
    cpuUsPerFurtherEvent: byName(({ name }) => furtherEventCpuUs(net, name)),
    idleCpuPercent: byName(({ name }) => idleCpuPercent(samples, name)),
    rssMb: byName(rssMb),
    micro,
    restarted: restartedParts(samples),
  };
  return { ...report, goals: options.gateway ? goalsOf(report) : [] };
}

async function bench(options: Options, signal: AbortSignal): Promise<Report> {
  const wrk = findOnPath('wrk');
  say(wrk === null ? 'load generator: autocannon (wrk is not on PATH)' : `load generator: wrk (${wrk})`);
  const aborted = new Promise<never>((_, reject) => signal.addEventListener('abort', () => reject(signal.reason)));
  aborted.catch(() => undefined);
  const started = await startTargets(options.gateway, { log: say, signal });
  try {
    const { targets, model } = started;
    const { seconds, rounds, warmUp } = options;
    const jsonLoad = wrk === null ? autocannonLoad : wrkLoad(wrk, signal);
    const run = runRounds({ targets, model, jsonLoad, seconds, rounds, warmUp, progress: say, signal });
    const samples = await Promise.race([run, aborted]);
    const report = await makeReport(options, wrk === null ? 'autocannon' : 'wrk', targets, samples);
    if (report.restarted.length > 0) say(`logs of the parts: ${started.keepLogs()}`);
    return report;
  } finally {
    await started.stop();
  }
}

async function main(): Promise<number> {
  const options = readOptions(process.argv.slice(2));
  if (options.help) {
    process.stdout.write(usage);
    return 0;
  }
  const interrupt = new AbortController();
  for (const name of ['SIGINT', 'SIGTERM'] as const) {
    process.once(name, () => interrupt.abort(new Error(`Stopped by ${name}.`)));
  }
  const report = await bench(options, interrupt.signal);
  process.stdout.write(options.json ? `${JSON.stringify(report, null, 2)}\n` : reportText(report));
  const exceeded = report.micro.filter(isExceeded);
  for (const { limitUs, name, us } of exceeded) say(`${name}: ${us.toFixed(1)} µs of CPU, the limit is ${limitUs}`);
  return exceeded.length === 0 ? 0 : 1;
}

/** Ends only when all was written: a pipe takes a long report in pieces. */
function exit(code: number): void {
  process.stdout.write('', () => process.exit(code));
}

main().then(exit, (error: unknown) => {
  say(error instanceof Error ? error.message : String(error));
  if (error instanceof UsageError) say(usage);
  exit(error instanceof UsageError ? 2 : 1);
});
