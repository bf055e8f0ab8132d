/** The same services on the library's server of gRPC (`GW_GRPC_SERVER`), through the whole gateway. */
import { afterAll, beforeAll, expect, test } from 'vitest';
import { expectError } from './expect-reply.ts';
import { type OwnGateway, startOwnGateway } from './own-gateway.ts';

let gateway: OwnGateway;
beforeAll(async () => {
  const onGrpcJs = { GW_GRPC_SERVER: 'grpc-js' };
  gateway = await startOwnGateway({ env: { 'ext-authz': onGrpcJs, 'receipt-sidecar': onGrpcJs } });
});
afterAll(() => gateway?.stop());

test('each endpoint answers with a receipt, which is in the ledger; streams too', async () => {
  const { client, ledger } = gateway;
  const replies = [
    await client.chat(),
    await client.chat({ stream: true }),
    await client.completion({ stream: true }),
    await client.embedding(),
  ];
  for (const { status, receipt } of replies) {
    expect(status).toBe(200);
    expect(receipt?.tier).toBe('parametric');
  }
  const ids = replies.flatMap(({ receipt }) => (receipt ? [receipt.id] : []));
  expect((await ledger.receipts(ids)).size).toBe(replies.length);
});

test('limits are counted and keys are checked', async () => {
  const { client } = gateway;
  expect((await client.chat()).headers.get('x-ratelimit-limit-requests')).toMatch(/^\d+$/);
  expectError(await client.chat({ key: 'gw_live_unknown' }), 401, 'auth_error', 'invalid_api_key');
});

test('a client that leaves ends its stream, and those of others go on', async () => {
  const { client, stack } = gateway;
  const controller = new AbortController();
  const begun = fetch(`${stack.publicUrl}/v1/chat/completions`, {
    method: 'POST',
    signal: controller.signal,
    headers: { authorization: `Bearer ${stack.keys.enterprise}`, 'content-type': 'application/json' },
    body: JSON.stringify({ model: 'sim-small', stream: true, messages: [{ role: 'user', content: 'Go on' }] }),
  });
  await (await begun).body?.getReader().read();
  controller.abort();
  expect((await client.chat({ stream: true })).receipt?.tier).toBe('parametric');
});
