/** Runs a script of checks that `python/harness.py` has registered. */
import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import { z } from 'zod';

const lineSchema = z.union([
  z.object({ name: z.string(), failure: z.string().nullable() }),
  z.object({ checks: z.int().positive() }),
]);

export interface Checks {
  /** The name of each check, and what has failed. */
  readonly results: readonly (readonly [string, string | null])[];
  /** How many there are, by the last line; null if the script did not come to its end. */
  readonly checks: number | null;
}

export async function runPython(
  python: string,
  script: readonly string[],
  env: Readonly<Record<string, string | undefined>>,
): Promise<Checks> {
  const options = { env: { PATH: process.env.PATH, LANG: 'C.UTF-8', ...env }, timeout: 120_000 };
  // -B: no compiled files in the checkout.
  const { stdout } = await promisify(execFile)(python, ['-B', ...script], options);
  const lines = stdout
    .trim()
    .split('\n')
    .map((line) => lineSchema.parse(JSON.parse(line)));
  const last = lines.at(-1);
  return {
    results: lines.flatMap((line) => ('name' in line ? [[line.name, line.failure] as const] : [])),
    checks: last !== undefined && 'checks' in last ? last.checks : null,
  };
}
