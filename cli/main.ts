/** The command line: finds the command and turns problems that the user can solve into one line. */

import { Problem } from '@gw/stack/problem';
import { commandNames, findCommand } from './command-list.ts';

// A closed terminal or a reader that left must not keep us from stopping everything in order.
for (const stream of [process.stdout, process.stderr]) stream.on('error', () => {});

const [name = 'help', ...args] = process.argv.slice(2);

try {
  const command = findCommand(name);
  if (command) process.exitCode = await command.run(args);
  else throw new Problem(`There is no command ${name}. Commands: ${commandNames.join(', ')}.`);
} catch (cause) {
  if (!(cause instanceof Problem) && !isUsageError(cause)) throw cause;
  process.stderr.write(`gw: ${cause.message}\n`);
  process.exitCode = 1;
}

/** `parseArgs` explains itself well enough. */
function isUsageError(cause: unknown): cause is Error {
  return cause instanceof Error && String((cause as NodeJS.ErrnoException).code).startsWith('ERR_PARSE_ARGS');
}
