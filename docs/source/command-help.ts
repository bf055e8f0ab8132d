/** Prints the options of the commands that have any. */
import { runCommand } from '@gw/cli/internals/command-list';

let text = '';
for (const name of ['up', 'status', 'logs', 'bench', 'verify'])
  await runCommand([name, '--help'], (part) => (text += text === '' ? part : `\n${part}`));

export const commandHelp = text.trimEnd();
