/** `./gw logs [part] [-f]`: the last lines of each log, or all that follows with `-f`. */
import { spawn } from 'node:child_process';
import { existsSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import { stateFolder } from '@gw/stack/checkout';
import { Problem } from '@gw/stack/problem';

export async function logs(parts: readonly string[], { follow }: { readonly follow?: boolean }): Promise<number> {
  const folder = join(stateFolder, 'logs');
  const known = existsSync(folder) ? readdirSync(folder).flatMap((file) => /^(.+)\.log$/.exec(file)?.[1] ?? []) : [];
  if (known.length === 0) throw new Problem('There are no logs yet. ./gw up starts the gateway.');
  const unknown = parts.find((name) => !known.includes(name));
  if (unknown) throw new Problem(`There is no log of ${unknown}. Logs: ${known.sort().join(', ')}.`);
  const files = (parts.length > 0 ? parts : known.sort()).map((name) => join(folder, `${name}.log`));
  const child = spawn('tail', ['-n', '50', ...(follow ? ['-F'] : []), ...files], { stdio: 'inherit' });
  return new Promise((resolve, reject) => {
    child.once('error', reject);
    child.once('exit', (code) => resolve(code ?? 0));
  });
}
