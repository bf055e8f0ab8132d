/** Which of two instances Envoy asks: a running Envoy, and services that answer just enough. */
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { createServer, type Server } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { serveEnvoy } from '@gw/grpc/server';
import type { RpcServer } from '@gw/grpc/service';
import { envoyBinary } from '@gw/stack/binaries';
import { type Child, startChild } from '@gw/stack/child';
import { freePorts } from '@gw/stack/ports';
import { testSettings } from '@gw/testing/envoy/settings';
import { afterAll, beforeAll, beforeEach, expect, it, vi } from 'vitest';
import { writeEnvoyConfig } from './render.ts';

const dir = mkdtempSync(join(tmpdir(), 'gw-instances-'));
const sockets = ['a', 'b'].map((name) => `unix:${join(dir, `${name}.sock`)}`);
const controlSockets = ['c', 'd'].map((name) => join(dir, `${name}.sock`));
const controlPlane = controlSockets.map((path) => `unix:${path}`);
// It stands for the sidecar, whose health it can tell.
const sidecar = `unix:${join(dir, 'sidecar.sock')}`;
const settings = testSettings(dir, { extAuthz: sockets, receiptSidecar: [sidecar], controlPlane });
const token = 'a-token-of-the-tests-that-is-long-enough';
/** Keyed by instance. */
const serves = [true, true];
let sidecarServes = true;
const asked = [0, 0];
let controlPlanes: Server[];
let services: RpcServer[];
let envoy: Child;
let port = 0;

const serve = (index: number, listen = sockets[index] ?? '', isServing = () => serves[index] ?? false) => {
  const count = () => {
    asked[index] = (asked[index] ?? 0) + 1;
  };
  return serveEnvoy(
    { listen, internalToken: token },
    {
      check: async () => {
        count();
        return { status: { code: 0 }, okResponse: {} };
      },
      shouldRateLimit: async () => {
        count();
        return { overallCode: 1 };
      },
      isServing,
    },
    () => undefined,
  );
};
/** It has no clusters for Envoy, and says so at once; to every call it says 200. */
async function control(path: string): Promise<Server> {
  const server = createServer((incoming, reply) => {
    incoming.resume();
    reply.setHeader('content-type', 'application/json');
    reply.end(JSON.stringify({ version_info: '1', resources: [] }));
  });
  await new Promise<void>((resolve) => server.listen(path, resolve));
  return server;
}
function cutOff(server: Server | undefined): void {
  server?.close();
  server?.closeAllConnections();
}
const ask = () => fetch(`http://127.0.0.1:${port}/v1/models`);
/** How many questions of twenty calls, two each, the two answered; all calls end well. */
async function shares(): Promise<number[]> {
  asked.fill(0);
  for (let call = 0; call < 20; call += 1) expect((await ask()).status).toBe(200);
  return [...asked];
}
const untilShares = (expected: readonly number[]) =>
  vi.waitFor(async () => expect(await shares()).toEqual(expected), { timeout: 10_000, interval: 100 });

beforeAll(async () => {
  controlPlanes = await Promise.all(controlSockets.map(control));
  services = await Promise.all([serve(0), serve(1), serve(2, sidecar, () => sidecarServes)]);
  [port = 0] = await freePorts(1);
  writeEnvoyConfig({ ...settings, publicPort: port }, join(dir, 'envoy.json'));
  const args = ['-c', join(dir, 'envoy.json'), '--disable-hot-restart', '--concurrency', '1', '--log-level', 'error'];
  const env = { GW_INTERNAL_TOKEN: token };
  envoy = await startChild({
    command: await envoyBinary(() => undefined),
    args,
    env,
    logFile: join(dir, 'envoy.log'),
  });
  const answers = () =>
    ask().then(
      ({ status }) => status === 200,
      () => false,
    );
  await vi.waitUntil(answers, { timeout: 20_000, interval: 50 });
}, 60_000);
beforeEach(async () => {
  serves.fill(true);
  await untilShares([20, 20]);
});
afterAll(async () => {
  await envoy?.stop();
  for (const server of controlPlanes ?? []) cutOff(server);
  await Promise.all((services ?? []).map((service) => service.close(100)));
  rmSync(dir, { recursive: true, force: true });
});

