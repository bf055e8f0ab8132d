/**
 * One minute of chaos: kills, halts, slow parts, cut connections, full disks and wrong clocks, two of each part, by the
 * schedule of one seed. `test/long/chaos.test.ts` has five seeds of ten minutes.
 */
import { expect, test } from 'vitest';
import { runChaos } from './chaos.ts';

test('the books balance after a minute of chaos', { timeout: 400_000 }, async () => {
  const outcome = await runChaos({
    seed: Number(process.env.GW_CHAOS_SEED ?? 1),
    durationMs: Number(process.env.GW_CHAOS_S ?? 60) * 1000,
    tell: console.log,
  });
  console.log({ ...outcome, strikes: outcome.strikes.length, differences: outcome.differences.length });
  for (const line of outcome.differences.slice(0, 40)) console.log(line);
  expect(outcome.differences).toEqual([]);
});
