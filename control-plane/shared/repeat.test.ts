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
  await vi.advanceTimersByTimeAsync(800);
  expect([runs, most]).toEqual([3, 1]);
  const stopped = job.stop();
  await vi.advanceTimersByTimeAsync(1000);
  await stopped;
  expect([runs, running]).toEqual([3, 0]);
  vi.useRealTimers();
});
