/** Sums over a million receipts of a month, or over more of a year (`GW_TEST_RECEIPTS`): the same as those of the receipts, and how long both take. */
import { dayMs } from '@gw/contract/internal/durations';
import { startOwnStores } from '@gw/testing/control-plane/fixtures';
import { forFile } from '@gw/testing/for-file';
import { expect, it } from 'vitest';
import { sumUsage } from './job.ts';
import type { UsageQuestion } from './question.ts';
import { usageOf } from './usage.ts';

const receipts = Number(process.env.GW_TEST_RECEIPTS ?? 1_000_000);
const days = receipts > 1_000_000 ? 360 : 30;
const from = new Date(days > 30 ? '2025-09-01' : '2026-09-01');
const chunk = 10_000;
const stores = forFile(startOwnStores);

it(`over ${receipts} receipts of ${days} days`, { timeout: 3_600_000 }, async () => {
  // Five models, two regions, three keys; without what only a lineage needs.
  for (let first = 0; first < receipts; first += chunk)
    await stores.tamper(`
    INSERT INTO receipts (id, version, created_at, account_id, key_id, endpoint, model, region, tier, status,
      prompt_tokens, completion_tokens, energy_wh, carbon_g, body, content_sha256, seal, seal_key)
    SELECT 'rcpt_' || n, 1, timestamptz '${from.toISOString()}' + n * (INTERVAL '${days} days' / ${receipts}), 'acct_large', 'key' || n % 3,
      '/v1/chat/completions', 'model' || n % 5, 'region' || n % 2, 'parametric', 'complete', n % 1000, n % 500,
      n % 977 / 1000.0, n % 491 / 1000.0,
      json_build_object('provider', 'p', 'project', 'project' || n % 7, 'grid_basis', 'lifecycle', 'energy_low_wh', n % 977 / 2000.0, 'water_ml', n % 91), 'd', 's', 1
    FROM generate_series(${first}, ${first + chunk - 1}) n`);
  const asked = {
    accountId: 'acct_large',
    from,
    to: new Date(from.getTime() + days * dayMs),
    version: 'restated',
    simulated: 'exclude',
    currency: 'EUR',
  } as const;
  const question: UsageQuestion = {
    ...asked,
    interval: days > 30 ? 'month' : 'day',
    group_by: ['model', 'region', 'key_id', 'project'],
  };
  const timed = async <T>(run: () => Promise<T>): Promise<[T, number]> => {
    const begun = performance.now();
    return [await run(), Math.round(performance.now() - begun)];
  };
  // Each model has a new price thirty times, and one of the two regions has its own.
  await stores.tamper(`INSERT INTO prices (id, provider, model, region, valid_from, input_per_mtok, output_per_mtok, source)
    SELECT m || ' ' || d || ' ' || r, 'p', 'model' || m, nullif('region' || r, 'region1'),
      timestamptz '${from.toISOString()}' + (d - 1) * INTERVAL '${days / 30} days', 1 + d, 2 + m, 'made up'
    FROM generate_series(0, 4) m, generate_series(0, 31) d, generate_series(0, 1) r`);
  await stores.tamper(`INSERT INTO usage_changes (account_id, hour)
    SELECT 'acct_large', timestamptz '${from.toISOString()}' + n * INTERVAL '1 hour' FROM generate_series(0, ${days * 24 - 1}) n`);
  // From more receipts than a million it takes many minutes, and shows nothing new.
  const [live, liveMs] = await timed(async () => (days > 30 ? null : usageOf(stores.db, question)));
  const [, sumMs] = await timed(async () => {
    await sumUsage(stores.db);
  });
  const [summed, summedMs] = await timed(() => usageOf(stores.db, question));
  console.log(
    `${receipts} receipts: ${liveMs} ms from the receipts, ${summedMs} ms from the sums, made in ${sumMs} ms`,
  );
  if (live !== null) expect(summed).toEqual(live);
  const [plain] = await stores.db.$queryRaw<{ sum: number }[]>`SELECT sum(energy_wh)::float8 AS sum FROM receipts`;
  expect(summed?.total.energy_wh).toBe(Number(plain?.sum.toPrecision(12)));
  expect(summed?.total.requests).toBe(receipts);
  expect(summed?.data.length).toBe((days > 30 ? 12 : 30) * 30 * 7);
  expect(summed?.total).toMatchObject({ cost: expect.any(Number), missing: { energy_high_wh: receipts } });
  // As if nothing was said of the period: it begins and ends within an hour.
  const odd = {
    ...question,
    from: new Date(from.getTime() + 38_420_123),
    to: new Date(asked.to.getTime() - 8_809_544),
  };
  const [edges, edgesMs] = await timed(() => usageOf(stores.db, odd));
  console.log(`a period that begins and ends within an hour: ${edgesMs} ms`);
  const inIt = (at: Date) => Math.ceil(((at.getTime() - from.getTime()) * receipts) / (days * dayMs));
  expect(edges?.total.requests).toBe(inIt(odd.to) - inIt(odd.from));
});
