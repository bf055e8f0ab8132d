/** Between machines: Envoy and a service show each other a certificate of one private authority. */
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { connect } from 'node:tls';
import { type Implementation, implementations, serveEnvoy } from '@gw/grpc/server';
import type { RpcServer } from '@gw/grpc/service';
import { envoyBinary } from '@gw/stack/binaries';
import { type Child, startChild } from '@gw/stack/child';
import { freePorts } from '@gw/stack/ports';
import { makeCertificate } from '@gw/testing/envoy/certificate';
import { testSettings } from '@gw/testing/envoy/settings';
import { afterAll, beforeAll, expect, it, vi } from 'vitest';
import { writeEnvoyConfig } from './render.ts';

const dir = mkdtempSync(join(tmpdir(), 'gw-mtls-'));
const internalTls = { certFile: join(dir, 'tls.crt'), keyFile: join(dir, 'tls.key'), caFile: join(dir, 'ca.crt') };
const settings = testSettings(dir);
const token = 'a-token-of-the-tests-that-is-long-enough';
let services: RpcServer[];
let envoy: Child;
let port = 0;

beforeAll(async () => {
  // One certificate that signs itself is authority, client and server at once.
  const { certificate, key } = makeCertificate('internal');
  writeFileSync(internalTls.certFile, certificate);
  writeFileSync(internalTls.caFile, certificate);
  writeFileSync(internalTls.keyFile, key);
  const denied = (body: string) => ({ status: { code: 16 }, deniedResponse: { status: { code: 401 as const }, body } });
  const serve = (grpcServer: Implementation) =>
    serveEnvoy(
      { listen: '127.0.0.1:0', internalToken: token, internalTls, grpcServer },
      { check: async () => denied(grpcServer) },
      () => undefined,
    );
  services = await Promise.all(implementations.map(serve));
  [port = 0] = await freePorts(1);
  const extAuthz = services.map((service) => `127.0.0.1:${service.port}`);
  writeEnvoyConfig({ ...settings, publicPort: port, extAuthz, internalTls }, join(dir, 'envoy.yaml'));
  const command = await envoyBinary(() => undefined);
  const args = ['-c', join(dir, 'envoy.yaml'), '--disable-hot-restart', '--concurrency', '1', '--log-level', 'error'];
  envoy = await startChild({ command, args, env: { GW_INTERNAL_TOKEN: token }, logFile: join(dir, 'envoy.log') });
  const answers = () =>
    fetch(`http://127.0.0.1:${port}/healthz`).then(
      ({ ok }) => ok,
      () => false,
    );
  await vi.waitUntil(answers, { timeout: 20_000, interval: 50 });
}, 60_000);

afterAll(async () => {
  await envoy?.stop();
  await Promise.all((services ?? []).map((service) => service.close(100)));
  rmSync(dir, { recursive: true, force: true });
});

it('Envoy asks each service over TLS, with its certificate', async () => {
  const answered = new Set<string>();
  await expect
    .poll(async () => {
      const reply = await fetch(`http://127.0.0.1:${port}/v1/models`);
      expect(reply.status).toBe(401);
      return answered.add(await reply.text());
    })
    .toEqual(new Set(implementations));
});

it.each(implementations)(
  'a client without a certificate of the authority is cut off before it can say anything (%s)',
  async (name) => {
    const stranger = makeCertificate('stranger');
    for (const shown of [{}, { cert: stranger.certificate, key: stranger.key }]) {
      const ended = await new Promise<string>((resolve) => {
        const socket = connect({
          host: '127.0.0.1',
          port: services[implementations.indexOf(name)]?.port ?? 0,
          rejectUnauthorized: false,
          ALPNProtocols: ['h2'],
          ...shown,
        });
        // With TLS 1.3 the refusal comes after the client believes the handshake to be over.
        socket.on('secureConnect', () => socket.write('PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n'));
        socket.on('data', () => resolve('answered'));
        socket.on('error', () => resolve('refused'));
        socket.on('close', () => resolve('refused'));
      });
      expect(ended).toBe('refused');
    }
  },
);
