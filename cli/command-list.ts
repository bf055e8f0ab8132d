/** The commands, in the order in which a newcomer meets them. What one does is loaded when it is called, so all start fast. */
import completion from '@bomb.sh/tab/commander';
import { InvalidArgumentError } from 'commander';
import { openProgram, type Program } from './commands/program.ts';

const verdicts = `
Exit code 0: every check passed. 1: a check failed, or a file cannot be read. 2: every check passed, but no trusted key was given.
3: every check passed, but ask the operator: receipts came late, are missing from the log, or were settled since the earlier
pack or checkpoint; or a kept receipt is not signed yet.`;

const limits = `
Measures the simulated provider alone, plain Envoy in front of it, the whole gateway, without and with a budget, and a second
gateway whose sidecar does no work, in turns.

Exit code 1: a step of a call takes more processor time than its limit: 30 µs to make a receipt, 15 µs to check a
key, 20 µs to decide the limits, 40 µs for an idempotency key, 2 ms to screen 100,000 characters.`;

const toShell = (text: string): unknown => process.stdout.write(text);

/** Resolves with the exit code. Throws a Problem if the arguments cannot be followed. Help that was asked for goes to `print`. */
export async function runCommand(args: readonly string[], print = toShell): Promise<number> {
  const gw = openProgram(print);
  addStackCommands(gw);
  addDeveloperCommands(gw);
  addVerify(gw);
  const admin = gw.program.command('admin').description('use the operator API from the shell');
  // Its table is long, and the other commands start faster without it.
  if (args.includes('admin') || args[0] === 'complete')
    (await import('./commands/admin.ts')).addAdminCommands(admin, gw.ends);
  completion(gw.program);
  const complete = gw.program.commands.find((each) => each.name() === 'complete');
  complete?.description('print a shell completion script: source <(gw complete bash)');
  return gw.run(args);
}

function addStackCommands({ ends, program }: Program): void {
  program
    .command('up')
    .description('start all parts; print the base URL, a demo key and a curl command to paste')
    .option('--detach', 'return when the gateway is ready; it runs until gw down')
    .option('--json', 'print the contents of .gw/run.json instead of text')
    .option('--port <n>', 'the public port; 0 takes any free one', '8080')
    .option('--control-port <n>', 'the port of the operator API and of the dashboard', '8081')
    .option('--instances <n>', 'number of instances of ext-authz and of the sidecar', '1')
    .option(
      '--provider <url>',
      'an OpenAI-compatible server instead of the simulated one; its key comes from GW_PROVIDER_KEY',
    )
    .action(ends(async () => (await import('./commands/up.ts')).up));
  program
    .command('status')
    .description('show which parts run and whether the gateway answers; exit code 1 if something is down')
    .option('--json', 'print JSON')
    .action(ends(async () => (await import('./commands/status.ts')).status));
  program
    .command('logs')
    .description('show the last lines of every log, or of the named parts')
    .argument('[parts...]', 'for example envoy or supervisor')
    .option('-f, --follow', 'print new lines as they are written')
    .action(ends(async () => (await import('./commands/logs.ts')).logs));
  program
    .command('down')
    .description('stop all parts')
    .action(ends(async () => (await import('./commands/down.ts')).down));
  program
    .command('doctor')
    .description('check what this machine lacks and how to get it')
    .action(ends(async () => (await import('./commands/doctor.ts')).doctor));
}

function addDeveloperCommands({ ends, program }: Program): void {
  program
    .command('check')
    .description('check types, style and dead code, and run the fast tests, in about a minute')
    .argument('[files...]', 'files, or parts of their paths; only their tests are run')
    .action(ends(async () => (await import('./commands/test.ts')).check));
  program
    .command('test')
    .description('do everything that check does, and run all other tests on a separate stack')
    .argument('[files...]', 'files, or parts of their paths; only their tests are run')
    .action(ends(async () => (await import('./commands/test.ts')).test))
    .command('long')
    .description('run the longer tests: outages under load, single features end to end, many more random cases')
    .argument('[files...]', 'files, or parts of their paths; only their tests are run')
    .action(ends(async () => (await import('./commands/test.ts')).testLong));
  program
    .command('bench')
    .description('run the benchmarks side by side, in about twelve minutes')
    .option('--seconds <n>', 'length of one measurement, at most 60', upTo(60), 4)
    .option('--rounds <n>', 'how often each is measured, at most 20', upTo(20), 5)
    .option('--peers', 'also measure Envoy AI Gateway, Portkey and LiteLLM, which are first installed into .deps/')
    .option('--json', 'print the report as JSON')
    .addHelpText('after', limits)
    .action(ends(async () => (await import('./commands/bench.ts')).bench));
}

function addVerify({ ends, program }: Program): void {
  program
    .command('verify')
    .description(
      'check an evidence pack offline: its signature, digests, sums, each number whose lineage it contains, and that its receipts are in the log; or, with --receipt, that the gateway still has a receipt that you kept',
    )
    .argument('[file]')
    .option('--receipt <file>', 'instead of a pack: a kept reply of a call, or the receipt in it')
    .option(
      '--reply <file>',
      'a saved reply (JSON, the text of a stream, or its chunks as a list or as lines): whether the receipt is of this answer',
    )
    .option('--request <file>', 'with --reply, the body as it was sent: whether the receipt is of this request')
    .option('--proof <file>', 'its proof, saved from GET /v1/gw/receipts/{id}/proof')
    .option('--url <url>', 'or where to ask for it: the base URL of the gateway; the API key comes from GW_KEY')
    .option('--jwks <file>', 'the key set of the gateway, saved from /.well-known/jwks.json')
    .option('--key <thumbprint>', 'or the thumbprint (kid) of the key that must have signed the pack')
    .option(
      '--ca <file>',
      'certificates (PEM) of authorities: the key must have a chain to one of them; with --signer that is trust enough without --jwks and --key',
    )
    .option(
      '--signer <name>',
      "with --ca, the organisation that the certificate of the key must name: 'O=Example Cloud'",
    )
    .option('--tsa-ca <file>', 'certificates (PEM) of authorities that a time-stamp of the pack must lead to')
    .option(
      '--earlier <file>',
      'an earlier pack or checkpoint: nothing in it may be missing or changed. Request the new pack with its tree_size as "earlier_tree_size"; for a pack of more than 32 MiB only the checkpoint is used',
    )
    .option(
      '--witness <vkey>',
      'the key of a witness that must have cosigned the checkpoint (name+id+key); repeatable',
      (vkey: string, others: string[] = []) => [...others, vkey],
    )
    .option('--account <id>', 'the account that the pack must belong to')
    .option('--recomputed', 'end with 3 unless the numbers of all receipts could be recomputed from lineages')
    .option(
      '--statement <file>',
      'the job that made a table (CSV or Parquet), as JSON, with the signed statement of its digest',
    )
    .option('--html <file>', 'write a printable page with charts that needs no network')
    .option('--json', 'print the result as JSON')
    .option('--verbose', 'show the stack trace of an internal error')
    .addHelpText('after', verdicts)
    .action(ends(async () => (await import('./commands/verify.ts')).verify));
}

/** A whole number from 1 on. */
function upTo(most: number): (text: string) => number {
  return (text) => {
    const value = Number(text);
    if (Number.isInteger(value) && value >= 1 && value <= most) return value;
    throw new InvalidArgumentError(`It must be a whole number from 1 to ${most}.`);
  };
}
