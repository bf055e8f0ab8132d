import { createServer, type RequestListener } from 'node:http';
import type { AddressInfo } from 'node:net';
import { expect, onTestFinished, test, vi } from 'vitest';
import { type AddressGuard, type Lookup, openAddressGuard } from './address-guard.ts';
import { type GuardedRequest, guardedRequest } from './guarded-request.ts';

function listening(answer: RequestListener): Promise<number> {
  const server = createServer(answer);
  onTestFinished(() => {
    server.closeAllConnections();
    server.close();
  });
  return new Promise((resolve) => server.listen(0, '127.0.0.1', () => resolve((server.address() as AddressInfo).port)));
}
const ask = (url: string, more: Partial<GuardedRequest> = {}, guard: AddressGuard = openAddressGuard()) =>
  guardedRequest(guard, { method: 'GET', url, timeoutMs: 5000, maxBytes: 1000, ...more });
const failure = (error: object) => ({ ok: false, error: expect.objectContaining(error) });
const loopback = [{ address: '127.0.0.1', family: 4 }];

test('a reply comes with its status and body, and no redirect is followed', async () => {
  const asked: unknown[] = [];
  const port = await listening((request, reply) => {
    asked.push([request.method, request.url, request.headers.authorization]);
    reply.writeHead(302, { location: '/elsewhere' }).end('moved');
  });
  const headers = { authorization: 'Bearer sk' };
  expect(await ask(`http://localhost:${port}/v1`, { method: 'POST', body: '{}', headers })).toMatchObject({
    ok: true,
    value: { status: 302, body: 'moved', headers: { location: '/elsewhere' } },
  });
  expect(asked).toEqual([['POST', '/v1', 'Bearer sk']]);
});

test('it ends: a reply that is too long, one that never ends, nobody there', async () => {
  const long = await listening((_, reply) => reply.end('x'.repeat(1001)));
  expect(await ask(`http://127.0.0.1:${long}/`)).toEqual(
    failure({ reason: 'too_large', text: 'it answers with more than 1000 bytes' }),
  );
  const endless = await listening((_, reply) => void reply.write('x'));
  expect(await ask(`http://127.0.0.1:${endless}/`, { timeoutMs: 100 })).toEqual(
    failure({ reason: 'timeout', text: 'there was no whole reply within 0.1 s' }),
  );
  expect(await ask(`http://127.0.0.1:${endless}/`, { readsBody: (status) => status !== 200 })).toMatchObject({
    value: { status: 200, body: '' },
  });
  expect(await ask('http://127.0.0.1:1/')).toEqual(failure({ reason: 'unreachable', code: 'ECONNREFUSED' }));
});

test('a header that cannot be sent is no exception, and is not repeated', async () => {
  const outcome = await ask('http://127.0.0.1:1/', { headers: { authorization: 'sk\nx: 1' } });
  expect(outcome).toEqual(failure({ text: 'its headers cannot be sent' }));
});

test('requests one after the other share a connection', async () => {
  const ports = new Set<number | undefined>();
  const port = await listening((request, reply) => {
    ports.add(request.socket.remotePort);
    reply.end('here');
  });
  const guard = openAddressGuard();
  for (const _ of [1, 2, 3]) expect(await ask(`http://localhost:${port}/`, {}, guard)).toMatchObject({ ok: true });
  expect(ports.size).toBe(1);
});

test.each([
  'http://169.254.169.254/latest/meta-data',
  'http://[fe80::1]/',
  'http://[::ffff:169.254.169.254]/',
  'http://0.0.0.0/',
  'http://metadata.google.internal/',
  'https://100.100.100.200/',
])('%s is never asked', async (url) => {
  expect(await ask(url)).toEqual(failure({ reason: 'refused', text: expect.stringContaining('not allowed') }));
});

test.each([
  [[{ address: '169.254.169.254', family: 4 }]],
  [[...loopback, { address: 'fe80::1%eth0', family: 6 }]],
  [[{ address: '::ffff:169.254.169.254', family: 6 }]],
  [[{ address: 'fd00:ec2::254', family: 6 }]],
  [[{ address: '0.0.0.0', family: 4 }]],
  [[{ address: '255.255.255.255', family: 4 }]],
])('a name that leads to %j is not connected to', async (addresses) => {
  const asked = vi.fn();
  const port = await listening(asked);
  const guard = openAddressGuard([], async () => addresses);
  expect(await ask(`http://rebound.example:${port}/`, {}, guard)).toEqual(failure({ reason: 'refused' }));
  expect(asked).not.toHaveBeenCalled();
});

test('a name that was good is judged again with each connection', async () => {
  const asked = vi.fn();
  const port = await listening((_, reply) => {
    asked();
    reply.writeHead(200, { connection: 'close' }).end();
  });
  const answers = [loopback, [{ address: '169.254.169.254', family: 4 }]];
  const lookup = vi.fn<Lookup>(async () => answers.shift() ?? []);
  const guard = openAddressGuard([], lookup);
  const url = `http://rebound.example:${port}/`;
  expect(await ask(url, {}, guard)).toMatchObject({ ok: true });
  expect(await ask(url, {}, guard)).toEqual(failure({ reason: 'refused' }));
  expect([asked.mock.calls.length, lookup.mock.calls.length]).toEqual([1, 2]);
});

test('a listener of our own is not asked, by whatever name', async () => {
  const asked = vi.fn();
  const port = await listening(asked);
  const guard = openAddressGuard([{ what: 'port of the test', host: '127.0.0.1', port }], async () => loopback);
  for (const host of ['127.0.0.1', 'localhost', 'alias.example', '[::ffff:127.0.0.1]'])
    expect(await ask(`http://${host}:${port}/`, {}, guard), host).toEqual(
      failure({ reason: 'refused', text: expect.stringContaining("the gateway's own port of the test") }),
    );
  expect(asked).not.toHaveBeenCalled();
});
