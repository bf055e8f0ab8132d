/**
 * Whatever Envoy asks of a service carries the internal token, and nothing that Envoy tells of itself shows it; and it asks
 * for the limits of every call: a running Envoy, and services that answer just enough.
 */
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { createServer, request, type Server } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { internalTokenHeader } from '@gw/contract/internal/identity';
import { implementations, serveEnvoy } from '@gw/grpc/server';
import type { EnvoyServices, RpcServer } from '@gw/grpc/service';
import { envoyBinary } from '@gw/stack/binaries';
import { type Child, startChild } from '@gw/stack/child';
import { freePorts } from '@gw/stack/ports';
import { testSettings } from '@gw/testing/envoy/settings';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it, vi } from 'vitest';
import { writeEnvoyConfig } from './render.ts';

const dir = mkdtempSync(join(tmpdir(), 'gw-token-'));
const settings = testSettings(dir);
const token = 'a-token-of-the-tests-that-is-long-enough';
/** Calls with the right token, and calls without it. */
const asked = new Set<string>();
const refused = new Set<string>();
let command = '';
let controlPlane: Server;
let services: RpcServer[];
let envoy: Child;
let port = 0;

const header = (key: string, value: string) => ({
  header: { key, rawValue: Buffer.from(value) },
  appendAction: 2 as const,
});

/** Whether the check says who calls, and with which limits. */
let isIdentified = true;
const extAuthz: EnvoyServices = {
  check: async () => {
    asked.add('check');
    return {
      status: { code: 0 },
      okResponse: {},
      ...(isIdentified ? { dynamicMetadata: { account_id: 'a', limits: 'l' } } : {}),
    };
  },
  shouldRateLimit: async ({ descriptors }) => {
    asked.add('rate limit');
    const told = descriptors?.[0]?.entries?.map(({ value }) => value).join();
    return { overallCode: told?.startsWith('a,l,') ? 1 : 2 };
  },
  accessLog: () => asked.add('access log of ext-authz'),
  isServing: () => {
    asked.add('health of ext-authz');
    return true;
  },
};
const sidecar: EnvoyServices = {
  openProcessor: (call) => ({
    message: () => {
      asked.add('processor');
      const headerMutation = { setHeaders: [header('x-gw-cluster', 'sink')] };
      call.answer({
        requestHeaders: { response: { headerMutation, clearRouteCache: true } },
        dynamicMetadata: { gw: { receipt_id: 'rcpt', shown: true } },
      });
    },
    close: () => undefined,
  }),
  accessLog: () => asked.add('access log of the sidecar'),
  isServing: () => {
    asked.add('health of the sidecar');
    return true;
  },
};

function listen(server: Server, path: string): Promise<void> {
  return new Promise((resolve) => server.listen(path, resolve));
}

const ask = (path: string, method = 'GET') =>
  fetch(`http://127.0.0.1:${port}${path}`, {
    method,
    headers: { 'x-gw-internal-token': 'Bearer forged' },
    ...(method === 'POST' ? { body: '{}' } : {}),
  });

function admin(path: string): Promise<string> {
  return new Promise((resolve, reject) => {
    const outgoing = request({ socketPath: settings.adminSocket, path }, (incoming) => {
      const chunks: Buffer[] = [];
      incoming.on('data', (chunk: Buffer) => chunks.push(chunk));
      incoming.on('end', () => resolve(Buffer.concat(chunks).toString()));
    });
    outgoing.on('error', reject);
    outgoing.end();
  });
}

beforeAll(async () => {
  command = await envoyBinary(() => undefined);
  controlPlane = createServer((incoming, reply) => {
    const place = incoming.headers[internalTokenHeader] === `Bearer ${token}` ? asked : refused;
    place.add(incoming.url ?? '');
    incoming.resume();
    reply.setHeader('content-type', 'application/json');
    reply.end(JSON.stringify({ version_info: '1', resources: [] }));
  });
  await listen(controlPlane, join(dir, 'c.sock'));
}, 60_000);

