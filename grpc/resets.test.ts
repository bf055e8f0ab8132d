/**
 * Envoy resets the stream to the sidecar with each call that is left early. Node's own server answers about a thousand
 * resets on one connection with GOAWAY, which failed calls of others.
 */
import { type ClientHttp2Session, connect, constants } from 'node:http2';
import { afterAll, expect, test } from 'vitest';
import { serveEnvoy } from './server.ts';
import type { RpcServer } from './service.ts';

const token = 'a-token-of-at-least-thirty-two-characters';
const processPath = '/envoy.service.ext_proc.v3.ExternalProcessor/Process';
let server: RpcServer;
let session: ClientHttp2Session;
afterAll(async () => {
  session?.destroy();
  await server?.close(100);
});

const open = () => {
  const stream = session.request({
    ':method': 'POST',
    ':path': processPath,
    'content-type': 'application/grpc',
    'x-gw-internal-token': `Bearer ${token}`,
  });
  stream.on('error', () => undefined);
  // A message without content.
  stream.write(Buffer.alloc(5));
  return stream;
};

test('five thousand resets on one connection, each in the middle of its call, end no other call', async () => {
  const seen = { messages: 0, closed: 0, goneAway: 0 };
  const openProcessor = () => ({
    message: () => {
      seen.messages += 1;
    },
    close: () => {
      seen.closed += 1;
    },
  });
  server = await serveEnvoy({ listen: '127.0.0.1:0', internalToken: token }, { openProcessor }, () => undefined);
  session = connect(`http://127.0.0.1:${server.port}`);
  session.on('goaway', () => {
    seen.goneAway += 1;
  });
  const staying = open();
  await expect.poll(() => seen.messages).toBe(1);
  for (let total = 0; total < 5000; total += 100) {
    const streams = Array.from({ length: 100 }, open);
    await expect.poll(() => seen.messages, { interval: 1 }).toBe(1 + total + streams.length);
    for (const stream of streams) stream.close(constants.NGHTTP2_CANCEL);
    await expect.poll(() => seen.closed, { interval: 1 }).toBe(total + streams.length);
  }
  expect(seen).toEqual({ messages: 5001, closed: 5000, goneAway: 0 });
  staying.write(Buffer.alloc(5));
  await expect.poll(() => seen.messages).toBe(5002);
  expect([staying.destroyed, session.closed]).toEqual([false, false]);
}, 60_000);
