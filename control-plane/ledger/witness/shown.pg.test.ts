/** Operators see the minutes that differ: in the shell, page after page, in the health and in the metrics. */
import { seedOperators } from '@gw/testing/control-plane/access';
import { runAs } from '@gw/testing/control-plane/admin';
import { startTestApp, type TestApp } from '@gw/testing/control-plane/app';
import { silentLog } from '@gw/testing/control-plane/fixtures';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { noteFaults } from '../integrity/faults.ts';

let running: TestApp;
beforeAll(async () => {
  running = await startTestApp();
}, 120_000);
afterAll(() => running?.stop());

test('the shell lists them all and ends with 1, unless they are only not witnessed', async () => {
  const { db } = running.stores;
  const { admin } = await seedOperators(running.context);
  const listed = async () => {
    const { code, out } = await runAs(running, admin, ['receipts', 'witness']);
    return { code, lines: out.trimEnd().split('\n') };
  };
  expect(await listed()).toEqual({ code: 0, lines: ['Receipts and counted calls agree in every minute.'] });
  const minuteAt = (minute: number) => new Date(Date.now() - minute * 60_000);
  const differing = { calls: 1, receipts: 3, dueAt: null };
  await db.callCount.createMany({
    data: Array.from({ length: 150 }, (_, at) => ({
      ...differing,
      minute: minuteAt(at),
      accountId: 'acct_a',
      verdict: 'not_witnessed',
    })),
  });
  const unwitnessed = await listed();
  expect([unwitnessed.code, unwitnessed.lines.length]).toEqual([0, 151]);
  const [minute, accountId] = [minuteAt(1), 'acct_b'];
  await db.callCount.create({ data: { ...differing, minute, accountId, verdict: 'extra' } });
  await db.callCount.create({ data: { ...differing, minute, accountId: 'acct_c', verdict: 'agrees' } });
  const { code, lines } = await listed();
  expect([code, lines.length]).toEqual([1, 152]);
  expect(lines.filter((line) => line.includes('acct_b'))).toEqual([
    expect.stringMatching(new RegExp(`^${minute.toISOString()} +acct_b +extra +3 +1$`)),
  ]);

  await noteFaults({ db, log: silentLog }, 'minute', [{ name: accountId, number: 1, fault: '3 receipts, 1 call' }]);
  const health = await running.operator.inject('/healthz');
  expect(health.json()).toMatchObject({ status: 'degraded', ledger_witness_faults: 1 });
  const metrics = (await running.operator.inject('/metrics')).body;
  expect(metrics).toMatch(/^gw_ledger_witness_difference\{.*\} 2$/m);
  expect(metrics).toMatch(/^gw_ledger_calls_not_witnessed\{.*\} 300$/m);
});
