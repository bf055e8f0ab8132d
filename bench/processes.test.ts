import { spawn } from 'node:child_process';
import { afterAll, expect, test } from 'vitest';
import { parseProcStat, parsePsLine, usedBy, usedByTree } from './processes.ts';

/** Prints a line once it has worked for 300 ms, in itself and in a child, and then waits. */
const worker = spawn(process.execPath, [
  '-e',
  `const work = "const end = process.cpuUsage().user + 3e5; while (process.cpuUsage().user < end) for (let i = 0; i < 1e6; i++) Math.sqrt(i);";
   const child = require('node:child_process').spawn(process.execPath, ['-e', work + 'console.log(1); setInterval(() => {}, 1e6)']);
   child.stdout.once('data', () => console.log('worked'));
   process.stdin.resume().on('end', () => child.kill()).on('close', () => process.exit());
   eval(work);`,
]);
afterAll(() => {
  worker.stdin.end();
});

test('a line of /proc/<pid>/stat is read even if the name holds spaces and parentheses', () => {
  const line = `7 (a) S (b) S 3 7 7 0 -1 4194304 100 0 0 0 250 50 20 5 20 0 1 0 12345 1000000 2048 18446744073709551615\n`;
  expect(parseProcStat(line, 4096)).toEqual({ pid: 7, parent: 3, cpuUs: 3_250_000, rssBytes: 2048 * 4096 });
  expect(parseProcStat('nonsense')).toBeNull();
});

test('a line of ps is read with hours and days too', () => {
  expect(parsePsLine('  7   3  2048   1:02.50')).toEqual({ pid: 7, parent: 3, cpuUs: 62_500_000, rssBytes: 2_097_152 });
  expect(parsePsLine('7 3 1 01:00:00')?.cpuUs).toBe(3_600_000_000);
  expect(parsePsLine('7 3 1 2-00:00:01')?.cpuUs).toBe(172_801_000_000);
  expect(parsePsLine('PID PPID RSS TIME')).toBeNull();
});

test('a tree is a process with all its descendants, in whatever order they are listed', () => {
  const state = (pid: number, parent: number) => ({ pid, parent, cpuUs: 10 ** pid, rssBytes: 1 });
  const processes = [state(4, 3), state(3, 2), state(2, 1), state(5, 1)];
  expect(usedByTree(2, processes)).toEqual({ cpuUs: 11_100, rssBytes: 3 });
  expect(usedByTree(9, processes)).toEqual({ cpuUs: 0, rssBytes: 0 });
});

test('the time that a process and its child have worked is counted', { timeout: 30_000 }, async () => {
  await new Promise((resolve) => worker.stdout.once('data', resolve));
  const used = usedBy({ worker: worker.pid ?? 0 }).worker;
  expect(used?.cpuUs).toBeGreaterThanOrEqual(550_000);
  expect(used?.rssBytes).toBeGreaterThan(20_000_000);
});
