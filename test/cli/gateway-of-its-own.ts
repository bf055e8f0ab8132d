/** `./gw` with a state folder of its own, so that a test can start and stop a gateway without touching another one. */
import { spawn } from 'node:child_process';
import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { checkout, inCheckout } from '@gw/stack/checkout';
import { type RunFile, readRunFile } from '@gw/stack/run-file';

export interface CommandResult {
  readonly code: number | null;
  readonly out: string;
  readonly err: string;
}

/** Runs a command to its end. */
export function run(
  command: string,
  args: readonly string[],
  env: Readonly<Record<string, string | undefined>>,
): Promise<CommandResult> {
  const child = spawn(command, args, { cwd: checkout, env, stdio: ['ignore', 'pipe', 'pipe'] });
  let out = '';
  let err = '';
  child.stdout.on('data', (data) => {
    out += data;
  });
  child.stderr.on('data', (data) => {
    err += data;
  });
  return new Promise((resolve, reject) => {
    child.once('error', reject);
    child.once('close', (code) => resolve({ code, out, err }));
  });
}

/** Runs a command as `./gw` does once it has prepared the checkout, which takes as long again: `launcher.slow.test.ts` looks at that. */
export function gw(args: readonly string[], env = process.env): Promise<CommandResult> {
  const compiled = { NODE_COMPILE_CACHE: inCheckout('.deps', 'compile-cache') };
  return run(process.execPath, [inCheckout('dist', 'cli.js'), ...args], { ...compiled, ...env });
}

export class OwnGateway {
  readonly dir: string;
  readonly env: NodeJS.ProcessEnv;

  constructor(variables: Readonly<Record<string, string>> = {}) {
    const parent = process.env.GW_TEST_DIR ?? inCheckout('.gw');
    mkdirSync(parent, { recursive: true });
    this.dir = mkdtempSync(join(parent, 'own-'));
    this.env = { ...process.env, ...variables, GW_DIR: this.dir };
  }

  gw(...args: string[]): Promise<CommandResult> {
    return gw(args, this.env);
  }

  /** In the foreground; resolves with its process when it is ready. */
  async foreground(...args: string[]) {
    const child = spawn(inCheckout('gw'), ['up', ...args], { env: this.env, stdio: ['ignore', 'pipe', 'pipe'] });
    const exited = new Promise<number | null>((resolve) => child.once('exit', resolve));
    let said = '';
    for (const output of [child.stdout, child.stderr]) output.on('data', (data) => (said += data));
    await eventually('the gateway to be ready', () => readRunFile(this.dir) !== null || child.exitCode !== null);
    if (child.exitCode !== null) throw new Error(`The gateway ended with ${child.exitCode}: ${said}`);
    // Whoever read its output is gone now, as when a terminal is closed.
    child.stdout.destroy();
    child.stderr.destroy();
    return { child, exited, run: this.run() };
  }

  run(): RunFile {
    const run = readRunFile(this.dir);
    if (!run) throw new Error('There is no run.json.');
    return run;
  }

  async dispose(): Promise<void> {
    await this.gw('down');
    rmSync(this.dir, { recursive: true, force: true });
  }
}

export async function eventually(what: string, condition: () => boolean | Promise<boolean>): Promise<void> {
  for (const deadline = Date.now() + 120_000; Date.now() < deadline; await delay(25)) if (await condition()) return;
  throw new Error(`Waited in vain for ${what}.`);
}

/** Gone, or only a zombie that its parent has yet to collect. */
export function isGone(pid: number): boolean {
  const stat = `/proc/${pid}/stat`;
  if (existsSync('/proc/self/stat')) {
    try {
      return readFileSync(stat, 'utf8').includes(') Z ');
    } catch {
      return true;
    }
  }
  try {
    return !process.kill(pid, 0);
  } catch {
    return true;
  }
}
