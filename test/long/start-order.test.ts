/** All parts down, and started in any order without waiting for one another: all becomes well by itself. */
import type { PartName } from '@gw/stack/stack-plans';
import { forFile } from '@gw/testing/for-file';
import { expect, test } from 'vitest';
import { expectComplete } from '../outage/expect-reply.ts';
import { eventually, startOwnGateway } from '../outage/own-gateway.ts';

const gateway = forFile(() => startOwnGateway({ drainS: 60 }));

const usual = ['postgres', 'valkey', 'simulator', 'control-plane', 'ext-authz', 'receipt-sidecar', 'envoy'] as const;
const stores = ['postgres', 'valkey'] as const;
const orders: readonly (readonly [string, readonly PartName[]])[] = [
  ['Envoy first, stores last', usual.toReversed()],
  [
    'services, Envoy, then the stores',
    [...usual.filter((name) => name !== 'postgres' && name !== 'valkey'), ...stores],
  ],
  [
    'the sidecar without a store, then Valkey, Envoy, and Postgres after all',
    [...(['receipt-sidecar', 'valkey', 'envoy', 'ext-authz', 'control-plane', 'simulator', 'postgres'] as const)],
  ],
];

const health = (url: string): Promise<number | null> =>
  fetch(`${url}/healthz`).then(
    ({ status }) => status,
    () => null,
  );

test.each(orders)('%s', async (_name, order) => {
  const { stack, client, ledger } = gateway;
  for (const name of usual.toReversed()) await stack.part(name).stop();
  expect(await health(stack.publicUrl)).toBe(null);
  for (const name of order) {
    await stack.part(name).start();
    // Nobody says that all is well while a store that its keys are in is not there.
    if (!stack.pids().postgres && !stack.pids().valkey)
      expect(await health(stack.healthUrls['ext-authz'])).not.toBe(200);
  }
  await gateway.whole();
  const id = expectComplete(await client.chat());
  expect((await client.get('/v1/models')).status).toBe(200);
  expect((await ledger.receipts([id])).size).toBe(1);
  const urls = [stack.publicUrl, stack.controlUrl, stack.healthUrls['ext-authz'], stack.healthUrls['receipt-sidecar']];
  await eventually('each part to say that it is well', async () =>
    (await Promise.all(urls.map(health))).every((status) => status === 200),
  );
  expect(usual.map((name) => [name, stack.part(name).crashes])).toEqual(usual.map((name) => [name, 0]));
});

test('a sidecar that is ended in order says so, and its stream has its receipt all the same', async () => {
  const { stack, client } = gateway;
  const sim = { 'x-sim-tokens': '80', 'x-sim-tokens-per-second': '10' };
  let begun = false;
  const streaming = client.chat({ stream: true, sim, onText: () => (begun = true) });
  await eventually('the stream to begin', () => begun);
  const stopping = stack.part('receipt-sidecar').stop();
  await eventually('it to say so', async () => (await health(stack.healthUrls['receipt-sidecar'])) === 503);
  expectComplete(await streaming);
  await stopping;
  expect(await health(stack.healthUrls['receipt-sidecar'])).toBe(null);
  await gateway.start('receipt-sidecar');
});