async function startEnvoy(env: Record<string, string>): Promise<void> {
  [port = 0] = await freePorts(1);
  const file = join(dir, 'envoy.json');
  rmSync(file, { force: true });
  writeEnvoyConfig({ ...settings, publicPort: port }, file);
  const args = ['-c', file, '--disable-hot-restart', '--concurrency', '1', '--log-level', 'error'];
  envoy = await startChild({ command, args, env, logFile: join(dir, 'envoy.log') });
  const answers = () =>
    ask('/healthz').then(
      ({ ok }) => ok,
      () => false,
    );
  await vi.waitUntil(answers, { timeout: 20_000, interval: 50 });
}

beforeEach(() => {
  isIdentified = true;
  asked.clear();
  refused.clear();
});
afterEach(() => envoy?.stop());
afterAll(async () => {
  controlPlane?.close();
  controlPlane?.closeAllConnections();
  rmSync(dir, { recursive: true, force: true });
});

describe.each(implementations)('over gRPC (%s)', (grpcServer) => {
  const fault = (reason: unknown) => console.error(reason);
  beforeAll(async () => {
    const [toExtAuthz = '', toSidecar = ''] = [...settings.extAuthz, ...settings.receiptSidecar];
    services = [
      await serveEnvoy({ listen: toExtAuthz, internalToken: token, grpcServer }, extAuthz, fault),
      await serveEnvoy({ listen: toSidecar, internalToken: token, grpcServer }, sidecar, fault),
    ];
  });
  afterAll(() => Promise.all(services.map((service) => service.close(100))));

  it('checks, limits, calls, health checks, access logs, forwarded requests and xDS carry the token, and no dump shows it', async () => {
    await startEnvoy({ GW_INTERNAL_TOKEN: token });
    await ask('/v1/models');
    await ask('/v1/chat/completions', 'POST');
    const all = [
      'check',
      'rate limit',
      'processor',
      'access log of ext-authz',
      'access log of the sidecar',
      'health of ext-authz',
      'health of the sidecar',
      '/healthz',
      '/v1/models',
      '/v3/discovery:clusters',
      '/v3/discovery:listeners',
    ];
    await vi.waitFor(() => expect([...asked].sort()).toEqual(all.sort()), { timeout: 10_000, interval: 50 });
    expect([...refused]).toEqual([]);
    for (const path of ['/config_dump?include_eds', '/clusters', '/stats', '/server_info']) {
      const said = await admin(path);
      expect(said.length, path).toBeGreaterThan(100);
      expect(said.includes(token), path).toBe(false);
    }
    expect(await admin('/config_dump')).toContain('%ENVIRONMENT(GW_INTERNAL_TOKEN)%');
    for (const file of ['envoy.json', 'envoy.log', 'access.log'])
      expect(readFileSync(join(dir, file), 'utf8').includes(token), file).toBe(false);
  });

  it('an Envoy without the token gets nothing from anybody', async () => {
    await startEnvoy({});
    expect((await ask('/v1/models')).status).toBe(503);
    expect((await ask('/v1/chat/completions', 'POST')).status).toBe(503);
    expect([...asked]).toEqual([]);
    expect([...refused]).toContain('/v3/discovery:clusters');
  });

  it('a check that does not say whose limits hold leads to the rate limit all the same', async () => {
    await startEnvoy({ GW_INTERNAL_TOKEN: token });
    isIdentified = false;
    for (const [path, method] of [
      ['/v1/models', 'GET'],
      ['/v1/chat/completions', 'POST'],
      ['/v1/keys', 'GET'],
    ] as const) {
      asked.clear();
      expect((await ask(path, method)).status, path).toBe(429);
      expect([...asked], path).toEqual(expect.arrayContaining(['check', 'rate limit']));
    }
  });
});
