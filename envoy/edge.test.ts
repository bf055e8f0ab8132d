/** Envoy limits connections, headers and memory at the edge. These tests run Envoy alone, with shorter times where a test has to wait. */
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { connect as connectHttp2 } from 'node:http2';
import { connect, createServer, type Socket } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { connect as connectTls } from 'node:tls';
import { type EnvoyAlone, startEnvoyAlone } from '@gw/testing/envoy/alone';
import { makeCertificate } from '@gw/testing/envoy/certificate';
import { afterAll, describe, expect, test } from 'vitest';

const dir = mkdtempSync(join(tmpdir(), 'gw-edge-'));
const running: EnvoyAlone[] = [];
async function started(...options: Parameters<typeof startEnvoyAlone>): Promise<number> {
  const envoy = await startEnvoyAlone(...options);
  running.push(envoy);
  return envoy.port;
}
afterAll(async () => {
  for (const envoy of running) await envoy.stop();
  rmSync(dir, { recursive: true, force: true });
});

const health = 'GET /healthz HTTP/1.1\r\nHost: gw\r\n\r\n';

interface Connection {
  readonly socket: Socket;
  /** The bytes that came before the gateway closed the connection. */
  readonly closed: Promise<string>;
}

function open(port: number, bytes: string | Buffer = '', localAddress = '127.0.0.1'): Connection {
  const socket = connect({ port, host: '127.0.0.1', localAddress });
  let text = '';
  socket.on('data', (data) => {
    text += data;
  });
  socket.on('error', () => undefined);
  const closed = new Promise<string>((resolve) => socket.on('close', () => resolve(text)));
  socket.write(bytes);
  return { socket, closed };
}

describe('time-outs', () => {
  const short = {
    '"idle_timeout":"300s"': '"idle_timeout":"1s"',
    '"request_headers_timeout":"10s"': '"request_headers_timeout":"1s"',
  };
  const plain = started({}, short);

  test('a connection is closed that never asks anything, and one that has asked and is idle', async () => {
    const port = await plain;
    expect(await open(port).closed).toBe('');
    expect(await open(port, health).closed).toContain('{"status":"ok"}');
  });

  test('headers that do not end are refused with a sentence that says so', async () => {
    const text = await open(await plain, 'GET /healthz HTTP/1.1\r\nHost: gw\r\n').closed;
    expect(text).toMatch(/^HTTP\/1.1 408 /);
    expect(text).toContain('x-should-retry: false');
    const { error } = JSON.parse(text.split('\r\n\r\n')[1] ?? '');
    expect(error).toMatchObject({ code: 'request_timeout', type: 'validation_error' });
    expect(error.message).toMatch(/^The headers of the request were not whole/);
  });

  test('a TLS handshake that is not finished is given up', async () => {
    const { certificate, key } = makeCertificate('edge');
    const [certFile, keyFile] = [join(dir, 'tls.crt'), join(dir, 'tls.key')];
    writeFileSync(certFile, certificate);
    writeFileSync(keyFile, key);
    const tls = { certFile, keyFile };
    const port = await started(
      { tls },
      { '"transport_socket_connect_timeout":"10s"': '"transport_socket_connect_timeout":"1s"' },
    );
    expect(await open(port, await clientHello()).closed).not.toContain('HTTP');
  });
});

/** A client sends this first and then nothing more. */
function clientHello(): Promise<Buffer> {
  return new Promise((resolve) => {
    const listener = createServer((socket) => {
      socket.on('error', () => undefined);
      socket.once('data', (bytes) => {
        socket.destroy();
        listener.close();
        resolve(bytes);
      });
    });
    listener.listen(0, '127.0.0.1', () => {
      const bound = listener.address();
      const client = connectTls({ port: typeof bound === 'object' && bound ? bound.port : 0, host: '127.0.0.1' });
      client.on('error', () => undefined);
    });
  });
}

describe('connections', () => {
  const perAddress = 4;

  /** How many of so many connections of one address are answered. They stay open. */
  async function answered(port: number, address: string, count: number): Promise<number> {
    const replies = Array.from({ length: count }, () => {
      const { socket, closed } = open(port, health, address);
      const answer = new Promise<boolean>((resolve) => socket.once('data', () => resolve(true)));
      return Promise.race([answer, closed.then((text) => text !== '')]);
    });
    return (await Promise.all(replies)).filter(Boolean).length;
  }

  test('no address holds more than its bound, and others still get in', async () => {
    const port = await started({ maxConnectionsPerAddress: perAddress });
    expect(await answered(port, '127.0.0.1', 3 * perAddress)).toBeLessThanOrEqual(perAddress);
    const others = await Promise.all(
      Array.from({ length: 24 }, (_, index) => answered(port, `127.0.1.${index + 1}`, 1)),
    );
    // About one in eight shares a group with the first, and some with each other.
    expect(others.filter((count) => count === 1).length).toBeGreaterThan(12);
  });

  test('without a bound for addresses, as behind a load balancer, one holds as many as there are', async () => {
    const port = await started({ maxConnectionsPerAddress: 0, maxConnections: 60 });
    expect(await answered(port, '127.0.0.1', 40)).toBe(40);
  });

  test('HTTP/2 has room for a hundred calls on one connection', async () => {
    const session = connectHttp2(`http://127.0.0.1:${await started()}`);
    const settings = await new Promise<{ maxConcurrentStreams?: number | undefined }>((resolve) =>
      session.once('remoteSettings', resolve),
    );
    session.close();
    expect(settings.maxConcurrentStreams).toBe(100);
  });
});

test('out of memory it says so, and when to come back', async () => {
  // Less than it needs for itself.
  const port = await started({ maxHeapMb: 1 });
  // It looks at its memory every so often.
  await expect
    .poll(() => fetch(`http://127.0.0.1:${port}/healthz`).then(({ status }) => status), { timeout: 10_000 })
    .toBe(503);
  for (const path of ['/v1/models', '/healthz']) {
    const reply = await fetch(`http://127.0.0.1:${port}${path}`);
    expect([reply.status, reply.headers.get('retry-after'), reply.headers.get('content-type')]).toEqual([
      503,
      '1',
      'application/json',
    ]);
    expect(await reply.json()).toMatchObject({ error: { code: 'overloaded', type: 'inference_error', param: null } });
  }
});
