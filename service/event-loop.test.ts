import { Registry } from 'prom-client';
import { expect, it } from 'vitest';
import { lookEveryMs, makeLook, nextPause, watchEventLoop } from './event-loop.ts';

it('tells a turn that computes from a machine that is busy with others', () => {
  const time = { wall: 0, processor: 0 };
  const look = makeLook({ wall: () => time.wall, processor: () => time.processor });
  const after = (wall: number, processor: number, pauseMs = lookEveryMs) => {
    time.wall += wall;
    time.processor += processor;
    return look(pauseMs).heldMs;
  };
  expect(after(5, 1)).toBe(1);
  // Not given a processor for 300 ms.
  expect(after(300, 2)).toBe(2);
  expect(after(43, 42)).toBe(42);
  // Many short turns in a rest are no long one; one that makes the look late is.
  expect(after(100, 40, 100)).toBe(0);
  expect(after(150, 60, 100)).toBe(50);
});

it('looks seldom at a loop that does nothing, and often as soon as it works', () => {
  let pauseMs = lookEveryMs;
  for (let look = 0; look < 10; look++) pauseMs = nextPause(pauseMs, 0.2);
  expect(pauseMs).toBe(100);
  expect(nextPause(pauseMs, 10)).toBe(lookEveryMs);
  expect(nextPause(lookEveryMs, 2)).toBe(lookEveryMs);
});

it('is one for all registries of a process, since there is one loop', async () => {
  const registries = [new Registry(), new Registry()];
  for (const registry of registries) watchEventLoop(registry);
  const [one, other] = registries.map((registry) => registry.getSingleMetric('gw_event_loop_held_seconds'));
  expect(one).toBeDefined();
  expect(one).toBe(other);
});

it('shows a held loop in the metrics of a service', async () => {
  const registry = new Registry();
  watchEventLoop(registry);
  const countIn = async (bucket: string) => {
    const line = (await registry.metrics()).split('\n').find((each) => each.includes(`_bucket{le="${bucket}"}`));
    return Number(line?.split(' ').at(-1));
  };
  await expect.poll(() => countIn('+Inf'), { timeout: 20_000 }).toBeGreaterThan(2);
  const start = process.cpuUsage();
  // Processor time, so that it is long on a busy machine too; other threads of this process can have a part of it.
  for (let used = 0; used < 1_200_000; ) {
    const { system, user } = process.cpuUsage(start);
    used = user + system;
  }
  const long = async () => (await countIn('+Inf')) - (await countIn('0.1'));
  await expect.poll(long, { timeout: 20_000 }).toBeGreaterThan(0);
});
