/**
 * Ends commands with all that they have started, also what has no parent any more.
 *
 * vitest ends at a signal without its teardowns. Parts end with the process that started them, but not while a test
 * halts them (SIGSTOP), nor do gateways in the background.
 */
import type { ChildProcess } from 'node:child_process';
import { readdirSync, readFileSync, readlinkSync } from 'node:fs';
import { setTimeout as delay } from 'node:timers/promises';

/** How long they may take to end in order. */
const graceMs = 10_000;

interface RunningProcess {
  readonly parent: number;
  /** Another process may have its id later. */
  readonly began: string;
}

/** The commands that run now. */
const running = new Set<ChildProcess>();

/** Notes a command that a signal has to end. */
export function tracked<Child extends ChildProcess>(child: Child): Child {
  running.add(child);
  child.once('close', () => running.delete(child));
  return child;
}

/** Ends all that runs at a signal to this process; a second one does not wait. `ended` resolves when nothing is left of it. */
export function endAtSignals(dir: string): { readonly signal: AbortSignal; ended(): Promise<void> } {
  const [asked, insisted] = [new AbortController(), new AbortController()];
  let ending = Promise.resolve();
  const end = () => {
    if (asked.signal.aborted) insisted.abort();
    else {
      asked.abort();
      const roots = [...running].flatMap(({ pid }) => pid ?? []);
      ending = endAll(roots, dir, insisted.signal);
    }
  };
  for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) process.on(signal, end);
  return { signal: asked.signal, ended: () => ending };
}

/** Resolves when they are gone: `roots`, all below them, and all that have a path in `dir` as their output or in their environment. */
export async function endAll(roots: readonly number[], dir: string, insisted: AbortSignal): Promise<void> {
  const told = new Map<number, string>();
  for (const deadline = Date.now() + graceMs; ; await delay(50)) {
    const now = runningProcesses();
    // All are looked for before the first one ends, and leaves what it has started to nobody.
    for (const pid of [...roots, ...below(roots, now, dir)]) {
      if (told.has(pid)) continue;
      told.set(pid, now.get(pid)?.began ?? 'gone');
      for (const signal of ['SIGTERM', 'SIGCONT'] as const) signalIfThere(pid, signal);
    }
    const left = [...told].filter(([pid, began]) => now.get(pid)?.began === began);
    if (left.length === 0) return;
    if (insisted.aborted || Date.now() > deadline) for (const [pid] of left) signalIfThere(pid, 'SIGKILL');
  }
}

function below(roots: readonly number[], now: ReadonlyMap<number, RunningProcess>, dir: string): number[] {
  const ours = new Set(roots);
  const isOurs = (pid: number, depth = 0): boolean => {
    const found = now.get(pid);
    if (ours.has(pid)) return true;
    if (found === undefined || depth > 100 || !(isOurs(found.parent, depth + 1) || namesFolder(pid, dir))) return false;
    ours.add(pid);
    return true;
  };
  return [...now.keys()].filter((pid) => pid !== process.pid && isOurs(pid));
}

function namesFolder(pid: number, dir: string): boolean {
  try {
    return (
      readlinkSync(`/proc/${pid}/fd/1`).startsWith(`${dir}/`) ||
      readFileSync(`/proc/${pid}/environ`, 'utf8').includes(`=${dir}/`)
    );
  } catch {
    // It has ended, or is another user's.
    return false;
  }
}

/** Zombies left out; empty where there is no /proc. */
function runningProcesses(): ReadonlyMap<number, RunningProcess> {
  const found = new Map<number, RunningProcess>();
  let names: string[] = [];
  try {
    names = readdirSync('/proc').filter((name) => /^\d+$/.test(name));
  } catch {
    return found;
  }
  for (const name of names) {
    try {
      const stat = readFileSync(`/proc/${name}/stat`, 'utf8');
      // Behind the name, which may hold anything: state, parent, and as the twentieth the time of its start.
      const [state, parent, ...more] = stat.slice(stat.lastIndexOf(') ') + 2).split(' ');
      if (state !== 'Z') found.set(Number(name), { parent: Number(parent), began: String(more[17]) });
    } catch {
      // It has ended meanwhile.
    }
  }
  return found;
}

function signalIfThere(pid: number, signal: NodeJS.Signals): void {
  try {
    process.kill(pid, signal);
  } catch {
    // It has ended meanwhile.
  }
}
