import { mkdtempSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import type { Server } from 'node:http';
import { get } from 'node:https';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { makeCertificate } from '@gw/testing/envoy/certificate';
import { afterAll, afterEach, beforeEach, expect, test, vi } from 'vitest';
import { operatorServer } from './operator-tls.ts';

const dir = mkdtempSync(join(tmpdir(), 'gw-operator-tls-'));
const tls = { certFile: join(dir, 'tls.crt'), keyFile: join(dir, 'tls.key') };
const log = { info: vi.fn(), warn: vi.fn() };
let server: Server | null = null;
let port = 0;

beforeEach(() => {
  vi.useFakeTimers({ toFake: ['setInterval', 'clearInterval'] });
});
afterEach(() => {
  server?.closeAllConnections();
  server?.close();
  vi.useRealTimers();
  vi.clearAllMocks();
  rmSync(tls.certFile, { force: true });
});
afterAll(() => rmSync(dir, { recursive: true, force: true }));

/** As an operator renews a certificate: the new file is moved over the old one. */
function place(file: string, text: string): void {
  writeFileSync(`${file}.new`, text);
  renameSync(`${file}.new`, file);
}

/** Resolves to the status, or to why a client that trusts `ca` refuses the certificate. */
const statusFor = (ca: string): Promise<number | string | undefined> =>
  new Promise((resolve) => {
    get({ host: '127.0.0.1', port, ca, agent: false }, (reply) => resolve(reply.statusCode)).on('error', (error) =>
      resolve('code' in error ? String(error.code) : error.message),
    );
  });

test('a renewed certificate is served without a restart, and files that do not fit change nothing', async () => {
  const [first, second] = [makeCertificate('first'), makeCertificate('second')];
  place(tls.certFile, first.certificate);
  place(tls.keyFile, first.key);
  server = operatorServer(tls, log)((_request, response) => response.end());
  await new Promise<void>((resolve) => server?.listen(0, '127.0.0.1', resolve));
  ({ port } = server.address() as AddressInfo);
  expect(await statusFor(first.certificate)).toBe(200);
  expect(await statusFor(second.certificate)).not.toBe(200);

  place(tls.certFile, second.certificate);
  vi.advanceTimersByTime(6000);
  expect(await statusFor(first.certificate)).toBe(200);
  expect(log.warn).toHaveBeenCalledOnce();
  expect(JSON.stringify(log.warn.mock.calls)).not.toContain('PRIVATE KEY');

  place(tls.keyFile, second.key);
  vi.advanceTimersByTime(2000);
  expect(await statusFor(second.certificate)).toBe(200);
  expect(await statusFor(first.certificate)).not.toBe(200);

  rmSync(tls.keyFile);
  vi.advanceTimersByTime(2000);
  expect(await statusFor(second.certificate)).toBe(200);
  expect(log.warn).toHaveBeenCalledTimes(2);
  expect(log.info).toHaveBeenCalledOnce();
});

test('without usable files it does not start, and says which settings name them', () => {
  expect(() => operatorServer(tls, log)(() => undefined)).toThrow(
    'GW_CONTROL_TLS_CERT_FILE and GW_CONTROL_TLS_KEY_FILE',
  );
});
