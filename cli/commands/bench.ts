/** `./gw bench`: hands over to the benchmarks, which are a program of their own. */
import { spawn } from 'node:child_process';
import { existsSync } from 'node:fs';
import { inCheckout } from '@gw/stack/checkout';
import { Problem } from '@gw/stack/problem';

export async function bench(options: object): Promise<number> {
  const program = inCheckout('dist', 'bench.js');
  if (!existsSync(program)) throw new Problem('The benchmarks are not part of this checkout.');
  const child = spawn(process.execPath, [...process.execArgv, program, JSON.stringify(options)], { stdio: 'inherit' });
  // Ctrl-C reaches the benchmarks too, which clean up; we wait for them.
  process.on('SIGINT', () => {});
  process.on('SIGTERM', () => child.kill('SIGTERM'));
  return new Promise((resolve, reject) => {
    child.once('error', reject);
    child.once('exit', (code) => resolve(code ?? 1));
  });
}
