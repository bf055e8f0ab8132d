/**
 * Packages at pinned versions, outside of the repository's own: virtual environments of Python and folders of Node packages,
 * each made once and kept in `.deps/`.
 *
 * Invariants: the stamp is written last, so an installation that was cut off is begun again. Of several processes that
 * want the same folder one makes it, and the others wait.
 */
import { spawn } from 'node:child_process';
import { copyFileSync, existsSync, mkdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { inCheckout } from './checkout.ts';

type Log = (line: string) => void;

/** No installation takes so long, even on a slow network. */
const longestMs = 15 * 60_000;

/** Path of the interpreter. `requirements`: a file that pins the packages. Throws one line that says what to do. */
export async function pythonWith(name: string, requirements: string, log: Log): Promise<string> {
  const python = inCheckout('.deps', `python-${name}`, 'bin', 'python');
  const { output: version } = await run('python3', ['--version']);
  const dir = dirname(dirname(python));
  await once(dir, `${version}\n${readFileSync(requirements, 'utf8')}`, `Python packages (${name})`, log, async () => {
    // Debian's Python cannot put pip into an environment, but the pip outside can install into it.
    await step(['-m', 'venv', '--without-pip', dir]);
    const quiet = ['--quiet', '--disable-pip-version-check', '--no-input', '--retries', '2'];
    await step(['-m', 'pip', '--python', python, 'install', ...quiet, '--requirement', requirements]);
  });
  return python;
}

/** Path of the folder above `node_modules`. `pinned`: a folder with package.json and package-lock.json. */
export async function nodeWith(name: string, pinned: string, log: Log): Promise<string> {
  const dir = inCheckout('.deps', `node-${name}`);
  const stamp = `${process.version}\n${readFileSync(join(pinned, 'package-lock.json'), 'utf8')}`;
  await once(dir, stamp, `Node packages (${name})`, log, async () => {
    for (const file of ['package.json', 'package-lock.json']) copyFileSync(join(pinned, file), join(dir, file));
    const { code, output } = await run(
      'npm',
      ['ci', '--prefix', dir, '--ignore-scripts', '--no-audit', '--no-fund'],
      dir,
    );
    if (code !== 0) throw new Error(`The Node packages (${name}) could not be installed: ${output}`);
  });
  return dir;
}

/** Makes the folder anew, unless that was done for the same `stamp`. */
async function once(dir: string, stamp: string, title: string, log: Log, make: () => Promise<void>): Promise<void> {
  const stampFile = join(dir, 'stamp');
  const made = () => existsSync(stampFile) && readFileSync(stampFile, 'utf8') === stamp;
  if (made()) return;
  const unlock = await lock(`${dir}.lock`);
  try {
    if (made()) return;
    rmSync(dir, { recursive: true, force: true });
    mkdirSync(dir, { recursive: true });
    const started = Date.now();
    log(`Installing the ${title}…`);
    await make();
    writeFileSync(stampFile, stamp);
    log(`Installing the ${title}… ${Math.round((Date.now() - started) / 1000)} s`);
  } finally {
    unlock();
  }
}

/** Returns what gives the lock back. A process that has died, or hangs, does not hold it. */
async function lock(file: string): Promise<() => void> {
  mkdirSync(dirname(file), { recursive: true });
  for (;;) {
    try {
      writeFileSync(file, String(process.pid), { flag: 'wx' });
      return () => rmSync(file, { force: true });
    } catch (cause) {
      if ((cause as NodeJS.ErrnoException).code !== 'EEXIST') throw cause;
    }
    if (isHeld(file)) await sleep(100);
    else rmSync(file, { force: true });
  }
}

function isHeld(file: string): boolean {
  try {
    if (Date.now() - statSync(file).mtimeMs > longestMs) return false;
    process.kill(Number(readFileSync(file, 'utf8')), 0);
    return true;
  } catch (cause) {
    return (cause as NodeJS.ErrnoException).code === 'EPERM';
  }
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

function run(command: string, args: readonly string[], cwd?: string): Promise<{ code: number | null; output: string }> {
  return new Promise((resolve) => {
    const child = spawn(command, args, { stdio: ['ignore', 'pipe', 'pipe'], ...(cwd && { cwd }) });
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
