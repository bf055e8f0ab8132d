/** Runs schemathesis, which makes requests from the OpenAPI document and compares the replies with it. */
import { spawn } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { inCheckout } from '@gw/stack/checkout';
import { pythonWith } from '@gw/stack/environments';

/** Each by an account of its own: reads of the ledger and of keys, and counts, have a small rate, and a run of all would wait for it. */
export const groups = {
  inference:
    /^\/(v1\/(chat|completions|embeddings|responses|messages(?!\/)|models|regions|use-policy)|openapi|healthz|readyz|errors|ns\/)/,
  ledger: /^\/(v1\/(gw|usage|audit-log|messages\/)|\.well-known)/,
  keys: /^\/v1\/keys/,
} as const;

export interface Run {
  readonly publicUrl: string;
  readonly key: string;
  /** Requests made at random for each operation and kind, after those of the other phases. */
  readonly maxExamples: number;
  readonly seed: number;
  /** Phases of schemathesis: `coverage` goes over all edges of each schema, a minute of work. */
  readonly phases: readonly ('examples' | 'coverage' | 'fuzzing')[];
  /** The paths of the operations. */
  readonly paths: RegExp;
}

/** Path of its interpreter; installs it first if it is not there. */
export const installed = (): Promise<string> =>
  pythonWith('schemathesis', inCheckout('test', 'errors', 'python', 'requirements.txt'), (line) =>
    process.stderr.write(`${line}\n`),
  );

/** Its output; `code` is 0 if no reply broke the document. */
export async function schemathesis({
  publicUrl,
  key,
  maxExamples,
  seed,
  phases,
  paths,
}: Run): Promise<{ code: number; text: string }> {
  const python = await installed();
  // It leaves files where it runs.
  const cwd = mkdtempSync(join(tmpdir(), 'gw-schemathesis-'));
  const config = ['--config-file', inCheckout('test', 'errors', 'schemathesis.toml'), '--no-color'];
  const what = ['--max-examples', String(maxExamples), '--seed', String(seed), '--include-path-regex', paths.source];
  const args = [
    '-m',
    'schemathesis.cli',
    ...config,
    'run',
    `${publicUrl}/openapi.json`,
    '--phases',
    phases.join(),
    ...what,
  ];
  try {
    // The key is in the environment: arguments can be read by all of the machine.
    const hooks = { PYTHONPATH: inCheckout('test', 'errors', 'python'), PYTHONDONTWRITEBYTECODE: '1' };
    const env = { PATH: process.env.PATH, LANG: 'C.UTF-8', COLUMNS: '160', GW_TEST_KEY: key, ...hooks };
    const child = spawn(python, args, { cwd, env, stdio: ['ignore', 'pipe', 'pipe'] });
    let text = '';
    for (const stream of [child.stdout, child.stderr])
      stream.on('data', (bytes) => {
        text += String(bytes);
      });
    const code = await new Promise<number>((resolve, reject) => {
      child.once('error', reject);
      child.once('close', (status) => resolve(status ?? -1));
    });
    return { code, text: text.replaceAll(key, '<key>') };
  } finally {
    rmSync(cwd, { recursive: true, force: true });
  }
}
