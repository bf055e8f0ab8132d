/**
 * Virtual environments with Python packages, each made once and kept in `.deps/`.
 *
 * Invariant: the stamp is written last, so an installation that was cut off is begun again.
 */
import { spawn } from 'node:child_process';
import { existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { inCheckout } from '@gw/stack/checkout';

/** The official client. Path of the interpreter. Throws one line that says what to do. */
export const pythonWithClient = (log: (line: string) => void): Promise<string> =>
  pythonWith('client', inCheckout('test', 'sdk', 'python', 'requirements.txt'), log);

/** `requirements`: a file that pins them. */
export async function pythonWith(name: string, requirements: string, log: (line: string) => void): Promise<string> {
  const dir = inCheckout('.deps', `python-${name}`);
  const python = join(dir, 'bin', 'python');
  const { output: version } = await run('python3', ['--version']);
  const stamp = `${version}\n${readFileSync(requirements, 'utf8')}`;
  const stampFile = join(dir, 'stamp');
  if (existsSync(python) && existsSync(stampFile) && readFileSync(stampFile, 'utf8') === stamp) return python;
  rmSync(dir, { recursive: true, force: true });
  mkdirSync(inCheckout('.deps'), { recursive: true });
  const started = Date.now();
  log(`Installing the Python packages (${name})…`);
  // Debian's Python cannot put pip into an environment, but the pip outside can install into it.
  await step(['-m', 'venv', '--without-pip', dir]);
  const quiet = ['--quiet', '--disable-pip-version-check', '--no-input', '--retries', '2'];
  await step(['-m', 'pip', '--python', python, 'install', ...quiet, '--requirement', requirements]);
  writeFileSync(stampFile, stamp);
  log(`Installing the Python packages (${name})… ${Math.round((Date.now() - started) / 1000)} s`);
  return python;
}

async function step(args: readonly string[]): Promise<void> {
  const { code, output } = await run('python3', args);
  if (code !== 0) throw new Error(explain(output));
}

function explain(output: string): string {
  if (/ENOENT/.test(output)) return 'There is no python3 on the PATH. Install Python 3 with pip and start again.';
  if (/No module named pip/.test(output))
    return 'Python has no pip. Install it (Debian and Ubuntu: apt install python3-pip) and start again.';
  if (/Retrying|connection|resolve|timed out|proxy/i.test(output))
    return 'Python packages could not be downloaded: no connection to the Python package index. Check network and proxy (pip config list) and start again.';
  return `Python packages could not be installed: ${output.split('\n').at(-1)}`;
}

function run(command: string, args: readonly string[]): Promise<{ code: number | null; output: string }> {
  return new Promise((resolve) => {
    const child = spawn(command, args, { stdio: ['ignore', 'pipe', 'pipe'] });
    let output = '';
    for (const stream of [child.stdout, child.stderr]) {
      stream.on('data', (data: Buffer) => {
        output += data.toString();
      });
    }
    child.once('error', (cause) => resolve({ code: null, output: cause.message }));
    child.once('close', (code) => resolve({ code, output: output.trim() }));
  });
}
