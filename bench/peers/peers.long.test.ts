/** Installs the peers from their registries, starts them before a simulator and measures each for a second. */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type RunningSimulator, startSimulator } from '@gw/simulator/internals/start-for-test';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { figuresOf, withoutIdle } from '../report.ts';
import { runRounds } from '../rounds.ts';
import { peers, type StartedPeers, startPeers } from './start.ts';

const dir = mkdtempSync(join(tmpdir(), 'gw-peers-'));
let simulator: RunningSimulator;
let started: StartedPeers;

beforeAll(async () => {
  simulator = await startSimulator();
  started = await startPeers({
    dir,
    providerUrl: `${simulator.url}/v1`,
    model: 'sim-small',
    simulator: () => ({ simulator: process.pid }),
    log: (line) => process.stderr.write(`${line}\n`),
    signal: new AbortController().signal,
  });
}, 900_000);
afterAll(async () => {
  await started?.stop();
  await simulator?.stop();
  rmSync(dir, { recursive: true, force: true });
});

test('every peer is measured: calls and streams without an error, its own processor time and memory', async () => {
  const { states, targets } = started;
  expect(states.map(({ name, notMeasured }) => [name, notMeasured])).toEqual(peers.map(({ name }) => [name, null]));
  const settings = { model: 'sim-small', seconds: 1, rounds: 1, warmUpSeconds: 1, progress: () => undefined };
  const samples = withoutIdle(await runRounds({ targets, ...settings }));
  for (const { name } of targets)
    for (const scenario of ['json-1', 'json-32', 'stream-at-once', 'stream'] as const) {
      const figures = figuresOf(samples, scenario, name);
      expect(figures, `${name} ${scenario}`).toMatchObject({ errors: 0, requestsPerS: expect.any(Number) });
      expect(figures.cpuUsPerRequest[name], `${name} ${scenario}`).toBeGreaterThan(100);
    }
  for (const { name } of targets) expect(figuresOf(samples, 'stream', name).eventsPerS).toBeGreaterThan(0);
});

test('a peer that was stopped answers no more', async () => {
  const urls = started.targets.map(({ baseUrl }) => baseUrl);
  expect(urls.every((url) => new URL(url).hostname === '127.0.0.1')).toBe(true);
  await started.stop();
  for (const url of urls) await expect(fetch(`${url}/models`)).rejects.toThrow('fetch failed');
});
