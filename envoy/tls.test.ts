/** The public listener with TLS: a running Envoy, without any other part, since it answers /healthz by itself. */
import { mkdtempSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { connect as connectHttp2 } from 'node:http2';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { type ConnectionOptions, connect } from 'node:tls';
import { envoyBinary } from '@gw/stack/binaries';
import { type Child, startChild } from '@gw/stack/child';
import { freePorts } from '@gw/stack/ports';
import { makeCertificate, type TestCertificate } from '@gw/testing/envoy/certificate';
import { testSettings } from '@gw/testing/envoy/settings';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { writeEnvoyConfig } from './render.ts';

const dir = mkdtempSync(join(tmpdir(), 'gw-tls-'));
const at = (name: string) => join(dir, name);
const first = makeCertificate('first');
let port = 0;
let envoy: Child;

/** Both files by a move, as a certificate manager does it: nobody reads half a file. */
function install({ certificate, key }: TestCertificate): void {
  writeFileSync(at('new.key'), key);
  writeFileSync(at('new.crt'), certificate);
  renameSync(at('new.key'), at('tls.key'));
  renameSync(at('new.crt'), at('tls.crt'));
}

interface Session {
  readonly name: string;
  readonly protocol: string | null;
  readonly application: string | false | null;
}

function handshake(options: ConnectionOptions = {}): Promise<Session> {
  return new Promise((resolve, reject) => {
    const socket = connect({
      host: '127.0.0.1',
      port,
      rejectUnauthorized: false,
      ALPNProtocols: ['h2', 'http/1.1'],
      ...options,
    });
    socket.once('error', reject);
    socket.once('close', () => reject(new Error('closed before the handshake was done')));
    socket.once('secureConnect', () => {
      const name = String(socket.getPeerCertificate().subject.CN);
      resolve({ name, protocol: socket.getProtocol(), application: socket.alpnProtocol });
      socket.destroy();
    });
  });
}

beforeAll(async () => {
  const binary = await envoyBinary(() => undefined);
  [port = 0] = await freePorts(1);
  install(first);
  const tls = { certFile: at('tls.crt'), keyFile: at('tls.key') };
  writeEnvoyConfig(testSettings(dir, { publicPort: port, tls }), at('envoy.json'));
  const args = ['-c', at('envoy.json'), '--disable-hot-restart', '--concurrency', '1', '--log-level', 'warning'];
  envoy = await startChild({ command: binary, args, env: { PATH: process.env.PATH }, logFile: at('envoy.log') });
  while (!(await handshake().catch(() => null))) {
    if (!envoy.alive()) throw new Error(readFileSync(at('envoy.log'), 'utf8').slice(-500));
    await delay(50);
  }
}, 120_000);
afterAll(async () => {
  await envoy?.stop();
  rmSync(dir, { recursive: true, force: true });
});

it('speaks TLS 1.2 and 1.3, nothing older, and offers HTTP/2 first', async () => {
  expect(await handshake()).toEqual({ name: 'first', protocol: 'TLSv1.3', application: 'h2' });
  expect(await handshake({ maxVersion: 'TLSv1.2' })).toMatchObject({ protocol: 'TLSv1.2' });
  expect(await handshake({ ALPNProtocols: ['http/1.1'] })).toMatchObject({ application: 'http/1.1' });
  const old = { minVersion: 'TLSv1', maxVersion: 'TLSv1.1', ciphers: 'DEFAULT@SECLEVEL=0' } as const;
  await expect(handshake(old)).rejects.toThrow();
});

it('answers over HTTP/2, by the certificate that its client trusts', async () => {
  const session = connectHttp2(`https://127.0.0.1:${port}`, { ca: first.certificate });
  const status = await new Promise((resolve, reject) => {
    session.on('error', reject);
    const stream = session.request({ ':path': '/healthz' });
    stream.on('response', (headers) => resolve(headers[':status']));
    stream.on('error', reject);
  });
  session.close();
  expect(status).toBe(200);
});

it('takes up a changed certificate without a restart, and open connections live on', async () => {
  const session = connectHttp2(`https://127.0.0.1:${port}`, { ca: first.certificate });
  await new Promise((resolve) => session.once('connect', resolve));
  install(makeCertificate('second'));
  await expect.poll(async () => (await handshake()).name, { timeout: 20_000 }).toBe('second');
  expect(envoy.alive()).toBe(true);
  expect(session.closed).toBe(false);
  session.close();
}, 30_000);
