/** Each part replaced under load, one instance after the other: no call fails, no receipt is degraded, and none is lost. */
import { scopes } from '@gw/contract/access';
import { issuedKeySchema } from '@gw/contract/keys';
import type { PartName } from '@gw/stack/stack-plans';
import { forFile } from '@gw/testing/for-file';
import { beforeAll, expect, test } from 'vitest';
import { apiOf } from '../operator-api.ts';
import { instancesOf } from '../outage/instances.ts';
import { eventually, startOwnGateway } from '../outage/own-gateway.ts';
import { startBalancer } from './balancer.ts';
import { type RollingLoad, startRollingLoad } from './rolling-load.ts';

const gateway = forFile(() => startOwnGateway({ instances: 2, envoys: 2, controlPlanes: 2, drainS: 60 }));
let adminKey: string;

beforeAll(async () => {
  const keys = '/operator/v1/accounts/acct_demo_enterprise/keys';
  const issued = await apiOf(gateway.stack).send('POST', keys, { name: 'rolling', scopes });
  adminKey = issuedKeySchema.parse(issued).key;
});

type Service = 'ext-authz' | 'receipt-sidecar' | 'control-plane';

/** SIGTERM, its end, a new start, and Envoy gives it calls. */
async function replace(service: Service, name: PartName): Promise<void> {
  await gateway.stack.part(name).restart();
  const look = async () => (await instancesOf(gateway.stack, service))[name === service ? 0 : 1];
  const before = (await look())?.calls ?? 0;
  await eventually(`calls for ${name}`, async () => {
    const instance = await look();
    return instance?.isIn === true && instance.calls > before + 3;
  });
}

async function underLoad(change: (load: RollingLoad) => Promise<void>): Promise<void> {
  const from = new Date();
  const { publicUrls, keys } = gateway.stack;
  const balancer = await startBalancer(publicUrls);
  const load = startRollingLoad({ url: balancer.url, key: keys.enterprise, adminKey });
  try {
    await eventually('calls of every kind', () => load.ended.size === 5);
    await change(load);
  } finally {
    await load.stop();
    await balancer.stop();
  }
  const { failures, receiptIds } = await load.stop();
  console.log({ ...Object.fromEntries(load.ended), failures: failures.length });
  expect(failures).toEqual([]);
  await gateway.ledger.receipts(receiptIds);
  const { rows, ids } = await gateway.ledger.count(from);
  expect({ rows, ids }).toEqual({ rows: receiptIds.length, ids: receiptIds.length });
}

test.each<Service>(['ext-authz', 'control-plane', 'receipt-sidecar'])('%s: one after the other', async (service) => {
  await underLoad(async () => {
    for (const name of [service, `${service}-2`] as const) await replace(service, name);
  });
});

test('Envoy: one after the other, with streams that take longer than load balancers are given', async () => {
  await underLoad(async ({ ended }) => {
    for (const name of ['envoy', 'envoy-2'] as const) {
      await gateway.stack.part(name).restart();
      const url = gateway.stack.publicUrls[name === 'envoy' ? 0 : 1];
      await eventually(`${name} to serve`, async () => (await fetch(`${url}/healthz`)).status === 200);
      const before = ended.get('stream') ?? 0;
      await eventually('more streams to end', () => (ended.get('stream') ?? 0) > before + 3);
    }
  });
});
