/**
 * Ten minutes of chaos by each of five seeds, and the books afterwards (`test/chaos/books.ts`). `GW_CHAOS_SEED` runs one
 * seed again, `GW_CHAOS_S` for as many seconds.
 */
import { expect, test } from 'vitest';
import { runChaos } from '../chaos/chaos.ts';

const given = process.env.GW_CHAOS_SEED;
const seeds = given === undefined ? [11, 12, 13, 14, 15] : [Number(given)];
const durationS = Number(process.env.GW_CHAOS_S ?? 600);

test.each(seeds)('the books balance, by seed %d', { timeout: (2 * durationS + 460) * 1000 }, async (seed) => {
  const tell = (line: string) => console.log(`  ${line}`);
  const { differences, ...sums } = await runChaos({ seed, durationMs: durationS * 1000, tell });
  console.log(`  ${JSON.stringify({ ...sums, story: undefined })}`);
  expect(differences).toEqual([]);
  // A gateway that refuses everything has balanced books too.
  expect(sums.receipts).toBeGreaterThan(5 * durationS);
  expect(sums.answered / sums.requests).toBeGreaterThan(0.4);
});
