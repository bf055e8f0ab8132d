import { Registry } from 'prom-client';
import { expect, it } from 'vitest';
import { makeLook, watchEventLoop } from './event-loop.ts';

it('tells a turn that computes from a machine that is busy with others', () => {
  const time = { wall: 0, processor: 0 };
  const look = makeLook({ wall: () => time.wall, processor: () => time.processor });
  const after = (wall: number, processor: number) => {
    time.wall += wall;
    time.processor += processor;
    return look();
  };
  expect(after(5, 1)).toBe(1);
  // Not given a processor for 300 ms.
  expect(after(300, 2)).toBe(2);
  expect(after(43, 42)).toBe(42);
});

it('shows a held loop in the metrics of a service', async () => {
  const registry = new Registry();
  watchEventLoop(registry);
  const countIn = async (bucket: string) => {
    const line = (await registry.metrics()).split('\n').find((each) => each.includes(`_bucket{le="${bucket}"}`));
    return Number(line?.split(' ').at(-1));
  };
  await expect.poll(() => countIn('+Inf')).toBeGreaterThan(2);
  const start = process.cpuUsage();
  // Processor time, so that it is this long on a busy machine too.
  for (let used = 0; used < 400_000; ) {
    const { system, user } = process.cpuUsage(start);
    used = user + system;
  }
  await expect.poll(async () => (await countIn('+Inf')) - (await countIn('0.1'))).toBeGreaterThan(0);
});
