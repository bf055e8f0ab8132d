/** A minute of chaos by one seed; `test/long/chaos.test.ts` has ten minutes by each of five. `GW_CHAOS_SEED` is another seed. */
import { expect, test } from 'vitest';
import { runChaos } from './chaos.ts';

const seed = Number(process.env.GW_CHAOS_SEED ?? 1);

test(`the books balance after a minute of chaos, by seed ${seed}`, { timeout: 520_000 }, async () => {
  const { answered, counted, differences, receipts, requests, story } = await runChaos({ seed, durationMs: 60_000 });
  expect(differences, [...differences, story].join('\n')).toEqual([]);
  console.log(
    `${requests} requests, ${answered} answered, ${receipts} receipts, ${counted} of them counted by ext-authz`,
  );
  // A gateway that refuses everything has balanced books too. How many there are is the machine's: three times as many on a fast one.
  expect(receipts, story).toBeGreaterThan(100);
  expect(answered / requests, story).toBeGreaterThan(0.1);
});
