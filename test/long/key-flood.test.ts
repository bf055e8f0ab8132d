/** A hundred thousand wrong keys of each kind: what they cost, and what those with a good one notice. */
import { setTimeout as delay } from 'node:timers/promises';
import { forFile } from '@gw/testing/for-file';
import { beforeAll, expect, test } from 'vitest';
import { flood, p99During, randomKey, unknownKey } from '../keys/flood.ts';
import { type MemoryWatch, median, watchMemory } from '../outage/memory.ts';
import { startOwnGateway } from '../outage/own-gateway.ts';

const count = 100_000;
/** A machine with two processors can do this much beside the flood's own work. */
const perS = 1000;

const gateway = forFile(startOwnGateway);
beforeAll(async () => {
  await gateway.whole();
});

/** Rows that Postgres has fetched from the table of keys by its primary key: one for each look-up that finds a key. */
async function keyLookUps(): Promise<number> {
  const [row] = await gateway.db.$queryRaw<{ scans: bigint }[]>`
    SELECT idx_scan AS scans FROM pg_stat_user_indexes WHERE indexrelname = 'api_keys_pkey'`;
  return Number(row?.scans ?? 0);
}

function watch(): MemoryWatch {
  const { pid } = gateway.stack.part('ext-authz');
  if (pid === null) throw new Error('ext-authz does not run.');
  return watchMemory(new Map([['ext-authz', pid]]));
}

test.each([
  ['random', randomKey],
  ['well-formed', unknownKey],
])('%s keys: memory and look-ups are bounded, and good keys hardly notice', async (_kind, makeKey) => {
  const { keys, publicUrl } = gateway.stack;
  // As busy as the flood, so that the processes have their working size and the times compare.
  const warmUp = flood(publicUrl, () => keys.enterprise, 20_000, perS);
  const quiet = await p99During(publicUrl, keys.enterprise, warmUp);
  const before = await keyLookUps();
  const memory = watch();
  const begun = performance.now();
  const running = flood(publicUrl, makeKey, count, perS);
  const busy = await p99During(publicUrl, keys.enterprise, running);
  const seconds = (performance.now() - begun) / 1000;
  const samples = memory.stop().get('ext-authz') ?? [];
  await delay(1500);
  const lookUps = (await keyLookUps()) - before;
  const growthMb = median(samples.slice(-10)) - median(samples.slice(0, 10));
  console.log({ quiet, busy, growthMb, lookUps, seconds });
  expect([...(await running).entries()]).toEqual([[401, count]]);
  expect(growthMb).toBeLessThan(20);
  // 20 a second and 50 at once, and those of jobs that read keys by their id.
  expect(lookUps).toBeLessThan(50 + 25 * seconds);
  expect(busy).toBeLessThan(2 * Math.max(quiet, 5));
});
