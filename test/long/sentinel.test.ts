/**
 * The primary of Valkey is killed, and the next one stands still, while calls run: Sentinels promote its replica, all parts follow, and
 * the ledger has one receipt for each call that was answered. Every part reaches Valkey by `redis+sentinel://`.
 */
import { setTimeout as delay } from 'node:timers/promises';
import { forFile } from '@gw/testing/for-file';
import { startSentinels } from '@gw/testing/service/sentinels';
import { expect, test } from 'vitest';
import { startOwnGateway } from '../outage/own-gateway.ts';
import { startLoad } from '../outage/steady-load.ts';

const sentinels = forFile(startSentinels);
const gateway = forFile(() => {
  const variables = { GW_REDIS_URL: sentinels.url };
  const parts = ['ext-authz', 'ext-authz-2', 'receipt-sidecar', 'receipt-sidecar-2', 'control-plane'] as const;
  return startOwnGateway({ instances: 2, env: Object.fromEntries(parts.map((part) => [part, variables])) });
});

const health = async () => {
  const replies = await Promise.all(
    Object.values(gateway.stack.healthUrls).map(async (url) => (await fetch(`${url}/healthz`)).json()),
  );
  return replies as Record<string, unknown>[];
};
const isExact = async () => (await health()).every((each) => each.limits_exact === true && each.redis !== false);

async function untilExact(): Promise<number> {
  const from = performance.now();
  for (const deadline = from + 60_000; performance.now() < deadline; await delay(200))
    if (await isExact().catch(() => false)) return Math.round(performance.now() - from);
  throw new Error(`Not all parts have followed the primary: ${JSON.stringify(await health())}`);
}

test.each([
  ['is killed', 'SIGKILL'],
  ['stands still', 'SIGSTOP'],
] as const)(
  'a primary that %s costs no receipt, and no call but those under way',
  { timeout: 300_000 },
  async (_, signal) => {
    await untilExact();
    const from = new Date();
    const load = startLoad(gateway.stack, 50, 16);
    await delay(3000);
    const before = await sentinels.primary();
    sentinels.node(before).kill(signal);
    const after = await sentinels.failedOver(before);
    const followedMs = await untilExact();
    await delay(3000);
    // One that stood still comes back as it was, and is made a replica.
    if (signal === 'SIGSTOP') sentinels.node(before).kill('SIGCONT');
    else await sentinels.startAgain(before);
    await delay(5000);
    expect(await sentinels.primary()).toBe(after);
    const lost = await load.stop();
    console.log(
      `${load.ended.length} calls, ${lost.length} lost, all parts followed ${followedMs} ms after the failover`,
    );
    expect(lost).toEqual([]);
    const answered = load.ended.map(({ receiptId }) => receiptId);
    expect(answered.length).toBeGreaterThan(100);
    await gateway.ledger.receipts(answered);
    const { rows, ids } = await gateway.ledger.count(from);
    expect(rows).toBe(ids);
    await gateway.whole();
  },
);
