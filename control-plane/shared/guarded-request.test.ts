import dns from 'node:dns';
import { createServer, type RequestListener } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterEach, expect, onTestFinished, test, vi } from 'vitest';
import { type GuardedRequest, guardedRequest } from './guarded-request.ts';

function listening(answer: RequestListener): Promise<number> {
  const server = createServer(answer);
  onTestFinished(() => {
    server.closeAllConnections();
    server.close();
  });
  return new Promise((resolve) => server.listen(0, '127.0.0.1', () => resolve((server.address() as AddressInfo).port)));
}
const ask = (url: string, more: Partial<GuardedRequest> = {}) =>
  guardedRequest({ method: 'GET', url, timeoutMs: 5000, maxBytes: 1000, ...more });

afterEach(() => {
  vi.restoreAllMocks();
});

test('a reply comes with its status and body, and no redirect is followed', async () => {
  const asked: unknown[] = [];
  const port = await listening((request, reply) => {
    asked.push([request.method, request.url, request.headers.authorization]);
    reply.writeHead(302, { location: '/elsewhere' }).end('moved');
  });
  const headers = { authorization: 'Bearer sk' };
  expect(await ask(`http://localhost:${port}/v1`, { method: 'POST', body: '{}', headers })).toEqual({
    ok: true,
    value: { status: 302, body: 'moved' },
  });
  expect(asked).toEqual([['POST', '/v1', 'Bearer sk']]);
});

test('it ends: a reply that is too long, one that never ends, nobody there', async () => {
  const long = await listening((_, reply) => reply.end('x'.repeat(1001)));
  expect(await ask(`http://127.0.0.1:${long}/`)).toMatchObject({
    ok: false,
    error: expect.stringContaining('1000 bytes'),
  });
  const endless = await listening((_, reply) => void reply.write('x'));
  expect(await ask(`http://127.0.0.1:${endless}/`, { timeoutMs: 100 })).toEqual({
    ok: false,
    error: 'there was no whole reply within 0.1 s',
  });
  expect(await ask('http://127.0.0.1:1/')).toMatchObject({ ok: false, error: expect.stringContaining('ECONNREFUSED') });
});

test('a header that cannot be sent is no exception, and is not repeated', async () => {
  const outcome = await ask('http://127.0.0.1:1/', { headers: { authorization: 'sk\nx: 1' } });
  expect(outcome).toEqual({ ok: false, error: 'its headers cannot be sent' });
});

test.each([
  'http://169.254.169.254/latest/meta-data',
  'http://[fe80::1]/',
  'http://[::ffff:169.254.169.254]/',
  'http://0.0.0.0/',
  'http://metadata.google.internal/',
])('%s is never asked', async (url) => {
  expect(await ask(url)).toMatchObject({ ok: false, error: expect.stringContaining('never asked') });
});

test.each([
  [[{ address: '169.254.169.254', family: 4 }]],
  [
    [
      { address: '127.0.0.1', family: 4 },
      { address: 'fe80::1', family: 6 },
    ],
  ],
])('a name that leads to %j is not connected to', async (addresses) => {
  const asked = vi.fn();
  const port = await listening(asked);
  const lookup = vi.spyOn(dns, 'lookup') as unknown as { mockImplementation(use: unknown): void };
  lookup.mockImplementation((_name: string, _options: unknown, callback: (error: null, all: unknown) => void) =>
    callback(null, addresses),
  );
  expect(await ask(`http://rebound.example:${port}/`)).toMatchObject({
    ok: false,
    error: expect.stringContaining('leads to an address that is never asked'),
  });
  expect(asked).not.toHaveBeenCalled();
});
