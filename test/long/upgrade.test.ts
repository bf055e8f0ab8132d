/** From the release before to this one and back, part by part, under load: no call fails, and none loses its receipt. */
import { spawnSync } from 'node:child_process';
import { request } from 'node:http';
import { join } from 'node:path';
import { scopes } from '@gw/contract/access';
import { checkout, inCheckout } from '@gw/stack/checkout';
import { templateVariable } from '@gw/stack/services/postgres';
import type { PartName } from '@gw/stack/stack-plans';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { z } from 'zod';
import { apiOf } from '../operator-api.ts';
import { instancesOf } from '../outage/instances.ts';
import { eventually, type OwnGateway, startOwnGateway } from '../outage/own-gateway.ts';
import { type Balancer, startBalancer } from './balancer.ts';
import { buildFormerRelease, formerRelease, whyNoFormerRelease } from './former-release.ts';
import { startRollingLoad } from './rolling-load.ts';

const whyNot = whyNoFormerRelease();
const title = whyNot === null ? `from ${formerRelease} and back` : `from the release before (not shown: ${whyNot})`;
if (whyNot !== null) console.warn(`The upgrade is skipped: ${whyNot}.`);

function askAdmin(socketPath: string, path: string): Promise<void> {
  return new Promise((resolve, reject) => {
    const sent = request({ socketPath, path, method: 'POST', headers: { host: 'localhost' } }, (reply) => {
      reply.resume();
      reply.once('end', () => (reply.statusCode === 200 ? resolve() : reject(new Error(`${reply.statusCode}`))));
    });
    sent.once('error', reject);
    sent.end();
  });
}

describe.skipIf(whyNot !== null)(title, () => {
  let gateway: OwnGateway;
  let adminKey: string;
  let former: string;
  /** Parts that run this release. */
  const current = new Set<PartName | 'migrate'>();

  beforeAll(async () => {
    former = buildFormerRelease();
    // The cluster that `./gw test` has made for all tests has the tables of this release.
    delete process.env[templateVariable];
    gateway = await startOwnGateway({
      instances: 2,
      envoys: 2,
      controlPlanes: 2,
      drainS: 60,
      checkoutOf: (name) => (current.has(name) ? checkout : former),
    });
    const keys = '/operator/v1/accounts/acct_demo_enterprise/keys';
    const issued = await apiOf(gateway.stack).send('POST', keys, { name: 'upgrade', scopes });
    adminKey = z.object({ key: z.string() }).parse(issued).key;
  });
  afterAll(() => gateway?.stop());

  type Service = 'ext-authz' | 'receipt-sidecar' | 'control-plane';
  const services: readonly Service[] = ['control-plane', 'ext-authz', 'receipt-sidecar'];

  /** From its next start on the part runs the other release. */
  function swap(name: PartName): void {
    if (!current.delete(name)) current.add(name);
  }

  async function replaceService(service: Service): Promise<void> {
    for (const name of [service, `${service}-2`] as const) {
      swap(name);
      await gateway.stack.part(name).restart();
      await serves(service, name);
    }
  }

  /** Both Envoys give it calls. */
  async function serves(service: Service, name: PartName): Promise<void> {
    const look = async (envoy: 'envoy' | 'envoy-2') =>
      (await instancesOf(gateway.stack, service, envoy))[name === service ? 0 : 1];
    await eventually(`${name} to be in`, async () =>
      (await Promise.all([look('envoy'), look('envoy-2')])).every((seen) => seen?.isIn),
    );
    const before = (await look('envoy'))?.calls ?? 0;
    await eventually(`calls for ${name}`, async () => ((await look('envoy'))?.calls ?? 0) > before + 3);
  }

  /** Clients are asked to leave an Envoy before it ends. */
  async function replaceEnvoys(balancer: Balancer): Promise<void> {
    for (const [index, name] of (['envoy', 'envoy-2'] as const).entries()) {
      const url = gateway.stack.publicUrls[index] ?? '';
      await askAdmin(join(gateway.stack.sockets, `${name}-admin.sock`), '/healthcheck/fail');
      await balancer.takeOut(url);
      swap(name);
      await gateway.stack.part(name).restart();
      await eventually(`${name} to serve`, async () => {
        const headers = { authorization: `Bearer ${gateway.stack.keys.enterprise}` };
        return (await fetch(`${url}/v1/models`, { headers })).status === 200;
      });
      await balancer.takeIn(url);
    }
  }

  async function underLoad(change: (balancer: Balancer) => Promise<void>, manages = true): Promise<void> {
    const from = new Date();
    const { publicUrls, keys } = gateway.stack;
    const balancer = await startBalancer(publicUrls);
    const load = startRollingLoad({ url: balancer.url, key: keys.enterprise, adminKey, streamS: 3, manages });
    try {
      await eventually('calls of every kind', () => load.ended.size >= 3);
      await change(balancer);
      const before = load.ended.get('stream') ?? 0;
      await eventually('more streams to end', () => (load.ended.get('stream') ?? 0) > before + 6);
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

  function migrate(): void {
    const done = spawnSync(process.execPath, [inCheckout('dist', 'migrate.js')], {
      env: { PATH: process.env.PATH, GW_DATABASE_URL: gateway.stack.databaseUrl },
      encoding: 'utf8',
    });
    expect(done.stderr + done.stdout).not.toContain('rror');
    expect(done.status).toBe(0);
  }

  test('the migration, under the release before', () => underLoad(async () => migrate()));
  test.each(services)('%s forwards', (service) =>
    underLoad(() => replaceService(service), service !== 'control-plane'),
  );
  test('Envoy forwards', () => underLoad(replaceEnvoys));
  test('Envoy back', () => underLoad(replaceEnvoys));
  test.each(services.toReversed())('%s back', (service) =>
    underLoad(() => replaceService(service), service !== 'control-plane'),
  );
});
