/**
 * Measures the processor time and memory of a process and all its descendants (Postgres works in children).
 *
 * Invariant: the time of a tree never falls, since a child that has ended is counted by its parent. A process that is
 * gone counts nothing.
 */
import { execFileSync } from 'node:child_process';
import { readdirSync, readFileSync } from 'node:fs';

export interface ProcessState {
  readonly pid: number;
  readonly parent: number;
  /** User and system time, with that of children that have ended, where the system tells it. */
  readonly cpuUs: number;
  readonly rssBytes: number;
}

export interface Used {
  readonly cpuUs: number;
  readonly rssBytes: number;
}

/** Linux counts time in ticks; every kernel that Node runs on shows 100 of them a second to programs. */
const US_PER_TICK = 10_000;
const PAGE_BYTES = 4096;

/** A line of `/proc/<pid>/stat`: proc(5), fields 1, 4, 14 to 17 and 24. Null if it is something else. */
export function parseProcStat(line: string, pageBytes = PAGE_BYTES): ProcessState | null {
  // The name stands in parentheses and may itself hold spaces and parentheses.
  const afterName = line.slice(line.lastIndexOf(')') + 2).split(' ');
  const field = (number: number): number => Number(afterName[number - 3]);
  const ticks = field(14) + field(15) + field(16) + field(17);
  const state = {
    pid: Number.parseInt(line, 10),
    parent: field(4),
    cpuUs: ticks * US_PER_TICK,
    rssBytes: field(24) * pageBytes,
  };
  return Object.values(state).every(Number.isFinite) ? state : null;
}

/** A line of `ps -o pid=,ppid=,rss=,time=`: memory in KiB, time as `[[dd-]hh:]mm:ss[.cc]`. */
export function parsePsLine(line: string): ProcessState | null {
  const match = /^\s*(\d+)\s+(\d+)\s+(\d+)\s+(?:(\d+)-)?(?:(\d+):)?(\d+):(\d+(?:\.\d+)?)\s*$/.exec(line);
  if (match === null) return null;
  const [pid = 0, parent = 0, rssKib = 0, days = 0, hours = 0, minutes = 0, seconds = 0] = match
    .slice(1)
    .map((text) => Number(text ?? 0));
  const totalSeconds = ((days * 24 + hours) * 60 + minutes) * 60 + seconds;
  return { pid, parent, cpuUs: Math.round(totalSeconds * 1e6), rssBytes: rssKib * 1024 };
}

function readStat(pid: string): ProcessState | null {
  try {
    return parseProcStat(readFileSync(`/proc/${pid}/stat`, 'utf8'));
  } catch {
    return null;
  }
}

/** Every process that can be seen. */
function allProcesses(): ProcessState[] {
  const states =
    process.platform === 'linux'
      ? readdirSync('/proc')
          .filter((name) => /^\d+$/.test(name))
          .map(readStat)
      : execFileSync('ps', ['-axo', 'pid=,ppid=,rss=,time='], { encoding: 'utf8' }).split('\n').map(parsePsLine);
  return states.filter((state) => state !== null);
}

/** Sums a process and its descendants. */
export function usedByTree(root: number, processes: readonly ProcessState[]): Used {
  const wanted = new Set([root]);
  for (let before = 0; before !== wanted.size; ) {
    before = wanted.size;
    for (const { pid, parent } of processes) if (wanted.has(parent)) wanted.add(pid);
  }
  const members = processes.filter(({ pid }) => wanted.has(pid));
  return {
    cpuUs: members.reduce((sum, { cpuUs }) => sum + cpuUs, 0),
    rssBytes: members.reduce((sum, { rssBytes }) => sum + rssBytes, 0),
  };
}

/** Returns the usage of each named process tree up to now. */
export function usedBy(pids: Readonly<Record<string, number>>): Record<string, Used> {
  const processes = allProcesses();
  return Object.fromEntries(Object.entries(pids).map(([name, pid]) => [name, usedByTree(pid, processes)]));
}
