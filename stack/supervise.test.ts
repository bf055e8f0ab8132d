import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { startChild } from './machine/child.ts';
import { type Part, type PartPlan, supervise } from './supervise.ts';

let dir: string;
let part: Part | null = null;
beforeEach(() => {
  dir = mkdtempSync(join(tmpdir(), 'gw-supervise-'));
});
afterEach(async () => {
  await part?.stop();
  rmSync(dir, { recursive: true, force: true });
});

/** A part that is a real process, and a promise for each change of its process id. */
function plan(script: string): { plan: PartPlan; lines: string[]; next: () => Promise<void>; changed: () => void } {
  const logFile = join(dir, 'part.log');
  const waiting: (() => void)[] = [];
  return {
    lines: [],
    next: () => new Promise((resolve) => waiting.push(resolve)),
    changed: () => {
      for (const resolve of waiting.splice(0)) resolve();
    },
    plan: {
      name: 'part',
      logFile,
      start: async () => {
        const child = await startChild({ command: process.execPath, args: ['-e', script], env: {}, logFile });
        return { child, stop: () => child.stop() };
      },
    },
  };
}

const isAlive = (pid: number): boolean => {
  try {
    return process.kill(pid, 0);
  } catch {
    return false;
  }
};

test('a killed process comes back as another one, and the log says so', async () => {
  const made = plan('setInterval(() => {}, 1000)');
  part = await supervise(made.plan, { log: (line) => made.lines.push(line), changed: made.changed });
  const first = part.pid;
  const gone = made.next();
  part.kill('SIGKILL');
  await gone;
  while (part.pid === null) await made.next();
  expect(part.pid).not.toBe(first);
  expect(part.crashes).toBe(1);
  expect(made.lines).toEqual(['part was ended by SIGKILL; starting it again in 100 ms']);
});

test('the pauses grow while a process keeps ending, and a stop ends them', async () => {
  const made = plan('process.exit(3)');
  part = await supervise(made.plan, { log: (line) => made.lines.push(line), changed: made.changed });
  while (made.lines.length < 3) await made.next();
  expect(made.lines.map((line) => /(\d+) ms/.exec(line)?.[1])).toEqual(['100', '200', '400']);
  expect(made.lines[0]).toContain('with exit code 3');
  await part.stop();
  expect(part.pid).toBeNull();
});

test('a stopped part stays down until it is started', async () => {
  const made = plan('setInterval(() => {}, 1000)');
  part = await supervise(made.plan, { log: (line) => made.lines.push(line), changed: made.changed });
  const { pid } = part;
  await part.stop();
  expect(pid !== null && isAlive(pid)).toBe(false);
  expect(part.pid).toBeNull();
  await part.start();
  expect(part.pid).not.toBeNull();
  expect(made.lines).toEqual([]);
});

test('what a process prints is in its log, which only its owner can read', async () => {
  const made = plan('console.log("hello"); setInterval(() => {}, 1000)');
  part = await supervise(made.plan, { log: () => {}, changed: made.changed });
  while (!readFileSync(part.logFile, 'utf8').includes('hello')) await new Promise((resolve) => setImmediate(resolve));
  await part.stop();
  expect(readFileSync(part.logFile, 'utf8')).toBe('hello\n');
});

test('restarts that are asked for at once never have two processes of a part', async () => {
  const made = plan("process.on('SIGTERM', () => setTimeout(() => process.exit(), 300)); setInterval(() => {}, 1000)");
  let most = 0;
  const alive = new Set<number>();
  const start = async () => {
    const running = await made.plan.start();
    const { pid } = running.child;
    alive.add(pid);
    void running.child.exited.then(() => alive.delete(pid));
    most = Math.max(most, alive.size);
    return running;
  };
  const only = await supervise({ ...made.plan, start }, { log: () => undefined, changed: () => undefined });
  part = only;
  await Promise.all([only.restart(), only.restart(), only.stop().then(() => only.start()), only.restart()]);
  expect([most, alive.size, alive.has(only.pid ?? 0)]).toEqual([1, 1, true]);
});
