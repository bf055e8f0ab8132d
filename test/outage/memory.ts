/** How much memory processes hold over time. */
import { existsSync, readFileSync } from 'node:fs';

export interface MemoryWatch {
  /** Ends the watch. Part → resident memory in MB, one value a second. */
  stop(): ReadonlyMap<string, readonly number[]>;
}

/** `pids`: part → process id. */
export function watchMemory(pids: ReadonlyMap<string, number>): MemoryWatch {
  const samples = new Map<string, number[]>([...pids.keys()].map((name) => [name, []]));
  const timer = setInterval(() => {
    for (const [name, pid] of pids) {
      if (existsSync(`/proc/${pid}`)) samples.get(name)?.push(residentMb(pid));
    }
  }, 1000);
  return {
    stop: () => {
      clearInterval(timer);
      return samples;
    },
  };
}

export function residentMb(pid: number): number {
  const kb = /^VmRSS:\s+(\d+) kB$/m.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))?.[1];
  return Number(kb) / 1024;
}

export function median(values: readonly number[]): number {
  const sorted = [...values].sort((a, b) => a - b);
  const middle = sorted[Math.floor(sorted.length / 2)];
  if (middle === undefined) throw new Error('There are no values to take the median of.');
  return middle;
}

/** The values of one of the four quarters, counted from 0. */
export function quarter(values: readonly number[], which: number): readonly number[] {
  return values.slice(Math.floor((values.length * which) / 4), Math.floor((values.length * (which + 1)) / 4));
}
