/** The health check of Envoy in docker-compose.yml, against a server that notes what it is sent. */
import { execFile } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { type AddressInfo, createServer } from 'node:net';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { parse } from 'yaml';
import { z } from 'zod';

const command = z.tuple([z.literal('CMD'), z.literal('node'), z.literal('-e'), z.string()]);
const { services } = z
  .object({ services: z.object({ envoy: z.object({ healthcheck: z.object({ test: command }) }) }) })
  .parse(parse(readFileSync(join(import.meta.dirname, '..', 'docker-compose.yml'), 'utf8'), { merge: true }));
const [, , , script] = services.envoy.healthcheck.test;

/** The exit code of the check, and what it has sent. */
async function check(environment: Record<string, string>, status: number) {
  let sent = '';
  const server = createServer((socket) => {
    socket.on('error', () => undefined);
    socket.on('data', (data) => {
      sent += data.toString('latin1');
      // A handshake of TLS, which this server does not speak.
      if (sent.includes('\x16\x03')) socket.destroy();
      else if (sent.endsWith('\r\n\r\n')) socket.end(`HTTP/1.1 ${status} x\r\ncontent-length: 0\r\n\r\n`);
    });
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo;
  const code = await new Promise<number | null>((resolve) => {
    const child = execFile(process.execPath, ['-e', script.replace('8080', String(port))], { env: environment });
    child.once('exit', resolve);
  });
  server.close();
  return { code, sent };
}

test('it asks whether Envoy is ready', async () => {
  expect(await check({}, 200)).toEqual({ code: 0, sent: expect.stringMatching(/^GET \/readyz HTTP/) });
  expect((await check({}, 503)).code).toBe(1);
});

test('it begins with the PROXY protocol where Envoy demands it', async () => {
  const { code, sent } = await check({ GW_PROXY_PROTOCOL: 'on' }, 200);
  expect([code, sent]).toEqual([0, expect.stringMatching(/^PROXY UNKNOWN\r\nGET \/readyz HTTP/)]);
});

test('with a certificate it speaks TLS behind that', async () => {
  const settings = { GW_PROXY_PROTOCOL: 'on', GW_TLS_CERT_FILE: '/etc/gw/tls/cert.pem' };
  const { code, sent } = await check(settings, 200);
  expect(code).toBe(1);
  expect(sent.startsWith('PROXY UNKNOWN\r\n\x16\x03')).toBe(true);
});
