/**
 * Installs the peers from their registries, starts them before a simulator and measures each for three seconds a scenario, since a stream
 * of LiteLLM takes most of one. `GW_AIGW_BIN` names Envoy AI Gateway; without it, that one is skipped.
 */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type RunningSimulator, startSimulator } from '@gw/simulator/internals/start-for-test';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { figuresOf, withoutIdle } from '../report.ts';
import { runRounds } from '../rounds.ts';
import { peers, type StartedPeers, startPeers } from './start.ts';

const dir = mkdtempSync(join(tmpdir(), 'gw-peers-'));
/** Go takes minutes to build it, and a module that not every proxy has. */
const wanted = peers.filter(({ name }) => name !== 'envoy-ai-gateway' || process.env.GW_AIGW_BIN);
let simulator: RunningSimulator;
let started: StartedPeers;
let samples: ReturnType<typeof withoutIdle>;

beforeAll(async () => {
  simulator = await startSimulator();
  const options = {
    dir,
    providerUrl: `${simulator.url}/v1`,
    model: 'sim-small',
    simulator: () => ({ simulator: process.pid }),
    log: (line: string) => process.stderr.write(`${line}\n`),
    signal: new AbortController().signal,
  };
  started = await startPeers(options, wanted);
  const settings = { model: 'sim-small', seconds: 3, rounds: 1, warmUpSeconds: 1, progress: () => undefined };
  samples = withoutIdle(await runRounds({ targets: started.targets, ...settings }));
}, 900_000);
afterAll(async () => {
  await started?.stop();
  await simulator?.stop();
  rmSync(dir, { recursive: true, force: true });
});

for (const peer of peers)
  test.skipIf(!wanted.includes(peer))(
    `${peer.name} is measured: calls and streams without an error, and what they cost`,
    () => {
      const { name } = peer;
      expect(started.states.find((state) => state.name === name)).toMatchObject({ notMeasured: null });
      for (const scenario of ['json-1', 'json-32', 'stream-at-once', 'stream'] as const) {
        const figures = figuresOf(samples, scenario, name);
        expect(figures, scenario).toMatchObject({ errors: 0, requestsPerS: expect.any(Number) });
        expect(figures.cpuUsPerRequest[name], scenario).toBeGreaterThan(100);
      }
      expect(figuresOf(samples, 'stream', name).eventsPerS).toBeGreaterThan(0);
    },
  );

test('a peer that was stopped answers no more', async () => {
  const urls = started.targets.map(({ baseUrl }) => baseUrl);
  expect(urls.every((url) => new URL(url).hostname === '127.0.0.1')).toBe(true);
  await started.stop();
  for (const url of urls) await expect(fetch(`${url}/models`)).rejects.toThrow('fetch failed');
});
