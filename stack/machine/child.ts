/**
 * Child processes that cannot outlive their parent.
 *
 * Invariant: on Linux the kernel signals every child when its parent ends, however it ends, so that even `kill -9` of
 * the supervisor leaves nothing behind. Elsewhere the next start ends what was left (see run-file.ts).
 */
import { type ChildProcess, spawn } from 'node:child_process';
import { accessSync, closeSync, constants, mkdirSync, openSync, renameSync, statSync } from 'node:fs';
import { delimiter, dirname, join } from 'node:path';

export interface Exit {
  readonly code: number | null;
  readonly signal: NodeJS.Signals | null;
}

export interface Child {
  readonly pid: number;
  readonly exited: Promise<Exit>;
  /** False once the process has ended. */
  alive(): boolean;
  kill(signal: NodeJS.Signals): void;
  /** Asks with `signal`, insists with SIGKILL after `graceMs`; resolves when the process is gone. */
  stop(signal?: NodeJS.Signals, graceMs?: number): Promise<void>;
}

export interface ChildOptions {
  readonly command: string;
  readonly args: readonly string[];
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly logFile: string;
  readonly cwd?: string;
  /** Sent by the kernel when the parent ends. */
  readonly deathSignal?: NodeJS.Signals;
  /** Options of setpriv(1) that drop privileges; only where `findOnPath('setpriv')` found it. */
  readonly privileges?: readonly string[];
  /** Another user, without setpriv(1). */
  readonly user?: { readonly uid: number; readonly gid: number };
}

export function findOnPath(name: string): string | null {
  for (const folder of (process.env.PATH ?? '').split(delimiter)) {
    if (!folder) continue;
    const file = join(folder, name);
    try {
      accessSync(file, constants.X_OK);
      return file;
    } catch {
      // Not in this folder: look in the next one.
    }
  }
  return null;
}

const setpriv = process.platform === 'linux' ? findOnPath('setpriv') : null;

/** The command line that drops privileges and ties the process to its parent; plain where setpriv(1) is missing. */
function wrapped(options: ChildOptions): [string, string[]] {
  if (!setpriv) return [options.command, [...options.args]];
  const tie = ['--pdeathsig', (options.deathSignal ?? 'SIGTERM').replace(/^SIG/, '')];
  return [setpriv, [...(options.privileges ?? []), ...tie, '--', options.command, ...options.args]];
}

const rotateAboveBytes = 10 * 1024 * 1024;

/** Opens a log for appending; a large one moves aside to `<file>.1` first. */
export function openLog(file: string): number {
  mkdirSync(dirname(file), { recursive: true });
  try {
    if (statSync(file).size > rotateAboveBytes) renameSync(file, `${file}.1`);
  } catch (cause) {
    if ((cause as NodeJS.ErrnoException).code !== 'ENOENT') throw cause;
  }
  return openSync(file, 'a', 0o600);
}

/** Starts a process whose output goes to a log file. Rejects if it could not be started at all. */
export async function startChild(options: ChildOptions): Promise<Child> {
  const [command, args] = wrapped(options);
  const log = openLog(options.logFile);
  try {
    const child = spawn(command, args, {
      env: options.env,
      stdio: ['ignore', log, log],
      // A group of its own: Ctrl-C in the terminal reaches the supervisor alone, which ends the parts in order.
      detached: true,
      ...(options.cwd ? { cwd: options.cwd } : {}),
      ...(options.user && !setpriv ? { uid: options.user.uid, gid: options.user.gid } : {}),
    });
    await new Promise<void>((resolve, reject) => {
      child.once('spawn', resolve);
      child.once('error', reject);
    });
    return watch(child);
  } finally {
    closeSync(log);
  }
}

function watch(child: ChildProcess): Child {
  const { pid } = child;
  if (pid === undefined) throw new Error('A started process has no id.');
  const exited = new Promise<Exit>((resolve) => child.once('exit', (code, signal) => resolve({ code, signal })));
  const alive = () => child.exitCode === null && child.signalCode === null;
  return {
    pid,
    exited,
    alive,
    kill: (signal) => {
      child.kill(signal);
    },
    stop: async (signal = 'SIGTERM', graceMs = 10_000) => {
      if (!alive()) return;
      child.kill(signal);
      const insist = setTimeout(() => child.kill('SIGKILL'), graceMs);
      await exited;
      clearTimeout(insist);
    },
  };
}
