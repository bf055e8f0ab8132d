/** The orderly end of an Envoy that runs as its image runs it; its control plane is a stand-in that holds calls. */
import { mkdtempSync, rmSync } from 'node:fs';
import { Agent, createServer, get, type IncomingMessage, type ServerResponse } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { serveEnvoy } from '@gw/grpc/server';
import { envoyBinary } from '@gw/stack/binaries';
import { type Child, startChild } from '@gw/stack/child';
import { freePorts } from '@gw/stack/ports';
import { testSettings } from '@gw/testing/envoy/settings';
import { afterEach, beforeEach, expect, it, vi } from 'vitest';
import { writeEnvoyConfig } from './render.ts';

const token = 'a-token-of-the-tests-that-is-long-enough';
const cleanUp: (() => unknown)[] = [];
let envoy: Child;
let port = 0;
/** Calls that the control plane has and has not answered. */
const held: ServerResponse[] = [];

beforeEach(async () => {
  const dir = mkdtempSync(join(tmpdir(), 'gw-drain-'));
  cleanUp.push(() => rmSync(dir, { recursive: true, force: true }));
  const authz = `unix:${join(dir, 'a.sock')}`;
  const control = join(dir, 'c.sock');
  const settings = testSettings(dir, { extAuthz: [authz], controlPlane: [`unix:${control}`] });
  const server = createServer((incoming, reply) => {
    incoming.resume();
    reply.setHeader('content-type', 'application/json');
    if (incoming.url === '/v1/usage') held.push(reply);
    else reply.end(JSON.stringify({ version_info: '1', resources: [] }));
  });
  await new Promise<void>((resolve) => server.listen(control, resolve));
  cleanUp.push(
    () => server.closeAllConnections(),
    () => server.close(),
  );
  const service = await serveEnvoy(
    { listen: authz, internalToken: token },
    {
      check: async () => ({ status: { code: 0 }, okResponse: {} }),
      shouldRateLimit: async () => ({ overallCode: 1 }),
    },
    () => undefined,
  );
  cleanUp.push(() => service.close(100));
  [port = 0] = await freePorts(1);
  writeEnvoyConfig({ ...settings, publicPort: port }, join(dir, 'envoy.json'));
  const flags = ['--disable-hot-restart', '--concurrency', '1', '--log-level', 'error'];
  const program = join(import.meta.dirname, 'run-main.ts');
  envoy = await startChild({
    command: process.execPath,
    args: [program, await envoyBinary(() => undefined), '-c', join(dir, 'envoy.json'), ...flags],
    env: {
      GW_INTERNAL_TOKEN: token,
      GW_ENVOY_ADMIN_SOCKET: settings.adminSocket,
      GW_ENVOY_DRAIN_NOTICE_S: '2',
    },
    logFile: join(dir, 'envoy.log'),
  });
  cleanUp.push(() => envoy.stop('SIGTERM', 1));
  await vi.waitUntil(async () => (await health()) === 200, { timeout: 20_000, interval: 50 });
}, 60_000);
afterEach(async () => {
  for (const undo of cleanUp.splice(0).reverse()) await undo();
  held.length = 0;
});

interface Reply {
  readonly status: number;
  readonly connection: string | undefined;
  readonly text: string;
}

/** Over a connection of its own, or one that the agent keeps; rejects if it breaks. */
function ask(path: string, agent: Agent | false = false): Promise<Reply> {
  return new Promise((resolve, reject) => {
    get({ host: '127.0.0.1', port, path, agent, headers: { authorization: 'Bearer x' } }, (reply: IncomingMessage) => {
      let text = '';
      reply.setEncoding('utf8');
      reply.on('data', (data: string) => {
        text += data;
      });
      reply.on('error', reject);
      reply.on('end', () => resolve({ status: reply.statusCode ?? 0, connection: reply.headers.connection, text }));
    }).on('error', reject);
  });
}
const health = () =>
  ask('/healthz').then(
    ({ status }) => status,
    () => null,
  );

it('says that it leaves and goes on for a while, then accepts nothing more, ends with its last call, and in order', async () => {
  const agent = new Agent({ keepAlive: true });
  cleanUp.push(() => agent.destroy());
  expect(await ask('/v1/models', agent)).toMatchObject({ status: 200, connection: undefined });
  const calling = ask('/v1/usage');
  await vi.waitUntil(() => held.length === 1, { timeout: 10_000 });
  envoy.kill('SIGTERM');
  await vi.waitUntil(async () => (await health()) === 503, { timeout: 10_000, interval: 20 });
  for (const path of ['/healthz', '/readyz']) expect(JSON.parse((await ask(path)).text).error.code).toBe('overloaded');
  // The connection that was open is told, and a new one is still served.
  expect(await ask('/v1/models', agent)).toMatchObject({ status: 200, connection: 'close' });
  expect(await ask('/v1/models')).toMatchObject({ status: 200, connection: 'close' });
  await vi.waitUntil(async () => (await health()) === null, { timeout: 20_000, interval: 50 });
  expect(envoy.alive()).toBe(true);
  held[0]?.end('{"late":true}');
  expect(await calling).toMatchObject({ status: 200, text: '{"late":true}' });
  expect(await envoy.exited).toEqual({ code: 0, signal: null });
});

it('ends at once when it is told a second time', async () => {
  const calling = ask('/v1/usage').catch(() => 'broken');
  await vi.waitUntil(() => held.length === 1, { timeout: 10_000 });
  envoy.kill('SIGTERM');
  await vi.waitUntil(async () => (await health()) === 503, { timeout: 10_000, interval: 20 });
  envoy.kill('SIGTERM');
  expect(await calling).toBe('broken');
  expect(await envoy.exited).toEqual({ code: 0, signal: null });
});
