/** The whole measurement against a real provider, in this process: figures of any size, but all of them there. */
import { startSimulator } from '@gw/simulator/internals/start-for-test';
import { forFile } from '@gw/testing/for-file';
import { expect, test } from 'vitest';
import { replyLoad } from './load/reply-load.ts';
import { eventCounter, streamLoad } from './load/stream-load.ts';
import { streamCall, type Target } from './load/target.ts';
import { figuresOf } from './report.ts';
import { type Bench, rotate, runRounds, type Scenario, STREAMS, scenarios } from './rounds.ts';

const simulator = forFile(startSimulator);

const provider = (name: Target['name'], headers = {}): Target => ({
  name,
  baseUrl: `${simulator.url}/v1`,
  headers,
  pids: () => ({ simulator: process.pid }),
});

function bench(targets: readonly Target[], more: Partial<Bench> = {}): Bench {
  const settings = { model: 'sim-small', seconds: 0.2, rounds: 1, warmUpSeconds: 0.1 };
  return { targets, ...settings, progress: () => undefined, ...more };
}

test('every scenario is measured at every target in each round, without errors', { timeout: 60_000 }, async () => {
  const targets = [provider('provider'), provider('envoy')];
  const samples = await runRounds(bench(targets));
  expect(samples.map(({ scenario, target }) => `${scenario} ${target}`)).toEqual(
    scenarios.flatMap((scenario) => [`${scenario} provider`, `${scenario} envoy`]),
  );
  for (const { scenario, load, elapsedS, cpuUs } of samples) {
    expect(load.errors).toBe(0);
    expect(elapsedS).toBeGreaterThanOrEqual(load.durationS);
    if (scenario === 'idle') continue;
    expect(load.requests).toBeGreaterThan(0);
    expect(load.p99Ms).toBeGreaterThanOrEqual(load.p50Ms ?? Number.NaN);
    expect(cpuUs.simulator).toBeGreaterThanOrEqual(0);
  }
  expect(figuresOf(samples, 'json-32', 'envoy').ratioToEnvoy).toBe(1);
  const streams = (wanted: Scenario) => samples.find(({ scenario }) => scenario === wanted)?.load.requests;
  // A paced stream takes 0.4 s, so no connection can finish more than three in a second.
  expect(streams('stream')).toBe(STREAMS);
  expect(streams('stream-at-once')).toBeGreaterThan(5 * STREAMS);
});

test('each target is called for the whole time of its warm-up, even if it does not become faster', async () => {
  const said: string[] = [];
  const progress = (line: string) => said.push(`${line.split(', ')[0]} ${performance.now()}`);
  const started = performance.now();
  await runRounds(bench([provider('provider')], { seconds: 0.1, warmUpSeconds: 1, progress }));
  const slices = said.filter((line) => line.startsWith('warming up: provider'));
  expect(slices.length).toBeGreaterThanOrEqual(4);
  expect(Number(slices.at(-1)?.split(' ').at(-1)) - started).toBeGreaterThanOrEqual(1000);
});

test('a stream of n tokens brings n events, one before them and two after', async () => {
  const load = await streamLoad(streamCall(provider('provider'), 'sim-small', 5, 500), STREAMS, 0.01);
  expect(load.requests).toBeGreaterThanOrEqual(STREAMS);
  expect(load.events).toBe(load.requests * 8);
});

test('streams that break are errors and end the run', async () => {
  const broken = provider('provider', { 'x-sim-fault': 'cut' });
  const load = await streamLoad(streamCall(broken, 'sim-small', 5, 500), 2, 30);
  expect(load).toMatchObject({ requests: 0, errors: 2, events: 0, p50Ms: null });
});

test('replies other than 200 are counted as errors', async () => {
  const failing = provider('provider', { 'x-sim-fault': 'status-500' });
  const load = await replyLoad(
    { url: `${failing.baseUrl}/chat/completions`, headers: failing.headers, body: '{}' },
    1,
    0.1,
  );
  expect(load.requests).toBe(0);
  expect(load.errors).toBeGreaterThan(0);
});

test('a target that answers with an error is not measured, and the error is told', async () => {
  const failing = provider('gateway', { 'x-sim-fault': 'status-401' });
  await expect(runRounds(bench([failing]))).rejects.toThrow(/gateway answers 401: .*Simulated failure/);
});

test('an interrupted run ends', async () => {
  const signal = AbortSignal.abort(new Error('Stopped.'));
  await expect(runRounds(bench([provider('provider')], { signal }))).rejects.toThrow('Stopped.');
});

test('events are counted even if they are cut anywhere', () => {
  const bytes = Buffer.from('data: {"a":"é"}\n\n: comment\n\ndata: [DONE]\n\n');
  for (let cut = 0; cut <= bytes.length; cut++) {
    const count = eventCounter();
    count(bytes.subarray(0, cut));
    expect(count(bytes.subarray(cut))).toBe(3);
  }
});

test('each target has its turn to be the first', () => {
  expect([0, 1, 2, 3].map((round) => rotate(['a', 'b', 'c'], round).join(''))).toEqual(['abc', 'bca', 'cab', 'abc']);
  expect(rotate([], 1)).toEqual([]);
});
