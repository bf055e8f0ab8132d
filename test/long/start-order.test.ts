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

test('an Envoy that starts before the control plane answers 503 with Retry-After and without a receipt, until calls pass', async () => {
  const { stack, client } = gateway;
  await stack.part('envoy').stop();
  const goOn = gateway.pause('control-plane');
  await stack.part('envoy').start();
  await eventually('Envoy to be back', async () => (await health(stack.publicUrl)) === 200);
  expect((await client.chat()).status).toBe(503);
  goOn();
  const replies: Awaited<ReturnType<typeof client.chat>>[] = [];
  // Without a pause: the moments between two answers of the control plane are what matters.
  await Promise.all(
    Array.from({ length: 4 }, async () => {
      for (let status = 0; status !== 200; ) {
        const reply = await client.chat();
        status = reply.status;
        replies.push(reply);
      }
    }),
  );
  const early = replies.filter(({ status }) => status !== 200);
  const shown = early.map(({ headers, status }) => [
    status,
    headers.get('retry-after'),
    headers.get('x-gw-receipt-id'),
  ]);
  expect(new Set(shown.map(String))).toEqual(new Set([String([503, '1', null])]));
  await gateway.whole();
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