it('one that says it does not serve gets no call, until it says that it does', async () => {
  serves[1] = false;
  await untilShares([40, 0]);
  serves[1] = true;
  await untilShares([20, 20]);
});

it('where none serves all are asked, since no answer would be worse than theirs', async () => {
  serves.fill(false);
  await untilShares([20, 20]);
  // Both were out, and not only not heard yet: one alone that comes back has them all.
  serves[0] = true;
  await untilShares([40, 0]);
});

const ready = async (path = '/readyz') => {
  const reply = await fetch(`http://127.0.0.1:${port}${path}`);
  return { status: reply.status, headers: [...reply.headers.keys()].sort(), text: await reply.text() };
};
const plain = ['content-length', 'content-type', 'date', 'server', 'x-content-type-options', 'x-request-id'];

it('should have calls while one instance of each part is well, and says so without a key and without any part', async () => {
  const well = { status: 200, headers: plain, text: '{"status":"ok"}' };
  serves[1] = false;
  await untilShares([40, 0]);
  expect(await ready()).toEqual(well);
  serves[0] = false;
  await vi.waitFor(async () => expect((await ready()).status).toBe(503), { timeout: 10_000, interval: 100 });
  for (const path of ['/readyz', '/readyz?x=1']) {
    const { headers, text } = await ready(path);
    expect(headers).toEqual([...plain, 'retry-after'].sort());
    expect(JSON.parse(text).error).toMatchObject({ code: 'overloaded', message: expect.stringContaining('ext-authz') });
  }
  // It lives: to start it again would bring nobody back.
  expect((await ready('/healthz')).text).toBe('{"status":"ok"}');
  serves.fill(true);
  const untilReady = () =>
    vi.waitFor(async () => expect(await ready()).toEqual(well), { timeout: 10_000, interval: 100 });
  await untilReady();
  sidecarServes = false;
  await vi.waitFor(async () => expect((await ready()).status).toBe(503), { timeout: 10_000, interval: 100 });
  sidecarServes = true;
  await untilReady();
  const ejected = () =>
    readFileSync(join(dir, 'access.log'), 'utf8')
      .split('\n')
      .filter((line) => line.includes('eject_unhealthy_event'))
      .map((line) => JSON.parse(line).cluster_name);
  const both = new Set(['ext_authz', 'receipt_sidecar']);
  await vi.waitFor(() => expect(new Set(ejected())).toEqual(both), { timeout: 15_000, interval: 100 });
});

it('lets nothing pass that only looks like the question for it', async () => {
  asked.fill(0);
  for (const path of ['/readyz/', '/readyz/v1/models', '/readyz%2e', '/v1/readyz', '//readyz'])
    expect([path, (await ready(path)).status]).toEqual([path, 404]);
  const post = await fetch(`http://127.0.0.1:${port}/readyz`, { method: 'POST', body: '{}' });
  expect([post.status, post.headers.get('allow')]).toEqual([405, 'GET, HEAD']);
  expect(asked).toEqual([0, 0]);
});

it('one that leaves in order loses no call, and neither does its successor', async () => {
  let isWanted = true;
  const statuses = new Set<number>();
  const calling = (async () => {
    while (isWanted) statuses.add((await ask()).status);
  })();
  await services[1]?.leave();
  await services[1]?.close(1000);
  asked.fill(0);
  await vi.waitUntil(() => (asked[0] ?? 0) > 20, { timeout: 10_000 });
  expect(asked[1]).toBe(0);
  services[1] = await serve(1);
  await vi.waitUntil(() => (asked[1] ?? 0) > 20, { timeout: 10_000 });
  isWanted = false;
  await calling;
  expect([...statuses]).toEqual([200]);
});

it('a read whose control plane has died goes to the other one, from the first moment on', async () => {
  cutOff(controlPlanes[1]);
  // Each call ends well, as `shares` asserts. Whose turn it is may begin anew meanwhile, with the next health check.
  const [first = 0, second = 0] = await shares();
  expect(first + second).toBe(40);
});
