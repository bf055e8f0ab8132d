/** `gw bench`: starts what is measured, measures it in turns, prints the report, and stops all it started. */
import { availableParallelism, cpus, totalmem } from 'node:os';
import { elementAt } from '@gw/contract/internal/defined';
import { errorText } from '@gw/contract/internal/error-text';
import { startIdempotencyStep } from './idempotency-step.ts';
import { startLimitStep } from './limit-step.ts';
import { cpuMs, isExceeded, microBenchmarks } from './micro.ts';
import { startTargets } from './peers/targets.ts';
import { usedBy } from './processes.ts';
import { apiCostsOf, budgetCostOf, figuresOf, isTooDear, type Report, withoutIdle } from './report.ts';
import { runRounds, scenarios } from './rounds.ts';
import { screeningSteps } from './screening.ts';
import { reportText } from './table.ts';

const say = (line: string): void => {
  process.stderr.write(`${line}\n`);
};

async function bench(options: Options, signal: AbortSignal): Promise<Report> {
  const measured = await benchTargets(options, signal);
  // When all targets have ended: the steps have the machine's caches to themselves.
  const limits = await startLimitStep();
  const idempotency = await startIdempotencyStep();
  const further = [limits.step, idempotency.step, ...screeningSteps()];
  const micro = await microBenchmarks(cpuMs, undefined, further).finally(() =>
    Promise.all([limits.stop(), idempotency.stop()]),
  );
  return { ...measured, micro: micro.steps, slowness: micro.slowness };
}

async function benchTargets(options: Options, signal: AbortSignal): Promise<Omit<Report, 'micro' | 'slowness'>> {
  const { peers = false, rounds, seconds } = options;
  const { apiModels, model, peerStates, stop, targets } = await startTargets({ log: say, signal, peers });
  try {
    const run = runRounds({ targets, model, apiModels, seconds, rounds, progress: say, signal });
    const samples = withoutIdle(await unlessAborted(run, signal));
    return {
      date: new Date().toISOString().slice(0, 10),
      machine: {
        cpus: availableParallelism(),
        cpu: cpus()[0]?.model ?? 'unknown',
        memoryGiB: Math.round(totalmem() / 1024 ** 3),
        platform: `${process.platform} ${process.arch}`,
        node: process.versions.node,
      },
      rounds,
      secondsPerMeasurement: seconds,
      peers: peerStates,
      figures: scenarios
        .filter((scenario) => scenario !== 'idle')
        .flatMap((scenario) => targets.map(({ name }) => figuresOf(samples, scenario, name))),
      budget: budgetCostOf(samples),
      apis: apiCostsOf(samples),
      rssMb: Object.fromEntries(
        targets.map(({ name, pids }) => [
          name,
          Object.fromEntries(Object.entries(usedBy(pids())).map(([part, used]) => [part, used.rssBytes / 1024 ** 2])),
        ]),
      ),
    };
  } finally {
    await stop();
  }
}

async function main(): Promise<number> {
  const interrupt = new AbortController();
  for (const name of ['SIGINT', 'SIGTERM'] as const) {
    process.once(name, () => interrupt.abort(new Error(`Stopped by ${name}.`)));
  }
  const options: Options = JSON.parse(elementAt(process.argv, 2));
  const report = await bench(options, interrupt.signal);
  process.stdout.write(options.json ? `${JSON.stringify(report, null, 2)}\n` : reportText(report));
  const exceeded = report.micro.filter(isExceeded);
  for (const { limitUs, name, us } of exceeded)
    say(`${name}: ${us.toFixed(1)} µs of CPU, the limit is ${limitUs.toFixed(1)}`);
  const dear = (report.apis ?? []).filter(isTooDear);
  for (const { limit, ratioToChat, scenario } of dear)
    say(`${scenario}: ${ratioToChat?.toFixed(2)} times a chat completion, the limit is ${limit}`);
  return exceeded.length + dear.length === 0 ? 0 : 1;
}

/** Ends only when all was written: a pipe takes a long report in pieces. */
function exit(code: number): void {
  process.stdout.write('', () => process.exit(code));
}

main().then(exit, (error: unknown) => {
  say(errorText(error));
  exit(1);
});

/** The options of `./gw bench`, which the command line has checked (cli/command-list.ts) and passes as JSON. */
interface Options {
  readonly seconds: number;
  readonly rounds: number;
  readonly peers?: boolean;
  readonly json?: boolean;
}

/** Resolves as `work` does; rejects as soon as the signal says that nobody waits for it any more. */
function unlessAborted<T>(work: Promise<T>, signal: AbortSignal): Promise<T> {
  const aborted = new Promise<never>((_, reject) => signal.addEventListener('abort', () => reject(signal.reason)));
  // Whoever lost the race may still fail.
  for (const each of [aborted, work]) each.catch(() => undefined);
  return Promise.race([work, aborted]);
}
