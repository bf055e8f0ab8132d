/** An orderly end says what it does, and leaves idempotency keys usable. */
import { once } from 'node:events';
import { connect } from 'node:net';
import { startTestApp } from '@gw/testing/control-plane/app';
import { startStores } from '@gw/testing/control-plane/fixtures';
import { expect, onTestFinished, test } from 'vitest';

/** Begins a request that never comes to its end. */
async function hangAt(url: string): Promise<void> {
  const { hostname, port } = new URL(url);
  const socket = connect(Number(port), hostname).on('error', () => undefined);
  onTestFinished(() => void socket.destroy());
  socket.write('POST /session HTTP/1.1\r\nhost: x\r\ncontent-type: application/json\r\n');
  socket.write('content-length: 10\r\nexpect: 100-continue\r\n\r\n');
  await once(socket, 'data');
}

test('the key of a change that was still made is free, and the next one is told', async () => {
  const stores = await startStores();
  const [ending, another] = [
    await startTestApp(undefined, { ...stores, stop: async () => {} }),
    await startTestApp(undefined, stores),
  ];
  const change = { accountId: 'a', path: 'POST /v1/keys', key: 'once', body: 'sha' };
  expect(await ending.services.idempotency.claim(change, null)).toMatchObject({ is: 'claimed' });
  await ending.stop();
  const found = await another.services.idempotency.claim(change, null);
  expect(found).toMatchObject({ is: 'claimed', claim: { mayHaveRun: true } });
  await another.stop();
});

test('a request that hangs holds up neither the end nor what it frees', async () => {
  const stores = await startStores();
  const [ending, another] = [
    await startTestApp(undefined, { ...stores, stop: async () => {} }),
    await startTestApp(undefined, stores),
  ];
  ending.operator.server.requestTimeout = 0;
  await hangAt(ending.operatorUrl);
  const change = { accountId: 'a', path: 'POST /v1/keys', key: 'once', body: 'sha' };
  expect(await ending.services.idempotency.claim(change, null)).toMatchObject({ is: 'claimed' });
  await ending.stop();
  expect(await another.services.idempotency.claim(change, null)).toMatchObject({ is: 'claimed' });
  await another.stop();
});

test('the health for operators is 503 as soon as it leaves', async () => {
  const app = await startTestApp();
  await app.refresh();
  const health = async () => {
    const reply = await app.operator.inject('/healthz');
    return { code: reply.statusCode, ...reply.json() };
  };
  expect((await health()).code).toBe(200);
  const left = app.leave();
  expect(await health()).toMatchObject({
    code: 503,
    status: 'unavailable',
    postgres: true,
    redis: true,
    catalogue: true,
  });
  await left;
  await app.stop();
});
