/**
 * 64 connections as fast as they are answered, for three minutes, half of them above their limit: the memory of no part grows
 * once it is warm, and the ledger has each receipt once.
 */
import { forFile } from '@gw/testing/for-file';
import { expect, test } from 'vitest';
import { runLoad } from '../outage/load-client.ts';
import { median, quarter, watchMemory } from '../outage/memory.ts';
import { eventually, startOwnGateway } from '../outage/own-gateway.ts';

const parts = ['ext-authz', 'receipt-sidecar', 'control-plane', 'valkey'] as const;
const durationMs = 180_000;

const gateway = forFile(startOwnGateway);

test('no part is started again, and the memory of none grows after the warm-up', async () => {
  const pidsNow = () => new Map(parts.map((name) => [name, gateway.stack.part(name).pid ?? 0]));
  const before = pidsNow();
  const { publicUrl, keys } = gateway.stack;
  const keyOf = (connection: number) => (connection % 2 === 0 ? keys.audit : keys.enterprise);
  const since = new Date();
  const watch = watchMemory(before);
  const load = await runLoad({ publicUrl, connections: 64, durationMs, keyOf });
  const memory = watch.stop();
  console.log(`${load.receiptIds.length} calls, ${load.refusals.length} refused`);
  expect([...load.faults, ...load.torn, ...load.refusals.filter(({ status }) => status !== 429)]).toEqual([]);
  const rows = load.receiptIds.length;
  await eventually('all rows', async () => (await gateway.ledger.count(since)).rows >= rows, 120_000);
  expect(await gateway.ledger.count(since)).toEqual({ rows, ids: rows });
  expect(pidsNow()).toEqual(before);
  for (const [name, values] of memory) {
    // V8 lets its heap grow to the load for the first half, and collects in steps of some 30 MB: hence the most of the third
    // quarter. 20 MB more in a quarter of three minutes would be some 1 kB a call.
    const warm = Math.max(...quarter(values, 2));
    const late = median(quarter(values, 3));
    const seen = `${name}: ${values.map(Math.round).join(' ')} MB`;
    console.log(seen);
    expect(late, seen).toBeLessThanOrEqual(Math.max(warm * 1.15, warm + 20));
  }
});
