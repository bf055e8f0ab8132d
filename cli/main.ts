/** The command line: runs the command, and turns problems that the user can solve into one line. */
import { Problem } from '@gw/stack/problem';
import { runCommand } from './command-list.ts';

// A closed terminal or a reader that left must not keep us from stopping everything in order.
for (const stream of [process.stdout, process.stderr]) stream.on('error', () => {});

try {
  process.exitCode = await runCommand(process.argv.slice(2));
} catch (cause) {
  if (!(cause instanceof Problem)) throw cause;
  process.stderr.write(`gw: ${cause.message}\n`);
  process.exitCode = 1;
}
