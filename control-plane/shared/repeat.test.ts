import { silentLog } from '@gw/testing/control-plane/fixtures';
import { expect, test, vi } from 'vitest';
import { repeat } from './repeat.ts';

test('a job that fails is run again, never beside itself, and stop waits for the run under way', async () => {
  vi.useFakeTimers();
  let running = 0;
  let runs = 0;
  let most = 0;
  const job = repeat({
    name: 'test',
    everyMs: 100,
    log: silentLog,
    run: async () => {
      most = Math.max(most, ++running);
      runs++;
      await new Promise((resolve) => setTimeout(resolve, 250));
      running--;
      throw new Error('every time');
    },
  });
  // It rests for as long as it took.
  await vi.advanceTimersByTimeAsync(1200);
  expect([runs, most]).toEqual([3, 1]);
  const stopped = job.stop();
  await vi.advanceTimersByTimeAsync(1000);
  await stopped;
  expect([runs, running]).toEqual([3, 0]);
  vi.useRealTimers();
});

test('a quick job that fails rests twice as long each time, up to 5 s, until it succeeds', async () => {
  vi.useFakeTimers();
  const begun = Date.now();
  const at: number[] = [];
  const job = repeat({
    name: 'test',
    everyMs: 500,
    log: silentLog,
    run: async () => {
      at.push(Date.now() - begun);
      if (at.length !== 8) throw new Error('all but the eighth');
    },
  });
  await vi.advanceTimersByTimeAsync(25_000);
  await job.stop();
  expect(at).toEqual([0, 500, 1500, 3500, 7500, 12_500, 17_500, 22_500, 23_000, 23_500, 24_500]);
  vi.useRealTimers();
});
