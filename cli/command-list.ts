/** The commands, in the order in which a newcomer meets them. What one does is loaded when it is called, so all start fast. */
import completion from '@bomb.sh/tab/commander';
import { InvalidArgumentError } from 'commander';
import { openProgram, type Program } from './commands/program.ts';

const verdicts = `
The exit code is 0 if all holds, 1 if something does not or cannot be read, 2 if all holds but nobody said whom to trust,
3 if all holds but somebody should be asked: receipts came late, are not in the log although they should be, or were
settled since the earlier pack or checkpoint.`;

const limits = `
Measures the simulated provider alone, plain Envoy in front of it, the whole gateway, without and with a budget, and a second
gateway whose sidecar does no work, in turns.

The exit code is 1 if a step of a call takes more processor time than its limit: 30 µs to make a receipt, 15 µs to check a
key, 20 µs to decide the limits, 40 µs for an idempotency key, 2 ms to screen 100,000 characters.`;

const toShell = (text: string): unknown => process.stdout.write(text);

/** Resolves with the exit code. Throws a Problem if the arguments cannot be followed. Help that was asked for goes to `print`. */
export async function runCommand(args: readonly string[], print = toShell): Promise<number> {
  const gw = openProgram(print);
  addStackCommands(gw);
  addDeveloperCommands(gw);
  addVerify(gw);
  const admin = gw.program.command('admin').description('the operator API from the shell');
  // Its table is long, and the other commands start faster without it.
  if (args.includes('admin') || args[0] === 'complete')
    (await import('./commands/admin.ts')).addAdminCommands(admin, gw.ends);
  completion(gw.program);
  const complete = gw.program.commands.find((each) => each.name() === 'complete');
  complete?.description('print a script for a shell that completes commands and options: source <(gw complete bash)');
  return gw.run(args);
}

function addStackCommands({ ends, program }: Program): void {
  program
    .command('up')
    .description('start everything; print the base URL, a demo key and a curl to paste')
    .option('--detach', 'return when the gateway is ready, and leave it running until gw down')
    .option('--json', 'print the contents of .gw/run.json in place of the text')
    .option('--port <n>', 'the public port; 0 takes any free one', '8080')
    .option('--control-port <n>', 'the port of the operator API and of the dashboard', '8081')
    .option('--instances <n>', 'how many there are of ext-authz and of the sidecar', '1')
    .option('--provider <url>', 'an OpenAI-compatible server in place of the simulated one; its key is GW_PROVIDER_KEY')
    .action(ends(async () => (await import('./commands/up.ts')).up));
  program
    .command('status')
    .description('what runs, and whether the gateway answers; exit code 1 if something is down')
    .option('--json', 'the same as JSON')
    .action(ends(async () => (await import('./commands/status.ts')).status));
  program
    .command('logs')
    .description('the last lines of every log, or of some parts')
    .argument('[parts...]', 'for example envoy, or supervisor')
    .option('-f, --follow', 'go on with what comes')
    .action(ends(async () => (await import('./commands/logs.ts')).logs));
  program
    .command('down')
    .description('stop everything')
    .action(ends(async () => (await import('./commands/down.ts')).down));
  program
    .command('doctor')
    .description('what is missing on this machine and how to get it')
    .action(ends(async () => (await import('./commands/doctor.ts')).doctor));
}

function addDeveloperCommands({ ends, program }: Program): void {
  program
    .command('check')
    .description('types, style, dead code and the fast tests, in about a minute')
    .argument('[files...]', 'files, or parts of their paths, whose tests alone are run')
    .action(ends(async () => (await import('./commands/test.ts')).check));
  program
    .command('test')
    .description('everything that check does, and all other tests on a stack of their own')
    .argument('[files...]', 'files, or parts of their paths, whose tests alone are run')
    .action(ends(async () => (await import('./commands/test.ts')).test))
    .command('long')
    .description('what takes longer: outages under load, stories of single features, many more random cases')
    .argument('[files...]', 'files, or parts of their paths, whose tests alone are run')
    .action(ends(async () => (await import('./commands/test.ts')).testLong));
  program
    .command('bench')
    .description('the benchmarks, side by side in one run of some twelve minutes')
    .option('--seconds <n>', 'length of one measurement, at most 60', upTo(60), 4)
    .option('--rounds <n>', 'how often each is measured, at most 20', upTo(20), 5)
    .option(
      '--peers',
      'other gateways too: Envoy AI Gateway, Portkey and LiteLLM, which are installed into .deps/ first',
    )
    .option('--json', 'the report as JSON')
    .addHelpText('after', limits)
    .action(ends(async () => (await import('./commands/bench.ts')).bench));
}

function addVerify({ ends, program }: Program): void {
  program
    .command('verify')
    .description(
      'check an evidence pack offline: its signature, digests and sums, each number whose lineage is in it, and that its receipts are in the log',
    )
    .argument('<file>')
    .option('--jwks <file>', 'the key set of the gateway, saved from /.well-known/jwks.json')
    .option('--key <thumbprint>', 'or the thumbprint (kid) of the key that has to have signed')
    .option(
      '--earlier <file>',
      'a pack or checkpoint that was kept: nothing it holds may be gone or changed. The new pack has to be asked for with its tree_size as "earlier_tree_size"; of a pack of more than 32 MiB the checkpoint alone is used',
    )
    .option('--account <id>', 'the account that the pack has to be of')
    .option(
      '--statement <file>',
      'the job that made a table (CSV, Parquet), as JSON, with the signed statement of its digest',
    )
    .option('--html <file>', 'write a page for people, with charts, that needs no network and can be printed')
    .option('--json', 'the result as JSON')
    .option('--verbose', 'show the stack of an error in this program')
    .addHelpText('after', verdicts)
    .action(ends(async () => (await import('./commands/verify.ts')).verify));
}

/** A whole number from 1 on. */
function upTo(most: number): (text: string) => number {
  return (text) => {
    const value = Number(text);
    if (Number.isInteger(value) && value >= 1 && value <= most) return value;
    throw new InvalidArgumentError(`It has to be a whole number from 1 to ${most}.`);
  };
}
