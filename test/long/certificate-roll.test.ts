/**
 * Two of each part on the network, with certificates of a private authority that is replaced by another one under load: no call fails, no
 * receipt is degraded, and none is lost.
 */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { scopes } from '@gw/contract/access';
import { issuedKeySchema } from '@gw/contract/keys';
import type { PartName } from '@gw/stack/stack-plans';
import { makeCertificate, type TestCertificate } from '@gw/testing/envoy/certificate';
import { forFile } from '@gw/testing/for-file';
import { afterAll, expect, test } from 'vitest';
import { apiOf } from '../operator-api.ts';
import { readFrom } from '../outage/instances.ts';
import { eventually, startOwnGateway } from '../outage/own-gateway.ts';
import { startBalancer } from './balancer.ts';
import { internalCertificates } from './internal-certificates.ts';
import { startRollingLoad } from './rolling-load.ts';

const dir = mkdtempSync(join(tmpdir(), 'gw-roll-'));
afterAll(() => rmSync(dir, { recursive: true, force: true }));
const old = makeCertificate('old authority');
const next = makeCertificate('next authority');
const services = ['ext-authz', 'receipt-sidecar', 'control-plane'] as const;
const names: readonly PartName[] = [...services, ...services.map((name) => `${name}-2` as const), 'envoy', 'envoy-2'];

const { filesOf, install } = internalCertificates(dir);
for (const name of names) install(name, old, [old]);
const gateway = forFile(() =>
  startOwnGateway({ instances: 2, envoys: 2, controlPlanes: 2, drainS: 60, internalTls: filesOf }),
);

/** All parts, one after the other; then each service is replaced, so that all connections are made anew. */
async function roll(by: TestCertificate, ...trusted: readonly TestCertificate[]): Promise<void> {
  const { stack } = gateway;
  const made = new Map(names.map((name) => [name, install(name, by, trusted)]));
  for (const envoy of ['envoy', 'envoy-2'] as const)
    await eventually(`${envoy} to take up its certificate`, async () =>
      (await readFrom(join(stack.sockets, `${envoy}-admin.sock`), '/certs')).includes(String(made.get(envoy))),
    );
  // A service reads its files every 2 s.
  await new Promise((resolve) => setTimeout(resolve, 4000));
  for (const name of names.filter((each) => !each.startsWith('envoy'))) {
    await stack.part(name).restart();
    const healthy = await readHealth(name);
    await eventually(`both Envoys to use ${name}`, healthy);
  }
}

/** Whether no Envoy counts an instance of this service as unhealthy. */
const readHealth = async (name: PartName) => {
  const cluster = name.replace(/-2$/, '').replaceAll('-', '_');
  return async () => {
    const texts = await Promise.all(
      ['envoy', 'envoy-2'].map((each) => readFrom(join(gateway.stack.sockets, `${each}-admin.sock`), '/clusters')),
    );
    return texts.every((text) => {
      const flags = [...text.matchAll(new RegExp(`^${cluster}::[^:]+:\\d+::health_flags::(.*)$`, 'gm'))];
      return flags.length === 2 && flags.every(([, flag]) => flag === 'healthy');
    });
  };
};

test('an authority is replaced by another one under load', async () => {
  const keys = '/operator/v1/accounts/acct_demo_enterprise/keys';
  const issued = await apiOf(gateway.stack).send('POST', keys, { name: 'rolling', scopes });
  const adminKey = issuedKeySchema.parse(issued).key;
  const from = new Date();
  const { publicUrls, keys: demo } = gateway.stack;
  const balancer = await startBalancer(publicUrls);
  const load = startRollingLoad({ url: balancer.url, key: demo.enterprise, adminKey });
  try {
    await eventually('calls of every kind', () => load.ended.size === 5);
    await roll(old, old);
    await roll(old, old, next);
    await roll(next, old, next);
    await roll(next, next);
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
  for (const url of Object.values(gateway.stack.healthUrls))
    expect(await (await fetch(`${url}/healthz`)).json()).toMatchObject({ status: 'ok', certificates: true });
});
