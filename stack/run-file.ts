/**
 * `.gw/run.json`: what runs at this moment, for scripts and for the other commands. It holds demo keys: mode 0600.
 *
 * A process id alone proves nothing, since ids are used again; together with the time of its start it names one process.
 */
import { execFileSync } from 'node:child_process';
import { readFileSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { z } from 'zod';
import { readJson, writePrivateJson } from './private-file.ts';

const keysSchema = z.object({ audit: z.string(), auditPlus: z.string(), enterprise: z.string(), admin: z.string() });
/** The demo keys, by the name of their account. */
export type DemoKeys = z.infer<typeof keysSchema>;
export { keysSchema as demoKeysSchema };

const runFileSchema = z.object({
  publicUrl: z.string(),
  controlUrl: z.string(),
  /** A model that every demo key may call; null if the provider lists none. */
  model: z.string().nullable(),
  /** Part → process id; `supervisor` is the one that starts the others again. */
  pids: z.record(z.string(), z.int().positive()),
  /** Part → an opaque mark of the moment at which that process was started. */
  startMarks: z.record(z.string(), z.string()),
  logs: z.string(),
  keys: keysSchema,
  operatorToken: z.string(),
});
export type RunFile = z.infer<typeof runFileSchema>;

const pathOf = (dir: string): string => join(dir, 'run.json');

export function readRunFile(dir: string): RunFile | null {
  const parsed = runFileSchema.safeParse(readJson(pathOf(dir)));
  return parsed.success ? parsed.data : null;
}

export function writeRunFile(dir: string, run: Omit<RunFile, 'startMarks'>): void {
  const startMarks = Object.fromEntries(Object.entries(run.pids).map(([part, pid]) => [part, startMark(pid) ?? '']));
  writePrivateJson(pathOf(dir), { ...run, startMarks });
}

function removeRunFile(dir: string): void {
  rmSync(pathOf(dir), { force: true });
}

/** When the process was started, in the system's own words; null if it is not there (or only waits to be reaped). */
function startMark(pid: number): string | null {
  try {
    if (process.platform !== 'linux') {
      return execFileSync('ps', ['-o', 'lstart=', '-p', String(pid)], { encoding: 'utf8' }).trim() || null;
    }
    const stat = readFileSync(`/proc/${pid}/stat`, 'utf8');
    // The second field is the name in parentheses, which may hold anything; state and start time are counted after it.
    const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
    return fields[0] === 'Z' ? null : (fields[19] ?? null);
  } catch {
    return null;
  }
}

/** True if that very process is still there. */
export function isRunning(run: RunFile, part: string): boolean {
  const pid = run.pids[part];
  return pid !== undefined && startMark(pid) === run.startMarks[part];
}

const supervisorSchema = z.object({ pid: z.int().positive(), startMark: z.string() });
const supervisorFile = (dir: string): string => join(dir, 'supervisor.json');

export interface Supervisor {
  readonly pid: number;
  isAlive(): boolean;
}

/** The process that runs the stack of this folder, even while it is still starting. */
export function findSupervisor(dir: string): Supervisor | null {
  const parsed = supervisorSchema.safeParse(readJson(supervisorFile(dir)));
  if (!parsed.success) return null;
  const { pid, startMark: mark } = parsed.data;
  const isAlive = () => startMark(pid) === mark;
  return isAlive() ? { pid, isAlive } : null;
}

/** Notes that this process runs the stack of `dir`. */
export function claimFolder(dir: string): void {
  writePrivateJson(supervisorFile(dir), { pid: process.pid, startMark: startMark(process.pid) ?? '' });
}

export function releaseFolder(dir: string): void {
  removeRunFile(dir);
  rmSync(supervisorFile(dir), { force: true });
}

/** Ends what a supervisor that was killed has left behind. */
export async function endLeftovers(dir: string): Promise<void> {
  const run = readRunFile(dir);
  if (!run) return;
  const left = () => Object.keys(run.pids).filter((part) => isRunning(run, part));
  for (const signal of ['SIGTERM', 'SIGKILL'] as const) {
    for (const part of left()) {
      const pid = run.pids[part];
      if (pid !== undefined) process.kill(pid, signal);
    }
    for (let tries = 0; tries < 100 && left().length > 0; tries += 1) await delay(50);
  }
  removeRunFile(dir);
}
