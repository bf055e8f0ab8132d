/** `gw bench`: starts what is measured, measures it in turns, prints the report, and stops all it started. */
import { availableParallelism } from 'node:os';
import { parseArgs } from 'node:util';
import { errorText } from '@gw/contract/internal/error-text';
import { startIdempotencyStep } from './idempotency-step.ts';
import { startLimitStep } from './limit-step.ts';
import { cpuMs, isExceeded, microBenchmarks } from './micro.ts';
import { usedBy } from './processes.ts';
import { budgetCostOf, figuresOf, type Report, withoutIdle } from './report.ts';
import { runRounds, scenarios } from './rounds.ts';
import { screeningSteps } from './screening.ts';
import { reportText } from './table.ts';
import { startTargets } from './targets.ts';

const usage = `gw bench [--seconds N] [--rounds N] [--json]

Measures the simulated provider alone, plain Envoy in front of it, and the whole gateway, without and with a budget, in turns.

  --seconds N    length of one measurement (default 4, at most 60)
  --rounds N     how often each is measured (default 3, at most 20)
  --json         the report as JSON on standard output

The exit code is 1 if a step of a call takes more processor time than its limit: 30 µs to make a receipt, 15 µs to check a
key, 20 µs to decide the limits, 2 ms to screen 100,000 characters.
`;

const say = (line: string): void => {
  process.stderr.write(`${line}\n`);
};

interface Options {
  readonly seconds: number;
  readonly rounds: number;
}

async function bench(options: Options, signal: AbortSignal): Promise<Report> {
  const measured = await benchTargets(options, signal);
  // When all targets have ended: the steps have the machine's caches to themselves.
  const limits = await startLimitStep();
  const idempotency = await startIdempotencyStep();
  const further = [limits.step, idempotency.step, ...screeningSteps()];
  const micro = await microBenchmarks(cpuMs, undefined, further).finally(() =>
    Promise.all([limits.stop(), idempotency.stop()]),
  );
  return { ...measured, micro };
}

async function benchTargets({ rounds, seconds }: Options, signal: AbortSignal): Promise<Omit<Report, 'micro'>> {
  const aborted = new Promise<never>((_, reject) => signal.addEventListener('abort', () => reject(signal.reason)));
  aborted.catch(() => undefined);
  const { model, stop, targets } = await startTargets({ log: say, signal });
  try {
    const run = runRounds({ targets, model, seconds, rounds, progress: say, signal });
    const samples = withoutIdle(await Promise.race([run, aborted]));
    return {
      machine: {
        cpus: availableParallelism(),
        platform: `${process.platform} ${process.arch}`,
        node: process.versions.node,
      },
      rounds,
      secondsPerMeasurement: seconds,
      figures: scenarios
        .filter((scenario) => scenario !== 'idle')
        .flatMap((scenario) => targets.map(({ name }) => figuresOf(samples, scenario, name))),
      budget: budgetCostOf(samples),
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

function numberOf(text: string, name: string, most: number): number {
  const value = Number(text);
  if (Number.isInteger(value) && value >= 1 && value <= most) return value;
  throw new Error(`--${name} has to be a whole number from 1 to ${most}.`);
}

/** Null if help is asked for. Throws for arguments that cannot be followed. */
function readOptions(): (Options & { readonly json: boolean }) | null {
  const { values } = parseArgs({
    options: {
      json: { type: 'boolean', default: false },
      seconds: { type: 'string', default: '4' },
      rounds: { type: 'string', default: '3' },
      help: { type: 'boolean', short: 'h', default: false },
    },
  });
  if (values.help) return null;
  const { json, rounds, seconds } = values;
  return { json, seconds: numberOf(seconds, 'seconds', 60), rounds: numberOf(rounds, 'rounds', 20) };
}

async function main(): Promise<number> {
  const interrupt = new AbortController();
  for (const name of ['SIGINT', 'SIGTERM'] as const) {
    process.once(name, () => interrupt.abort(new Error(`Stopped by ${name}.`)));
  }
  let options: ReturnType<typeof readOptions>;
  try {
    options = readOptions();
  } catch (error) {
    say(`${errorText(error)}\n${usage}`);
    return 2;
  }
  if (options === null) {
    process.stdout.write(usage);
    return 0;
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
  say(errorText(error));
  exit(1);
});
