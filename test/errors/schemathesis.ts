/** Runs schemathesis, which makes requests from the OpenAPI document and compares the replies with it. */
import { spawn } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { inCheckout } from '@gw/cli/checkout';
import { pythonWith } from '../sdk/python-client.ts';

export interface Run {
  readonly publicUrl: string;
  readonly key: string;
  /** Requests made at random for each operation and kind; the examples and the edges of each schema come first. */
  readonly maxExamples: number;
  readonly seed: number;
  readonly more?: readonly string[];
}

/** What it printed; `code` is 0 if no reply broke the document. */
export async function schemathesis({
  publicUrl,
  key,
  maxExamples,
  seed,
  more = [],
}: Run): Promise<{ code: number; text: string }> {
  const requirements = inCheckout('test', 'errors', 'python', 'requirements.txt');
  const python = await pythonWith('schemathesis', requirements, (line) => process.stderr.write(`${line}\n`));
  // It leaves files where it runs.
  const cwd = mkdtempSync(join(tmpdir(), 'gw-schemathesis-'));
  const config = ['--config-file', inCheckout('test', 'errors', 'schemathesis.toml'), '--no-color'];
  const amount = ['--max-examples', String(maxExamples), '--seed', String(seed)];
  const args = ['-m', 'schemathesis.cli', ...config, 'run', `${publicUrl}/openapi.json`, ...amount, ...more];
  try {
    // The key is in the environment: arguments can be read by all of the machine.
    const env = { PATH: process.env.PATH, LANG: 'C.UTF-8', COLUMNS: '160', GW_TEST_KEY: key };
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
