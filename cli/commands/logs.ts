/** `./gw logs [part] [-f]`: the last lines of each log, or all that follows with `-f`. */
import { spawn } from 'node:child_process';
import { existsSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { stateFolder } from '@gw/stack/checkout';
import { Problem } from '@gw/stack/problem';

export async function logs(args: readonly string[]): Promise<number> {
  const { values, positionals } = parseArgs({
    args: [...args],
    allowPositionals: true,
    options: { follow: { type: 'boolean', short: 'f', default: false } },
  });
  const folder = join(stateFolder, 'logs');
  const known = existsSync(folder) ? readdirSync(folder).flatMap((file) => /^(.+)\.log$/.exec(file)?.[1] ?? []) : [];
  if (known.length === 0) throw new Problem('There are no logs yet. ./gw up starts the gateway.');
  const unknown = positionals.find((name) => !known.includes(name));
  if (unknown) throw new Problem(`There is no log of ${unknown}. Logs: ${known.sort().join(', ')}.`);
  const files = (positionals.length > 0 ? positionals : known.sort()).map((name) => join(folder, `${name}.log`));
  const child = spawn('tail', ['-n', '50', ...(values.follow ? ['-F'] : []), ...files], { stdio: 'inherit' });
  return new Promise((resolve, reject) => {
    child.once('error', reject);
    child.once('exit', (code) => resolve(code ?? 0));
  });
}
