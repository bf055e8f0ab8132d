import * as grpc from '@grpc/grpc-js';
import { afterEach, expect, it } from 'vitest';
import { healthPath } from './methods.ts';
import { type Implementation, implementations, serveEnvoy } from './server.ts';
import type { EnvoyServices, RpcServer } from './service.ts';

const token = 'a-token-of-at-least-thirty-two-characters';
let server: RpcServer;
let client: grpc.Client;
afterEach(async () => {
  client.close();
  await server.close(100);
});

async function serve(services: EnvoyServices, grpcServer: Implementation): Promise<void> {
  server = await serveEnvoy({ listen: '127.0.0.1:0', internalToken: token, grpcServer }, services, () => undefined);
  client = new grpc.Client(`127.0.0.1:${server.port}`, grpc.credentials.createInsecure());
}

/** The bytes of the answer. */
function ask(shown: string | null = `Bearer ${token}`): Promise<number[]> {
  const metadata = new grpc.Metadata();
  if (shown) metadata.set('x-gw-internal-token', shown);
  const same = (bytes: Buffer) => bytes;
  return new Promise((resolve, reject) => {
    // Field 1, the name of a service, is `x`.
    const request = Buffer.from([0x0a, 1, 0x78]);
    client.makeUnaryRequest(healthPath, same, same, request, metadata, (error, answer) =>
      error ? reject(error) : resolve([...(answer ?? [])]),
    );
  });
}

// Field 1 of grpc.health.v1.HealthCheckResponse.
const [serving, notServing] = [
  [0x08, 1],
  [0x08, 2],
];

it.each(implementations)('%s: says at each moment what the service says of itself', async (implementation) => {
  let isServing = true;
  await serve({ isServing: () => isServing }, implementation);
  expect(await ask()).toEqual(serving);
  isServing = false;
  expect(await ask()).toEqual(notServing);
  isServing = true;
  expect(await ask()).toEqual(serving);
});

it.each(implementations)('%s: says nothing without the internal token', async (implementation) => {
  await serve({}, implementation);
  for (const shown of [null, 'Bearer wrong'])
    await expect(ask(shown)).rejects.toMatchObject({ code: grpc.status.UNAUTHENTICATED });
});

it.each(implementations)(
  '%s: a process that is about to leave says so before it refuses anything',
  async (implementation) => {
    await serve({ isServing: () => true }, implementation);
    expect(await ask()).toEqual(serving);
    const left = server.leave();
    expect(await ask()).toEqual(notServing);
    await left;
    expect(await ask()).toEqual(notServing);
  },
);
