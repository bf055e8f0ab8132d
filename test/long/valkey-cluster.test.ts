/**
 * A gateway on a Valkey Cluster, of which the node with the ledger is killed under load: its replica takes over, no call fails, and the
 * ledger has one receipt for each.
 */
import { setTimeout as delay } from 'node:timers/promises';
import { ledgerStream } from '@gw/contract/internal/redis';
import type { RedisUser } from '@gw/contract/internal/redis-users';
import { forFile } from '@gw/testing/for-file';
import { startCluster } from '@gw/testing/service/valkey-cluster';
import { expect, test } from 'vitest';
import { eventually, startOwnGateway } from '../outage/own-gateway.ts';
import { startLoad } from '../outage/steady-load.ts';

const userOf: Readonly<Record<string, RedisUser>> = {
  'ext-authz': 'ext_authz',
  'ext-authz-2': 'ext_authz',
  'receipt-sidecar': 'sidecar',
  'receipt-sidecar-2': 'sidecar',
  'control-plane': 'control_plane',
};
const cluster = forFile(startCluster);
const gateway = forFile(() => {
  const variables = (user: RedisUser) => ({ GW_REDIS_URL: cluster.urlAs(user) });
  const env = Object.fromEntries(Object.entries(userOf).map(([part, user]) => [part, variables(user)]));
  return startOwnGateway({ instances: 2, env });
});
const underLoadMs = 8000;

const isExact = async (): Promise<boolean> => {
  const urls = Object.entries(gateway.stack.healthUrls);
  const replies = await Promise.all(urls.map(async ([, url]) => (await fetch(`${url}/healthz`)).json()));
  return (replies as Record<string, unknown>[]).every((each) => each.limits_exact === true && each.redis === true);
};

test('no call fails while a replica takes over from the node of the ledger, and each has its receipt', {
  timeout: 300_000,
}, async () => {
  await gateway.whole();
  await eventually('every part to work with the cluster', isExact);
  const from = new Date();
  const load = startLoad(gateway.stack, 20, 16);
  await delay(underLoadMs);
  const before = await cluster.primaryOf(ledgerStream);
  before.child.kill('SIGKILL');
  await eventually('another primary', async () => (await cluster.primaryOf(ledgerStream)).port !== before.port);
  await delay(underLoadMs);
  const lost = await load.stop();
  console.log(`${load.ended.length} calls, ${lost.length} lost`);
  expect(lost).toEqual([]);
  const answered = load.ended.map(({ receiptId }) => receiptId);
  await gateway.ledger.receipts(answered);
  const { ids, rows } = await gateway.ledger.count(from);
  expect(rows).toBe(ids);
  await eventually('every part to work with the cluster again', isExact);
});
