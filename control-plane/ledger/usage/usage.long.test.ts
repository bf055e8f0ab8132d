/**
 * Sums over a million receipts of a month, or over more of a year (`GW_TEST_RECEIPTS`), and over 300,000 of the last hour: the same as those of
 * the receipts, and read in a moment.
 */
import { boundsOfMonth, monthOf } from '@gw/contract/internal/budgets';
import { dayMs, hourMs } from '@gw/contract/internal/durations';
import { Prisma } from '@gw/prisma/client';
import { startOwnStores } from '@gw/testing/control-plane/fixtures';
import { plainSums, restateMany, storeMany } from '@gw/testing/control-plane/many-receipts';
import { forFile } from '@gw/testing/for-file';
import { expect, it } from 'vitest';
import { usedIn } from '../budgets/sums.ts';
import { sumUsage } from './job.ts';
import { sumMinutes } from './minutes.ts';
import type { UsageQuestion } from './question.ts';
import { usageOf } from './usage.ts';

const receipts = Number(process.env.GW_TEST_RECEIPTS ?? 1_000_000);
const days = receipts > 1_000_000 ? 360 : 30;
const from = new Date(days > 30 ? '2025-09-01' : '2026-09-01');
const stores = forFile(startOwnStores);
const common = { version: 'restated', simulated: 'exclude', currency: 'EUR' } as const;

const timed = async <T>(run: () => Promise<T>): Promise<[T, number]> => {
  const begun = performance.now();
  return [await run(), Math.round(performance.now() - begun)];
};

it(`over ${receipts} receipts in ${days} days`, { timeout: 3_600_000 }, async () => {
  const to = new Date(from.getTime() + days * dayMs);
  const { db, tamper } = stores;
  const [, storeMs] = await timed(() =>
    storeMany(db, { accountId: 'acct_large', from, to, count: receipts, atOnce: 10_000 }),
  );
  // Each model has a new price thirty times, and one of the two regions has its own.
  await tamper(`INSERT INTO prices (id, provider, model, region, valid_from, input_per_mtok, output_per_mtok, source)
    SELECT m || ' ' || d || ' ' || r, 'p', 'model' || m, nullif('region' || r, 'region1'),
      timestamptz '${from.toISOString()}' + (d - 1) * INTERVAL '${days / 30} days', 1 + d, 2 + m, 'made up'
    FROM generate_series(0, 4) m, generate_series(0, 31) d, generate_series(0, 1) r`);
  const question: UsageQuestion = {
    ...common,
    accountId: 'acct_large',
    from,
    to,
    interval: days > 30 ? 'month' : 'day',
    group_by: ['model', 'region', 'key_id', 'project'],
  };
  const [live, liveMs] = await timed(() => usageOf(db, question));
  const [, sumMs] = await timed(() => sumUsage(db));
  const [summed, summedMs] = await timed(() => usageOf(db, question));
  console.log(
    `${receipts} receipts, stored in ${storeMs} ms: ${liveMs} ms from what they added, ${summedMs} ms from the sums, made in ${sumMs} ms`,
  );
  expect(summed).toEqual(live);
  const plain = await plainSums(db);
  expect(summed?.total).toMatchObject({ requests: receipts, energy_wh: plain.energy_wh, carbon_g: plain.carbon_g });
  expect(summed?.data.length).toBe((days > 30 ? 12 : 30) * 30 * 7);
  expect(summed?.total).toMatchObject({ cost: expect.any(Number), missing: { energy_high_wh: receipts } });
  // It begins and ends within a minute.
  const odd = { ...question, from: new Date(from.getTime() + 38_420_123), to: new Date(to.getTime() - 8_809_544) };
  const [edges, edgesMs] = await timed(() => usageOf(db, odd));
  console.log(`a period that begins and ends within a minute: ${edgesMs} ms`);
  const inIt = (at: Date) => Math.ceil(((at.getTime() - from.getTime()) * receipts) / (days * dayMs));
  expect(edges?.total.requests).toBe(inIt(odd.to) - inIt(odd.from));
});

it('over 300,000 receipts in the last hour, of which many are restated', { timeout: 3_600_000 }, async () => {
  const { db } = stores;
  const [accountId, count, atOnce] = ['acct_busy', 300_000, 500];
  // Within one month, whose budgets are asked for.
  const month = monthOf(Date.now());
  const to = new Date(Math.max(Date.now(), boundsOfMonth(month).from.getTime() + hourMs));
  await storeMany(db, { accountId, from: new Date(to.getTime() - hourMs), to, count, atOnce });
  await restateMany(db, { accountId, atOnce, count: 50_000 });
  while ((await sumMinutes(db)) > 0);
  // The job has not come to these yet: what came in 5 s.
  await storeMany(db, { accountId: 'acct_busy_too', from: new Date(to.getTime() - 5000), to, count: 500, atOnce: 20 });
  const period = { from: new Date(to.getTime() - 30 * dayMs), to: new Date(to.getTime() + dayMs) };
  const question = { ...common, ...period, interval: 'day', group_by: ['model'] } as const;
  const asked = {
    usage: () => usageOf(db, { ...question, accountId }),
    fleet: () => usageOf(db, { ...question, accountId: null, group_by: ['account_id', 'model'] }),
    budgets: () => usedIn(db, { currency: 'EUR' }, { accountId, month }),
  };
  for (const [name, ask] of Object.entries(asked)) {
    const took: number[] = [];
    for (let round = 0; round < 11; round += 1) took.push((await timed<unknown>(ask))[1]);
    took.sort((one, other) => one - other);
    console.log(`${name}: ${took[5]} ms at the median, ${took[10]} ms at the worst`);
    expect(took[5]).toBeLessThanOrEqual(200);
    expect(took[10]).toBeLessThanOrEqual(1000);
  }
  const plain = await plainSums(db, Prisma.sql`account_id = ${accountId}`);
  expect((await asked.usage())?.total).toMatchObject({
    requests: plain.requests,
    energy_wh: plain.energy_wh,
    carbon_g: plain.carbon_g,
  });
  const used = await asked.budgets();
  for (const unit of ['energy_wh', 'carbon_g', 'tokens'] as const)
    expect(used({ scope: 'account', name: '', unit }).stated).toBeCloseTo(plain[unit], 6);
});
