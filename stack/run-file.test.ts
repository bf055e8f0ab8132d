import { spawn } from 'node:child_process';
import { mkdtempSync, rmSync, statSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import {
  claimFolder,
  endLeftovers,
  findSupervisor,
  isRunning,
  type RunFile,
  readRunFile,
  releaseFolder,
  writeRunFile,
} from './run-file.ts';

let dir: string;
beforeEach(() => {
  dir = mkdtempSync(join(tmpdir(), 'gw-run-file-'));
});
afterEach(() => rmSync(dir, { recursive: true, force: true }));

const runWith = (pids: Record<string, number>): Omit<RunFile, 'startMarks'> => ({
  publicUrl: 'http://127.0.0.1:1',
  controlUrl: 'http://127.0.0.1:2',
  model: 'sim-small',
  logs: join(dir, 'logs'),
  keys: { audit: 'a', auditPlus: 'b', enterprise: 'c', admin: 'd' },
  operatorToken: 'e',
  pids,
});

function sleeper(): { pid: number; ended: Promise<unknown> } {
  const child = spawn('sleep', ['600'], { stdio: 'ignore' });
  if (child.pid === undefined) throw new Error('sleep did not start');
  return { pid: child.pid, ended: new Promise((resolve) => child.once('exit', resolve)) };
}

test('only its owner can read the file, which holds keys', () => {
  writeRunFile(dir, runWith({ supervisor: process.pid }));
  expect(statSync(join(dir, 'run.json')).mode & 0o777).toBe(0o600);
  expect(readRunFile(dir)?.keys.audit).toBe('a');
});

test('what a killed supervisor left behind is ended', async () => {
  const { pid, ended } = sleeper();
  writeRunFile(dir, runWith({ envoy: pid }));
  await endLeftovers(dir);
  await ended;
  expect(readRunFile(dir)).toBeNull();
});

test('a process that only got the id of an earlier one is left alone', async () => {
  const { pid, ended } = sleeper();
  writeRunFile(dir, runWith({ envoy: pid }));
  const run = readRunFile(dir);
  if (!run) throw new Error('no run file');
  expect(isRunning(run, 'envoy')).toBe(true);
  const other: RunFile = { ...run, startMarks: { envoy: 'another moment' } };
  expect(isRunning(other, 'envoy')).toBe(false);
  process.kill(pid, 'SIGKILL');
  await ended;
  expect(isRunning(run, 'envoy')).toBe(false);
});

test('a folder is claimed by a process that lives', () => {
  expect(findSupervisor(dir)).toBeNull();
  claimFolder(dir);
  expect(findSupervisor(dir)?.pid).toBe(process.pid);
  releaseFolder(dir);
  expect(findSupervisor(dir)).toBeNull();
});
