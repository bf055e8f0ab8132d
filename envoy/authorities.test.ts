/** A provider whose authority comes into the bundle of the machine, or leaves it, while Envoy runs. */
import { mkdtempSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { createServer, type Server } from 'node:https';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { envoyBinary } from '@gw/stack/binaries';
import { type Child, startChild } from '@gw/stack/child';
import { freePorts } from '@gw/stack/ports';
import { makeCertificate, type TestCertificate } from '@gw/testing/envoy/certificate';
import { afterAll, beforeAll, expect, it, vi } from 'vitest';
import { envoyFolder, followCertificateBundle } from './certificate-bundle.ts';
import { leaf } from './clusters.ts';
import { typed } from './typed.ts';

const dir = mkdtempSync(join(tmpdir(), 'gw-authorities-'));
const bundle = join(dir, 'bundle.pem');
const adminSocket = join(dir, 'envoy-admin.sock');
const old = makeCertificate('old authority');
const next = makeCertificate('next authority');
const told: string[] = [];
let server: Server;
let envoy: Child;
let stopFollowing: () => void;
let port = 0;

/** Moves the file there, as a package manager does. */
function install(...trusted: readonly TestCertificate[]): void {
  writeFileSync(`${bundle}.new`, trusted.map((each) => each.certificate).join(''));
  renameSync(`${bundle}.new`, bundle);
}

function configuration(baseUrl: string): object {
  const filters = [
    { name: 'envoy.filters.http.router', typed_config: typed('envoy.extensions.filters.http.router.v3.Router') },
  ];
  const routes = [{ match: { prefix: '/' }, route: { cluster: 'provider' } }];
  const manager = typed('envoy.extensions.filters.network.http_connection_manager.v3.HttpConnectionManager', {
    stat_prefix: 'test',
    http_filters: filters,
    route_config: { virtual_hosts: [{ name: 'all', domains: ['*'], routes }] },
  });
  return {
    node: { id: 'test', cluster: 'test' },
    static_resources: {
      listeners: [
        {
          name: 'test',
          address: { socket_address: { address: '127.0.0.1', port_value: port } },
          filter_chains: [{ filters: [{ name: 'manager', typed_config: manager }] }],
        },
      ],
      clusters: [withoutType(leaf({ id: 'provider', baseUrl, ca: null }, 'provider'))],
    },
  };
}

const withoutType = (cluster: object): object =>
  Object.fromEntries(Object.entries(cluster).filter(([name]) => name !== '@type'));

beforeAll(async () => {
  const { certificate, key } = makeCertificate('provider', { by: next });
  server = createServer({ cert: certificate, key }, (_, reply) => {
    // So that each call makes a connection.
    reply.setHeader('connection', 'close');
    reply.end('served');
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  [port = 0] = await freePorts(1);
  install(old);
  stopFollowing = followCertificateBundle({
    environment: { SSL_CERT_FILE: bundle },
    adminSocket,
    tell: (text) => void told.push(text),
    everyMs: 50,
  });
  const configFile = join(dir, 'envoy.json');
  writeFileSync(
    configFile,
    JSON.stringify(configuration(`https://127.0.0.1:${(server.address() as AddressInfo).port}`)),
  );
  envoy = await startChild({
    command: await envoyBinary(() => undefined),
    args: ['-c', configFile, '--disable-hot-restart', '--concurrency', '1', '--log-level', 'error'],
    env: {},
    logFile: join(dir, 'envoy.log'),
    cwd: envoyFolder(adminSocket),
  });
}, 60_000);
afterAll(async () => {
  stopFollowing?.();
  await envoy?.stop();
  server?.close();
  rmSync(dir, { recursive: true, force: true });
});

const status = () =>
  fetch(`http://127.0.0.1:${port}/`).then(
    (reply) => reply.status,
    () => 0,
  );
const becomes = (wanted: number) =>
  vi.waitUntil(async () => (await status()) === wanted, { timeout: 15_000, interval: 50 });

it('is trusted, and no longer trusted, without a restart of Envoy', async () => {
  await becomes(503);
  install(old, next);
  await becomes(200);
  expect(told.at(-1)).toContain('(2 certificates)');
  // Nothing is in the file for a moment, or somebody has broken it.
  install();
  await new Promise((resolve) => setTimeout(resolve, 200));
  expect(await status()).toBe(200);
  install(old);
  await becomes(503);
  expect(told).toHaveLength(3);
});
