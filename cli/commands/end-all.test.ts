import { spawn } from 'node:child_process';
import { mkdtempSync, openSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, expect, test, vi } from 'vitest';
import { endAll } from './end-all.ts';

const dir = mkdtempSync(join(tmpdir(), 'gw-end-all-'));
afterAll(() => rmSync(dir, { recursive: true, force: true }));
const never = new AbortController().signal;
const isThere = (pid: number) => {
  try {
    return !/\) Z /.test(readFileSync(`/proc/${pid}/stat`, 'utf8'));
  } catch {
    return false;
  }
};

/** Starts a shell, and returns the ids that it says: its own, and those of its children. */
async function shell(script: string, env: Record<string, string> = {}): Promise<number[]> {
  const file = join(dir, `said-${Math.random()}`);
  const child = spawn('sh', ['-c', `echo $$ >&3; ${script}; echo done >&3; wait`], {
    stdio: ['ignore', 'ignore', 'ignore', openSync(file, 'w')],
    env: { PATH: process.env.PATH, ...env },
    detached: true,
  });
  child.unref();
  const said = () => readFileSync(file, 'utf8').trim().split('\n');
  await vi.waitUntil(() => said().at(-1) === 'done', { timeout: 10_000, interval: 10 });
  return said().slice(0, -1).map(Number);
}

test.runIf(process.platform === 'linux')(
  'a command ends with what it started, also what stands still, and what it left to nobody',
  async () => {
    const [root = 0, ...children] = await shell('sleep 100 & echo $! >&3; sh -c "sleep 100" & echo $! >&3');
    process.kill(children[0] ?? 0, 'SIGSTOP');
    // Their parents have ended: one is known by its environment, the other one by where it writes.
    const byVariable = await shell('(sleep 100 3>&- & echo $! >&3)', { GW_DIR: `${dir}/run/own` });
    const byOutput = await shell(`mkdir -p ${dir}/run; (sleep 100 >${dir}/run/log & echo $! >&3)`);
    const left = [byVariable, byOutput].map(([, orphan = 0]) => orphan);
    expect([root, ...children, ...left].every(isThere)).toBe(true);
    const [stranger = 0] = await shell('sleep 100 & echo $! >&3', { GW_DIR: `${dir}/running` });
    const began = Date.now();
    await endAll([root], `${dir}/run`, never);
    expect(Date.now() - began).toBeLessThan(5000);
    expect([root, ...children, ...left].filter(isThere)).toEqual([]);
    expect(isThere(stranger)).toBe(true);
    await endAll([stranger], `${dir}/running-not`, never);
    expect(isThere(stranger)).toBe(false);
  },
);

test.runIf(process.platform === 'linux')('what does not want to is killed at the second signal', async () => {
  const [root = 0, child = 0] = await shell(
    "trap '' TERM INT; sh -c 'trap \"\" TERM; while :; do sleep 0.1; done' & echo $! >&3",
  );
  const insisting = new AbortController();
  const ending = endAll([root], `${dir}/none`, insisting.signal);
  await new Promise((resolve) => setTimeout(resolve, 300));
  expect([root, child].map(isThere)).toEqual([true, true]);
  insisting.abort();
  await ending;
  expect([root, child].filter(isThere)).toEqual([]);
});
