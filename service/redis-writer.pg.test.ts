import { execFile } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { type AddressInfo, connect, createServer, type Server, type Socket } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createServer as createTlsServer } from 'node:tls';
import { promisify } from 'node:util';
import { inCheckout } from '@gw/stack/checkout';
import { startValkey } from '@gw/stack/services/valkey';
import { makeCertificate } from '@gw/testing/envoy/certificate';
import { emptyValkey } from '@gw/testing/valkey';
import { Redis } from 'ioredis';
import { pino } from 'pino';
import { expect, onTestFinished, test, vi } from 'vitest';
import { openRedisWriter, type RedisWriter } from './redis-writer.ts';

const silent = pino({ level: 'silent' });
function opened(url: string, commandTimeoutMs = 5000, log = silent): RedisWriter {
  const writer = openRedisWriter({ url, log, commandTimeoutMs });
  onTestFinished(() => writer.stop());
  return writer;
}
async function ready(url: string, commandTimeoutMs?: number): Promise<RedisWriter> {
  const writer = opened(url, commandTimeoutMs);
  await vi.waitUntil(writer.isReady, 40_000);
  return writer;
}

test('it speaks TLS with a Redis whose certificate names its address', async () => {
  const valkey = await emptyValkey();
  const { certificate, key } = makeCertificate('valkey');
  const dir = mkdtempSync(join(tmpdir(), 'gwwriter-'));
  onTestFinished(() => rmSync(dir, { recursive: true, force: true }));
  const authority = join(dir, 'ca.crt');
  writeFileSync(authority, certificate);
  const { hostname, port } = new URL(valkey.includes('://') ? valkey : `redis://${valkey}`);
  const inner = () => (valkey.includes('://') ? connect(Number(port), hostname) : connect(valkey));
  const proxy = createTlsServer({ cert: certificate, key }, (socket) => void socket.pipe(inner()).pipe(socket));
  await new Promise<void>((resolve) => proxy.listen(0, '127.0.0.1', resolve));
  onTestFinished(() => void proxy.close());
  const script = `
    const { openRedisWriter } = await import(${JSON.stringify(inCheckout('service', 'redis-writer.ts'))});
    const log = { info() {}, warn({ err }) { process.stderr.write(err.message); } };
    const url = 'rediss://127.0.0.1:${(proxy.address() as AddressInfo).port}/0';
    const writer = openRedisWriter({ url, log, commandTimeoutMs: 5000 });
    await writer.untilReady(5000);
    process.stdout.write(JSON.stringify(await writer.send(['SET', 'over', 'TLS'], ['GET', 'over'])));
    writer.stop();`;
  const env = { ...process.env, NODE_EXTRA_CA_CERTS: authority };
  // Not in step, since the proxy is in this process.
  const child = promisify(execFile)(process.execPath, ['--input-type=module', '-e', script], { env });
  expect(await child).toEqual({ stdout: '["OK","TLS"]', stderr: '' });
});

test('commands of many groups are answered in their order, and those of one turn leave in one write', async () => {
  const url = await emptyValkey();
  const writer = await ready(url);
  const other = new Redis(url);
  onTestFinished(() => other.disconnect());
  const write = vi.spyOn((await import('node:net')).Socket.prototype, 'write');
  onTestFinished(() => write.mockRestore());
  const groups = Array.from({ length: 3000 }, (_, n) =>
    writer.send(['SET', `key ${n}`, `é🌍 ${n}`], ['APPEND', `key ${n}`, '\r\n'], ['GET', `key ${n}`]),
  );
  const replies = await Promise.all(groups);
  expect(write.mock.calls.filter(([text]) => String(text).includes('key 1'))).toHaveLength(1);
  for (const [n, [set, , text]] of replies.entries()) {
    expect(set).toBe('OK');
    expect(Buffer.from(String(text), 'latin1').toString()).toBe(`é🌍 ${n}\r\n`);
  }
  expect(await other.get('key 7')).toBe('é🌍 7\r\n');
});

test('bytes are stored as they are, beside texts of any language', async () => {
  const url = await emptyValkey();
  const writer = await ready(url);
  const other = new Redis(url);
  onTestFinished(() => other.disconnect());
  const bytes = Buffer.from(Array.from({ length: 300_000 }, (_, at) => at % 256));
  const [, , read] = await writer.send(['SET', 'bytes', bytes], ['SET', 'ключ ü', '\u00e9\u{1f30d}'], ['GET', 'bytes']);
  expect(Buffer.from(String(read), 'latin1').equals(bytes)).toBe(true);
  expect(await other.getBuffer('bytes')).toEqual(bytes);
  expect(await other.get('ключ ü')).toBe('é🌍');
});

test('an error fails its own group alone, and the commands beside it were carried out', async () => {
  const writer = await ready(await emptyValkey());
  const groups = [
    writer.send(['SET', 'a', '1']),
    writer.send(['SET', 'b', '1'], ['INCR', 'a', 'too many']),
    writer.send(['GET', 'b'], ['GET', 'nothing'], ['INCR', 'a']),
  ];
  await expect(groups[1]).rejects.toThrow(/wrong number of arguments/);
  expect(await groups[0]).toEqual(['OK']);
  expect(await groups[2]).toEqual(['1', null, 2]);
});

test('commands fail at once while Redis is away, what was under way fails, and it comes back by itself', async () => {
  const dir = mkdtempSync(join(tmpdir(), 'gwwrites-'));
  onTestFinished(() => rmSync(dir, { recursive: true, force: true }));
  const start = () => startValkey({ dir, log: () => {} });
  let valkey = await start();
  onTestFinished(() => valkey.stop());
  const said: string[] = [];
  const log = pino({ level: 'info' }, { write: (line: string) => said.push(JSON.parse(line).msg) });
  const writer = opened(valkey.url, 60_000, log);
  await vi.waitUntil(writer.isReady, 40_000);
  process.kill(valkey.pid, 'SIGSTOP');
  const underWay = writer.send(['PING']);
  const failed = expect(underWay).rejects.toThrow();
  process.kill(valkey.pid, 'SIGKILL');
  await failed;
  await expect(writer.send(['PING'])).rejects.toThrow('Redis is unavailable.');
  valkey = await start();
  await vi.waitUntil(writer.isReady, 40_000);
  expect(await writer.send(['PING'])).toEqual(['PONG']);
  expect(said).toEqual(['Redis is unavailable', 'Redis is back']);
});

test('a Redis that stands still fails what waits for it in time, and later answers go to whom they belong', async () => {
  const url = await emptyValkey();
  const writer = await ready(url, 200);
  const other = new Redis(url);
  onTestFinished(() => other.disconnect());
  await other.client('PAUSE', 600);
  await expect(writer.send(['SET', 'slow', '1'])).rejects.toThrow('Redis took too long.');
  await vi.waitUntil(async () => (await other.get('slow')) === '1', 40_000);
  expect(await writer.send(['GET', 'slow'])).toEqual(['1']);
});

test('who is patient waits for a Redis that stands still, and makes nobody else wait', async () => {
  const url = await emptyValkey();
  const writer = await ready(url, 200);
  const other = new Redis(url);
  onTestFinished(() => other.disconnect());
  await other.client('PAUSE', 900);
  const patient = writer.patient.send(['INCR', 'count']);
  await expect(writer.send(['PING'])).rejects.toThrow('Redis took too long.');
  expect(await patient).toEqual([1]);
  expect(await writer.send(['GET', 'count'])).toEqual(['1']);
});

test('what waits for too long is told so once, however many others wait with it', async () => {
  const url = await emptyValkey();
  const writer = await ready(url, 200);
  const other = new Redis(url);
  onTestFinished(() => other.disconnect());
  await other.client('PAUSE', 1500);
  const told: number[] = [];
  const made = vi.spyOn(globalThis, 'Error');
  onTestFinished(() => made.mockRestore());
  const waits = Array.from({ length: 3000 }, (_, at) => writer.send(['PING']).catch(() => told.push(at)));
  await Promise.all(waits);
  const patient = writer.patient.send(['PING']);
  await patient;
  expect(told).toHaveLength(3000);
  expect(made.mock.calls.filter(([text]) => text === 'Redis took too long.')).toHaveLength(3000);
});

test('what was sent before the end still reaches Redis', async () => {
  const url = await emptyValkey();
  const writer = await ready(url);
  const other = new Redis(url);
  onTestFinished(() => other.disconnect());
  const large = Buffer.alloc(8 * 1024 * 1024, 'x');
  const sent = [writer.send(['SET', 'large', large]), writer.send(['SET', 'last', 'words'])];
  writer.stop();
  expect(await Promise.all(sent)).toEqual([['OK'], ['OK']]);
  await expect(writer.send(['PING'])).rejects.toThrow('Redis is unavailable.');
  expect([await other.strlen('large'), await other.get('last')]).toEqual([large.length, 'words']);
});

/** A server that answers each connection with what it is told, and notes what it was sent. */
async function startServer(answer: (socket: Socket, text: string) => void): Promise<{ server: Server; port: number }> {
  const server = createServer((socket) => {
    socket.on('error', () => undefined);
    socket.on('data', (bytes) => answer(socket, bytes.toString()));
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  onTestFinished(() => void server.close());
  const address = server.address();
  return { server, port: address !== null && typeof address === 'object' ? address.port : 0 };
}

test('it says who it is and which database it wants before anything else, and is not ready if that is refused', async () => {
  const seen: string[] = [];
  let verdict = '-WRONGPASS no\r\n';
  const { port } = await startServer((socket, text) => {
    seen.push(text);
    socket.write(`${verdict}+OK\r\n+PONG\r\n`);
  });
  const writer = opened(`redis://me:p%40ss@127.0.0.1:${port}/3`);
  await vi.waitUntil(() => seen.length > 1, 40_000);
  expect(writer.isReady()).toBe(false);
  verdict = '+OK\r\n';
  await vi.waitUntil(writer.isReady, 40_000);
  expect(seen[0]).toBe(
    '*3\r\n$4\r\nAUTH\r\n$2\r\nme\r\n$4\r\np@ss\r\n*2\r\n$6\r\nSELECT\r\n$1\r\n3\r\n*2\r\n$4\r\nINFO\r\n$11\r\nreplication\r\n',
  );
});

test('what is no Redis is never ready', async () => {
  let asked = 0;
  const { port } = await startServer((socket) => {
    asked += 1;
    socket.write('HTTP/1.1 400 Bad Request\r\n\r\n');
  });
  const writer = opened(`redis://127.0.0.1:${port}`);
  await vi.waitUntil(() => asked > 2, 10_000);
  expect(writer.isReady()).toBe(false);
  expect(() => openRedisWriter({ url: 'https://x', log: silent, commandTimeoutMs: 1 })).toThrow('https:');
});

test('a connection whose other end has gone without a word is made anew', { timeout: 60_000 }, async () => {
  const sockets: Socket[] = [];
  const { port } = await startServer((socket) => {
    if (!sockets.includes(socket)) sockets.push(socket);
    // The first one answers once, and then nothing any more.
    if (socket !== sockets[0] || socket.bytesWritten === 0) socket.write('+PONG\r\n');
  });
  const writer = await ready(`redis://127.0.0.1:${port}`, 200);
  await expect(writer.patient.send(['PING'])).rejects.toThrow('Redis does not answer.');
  await vi.waitUntil(writer.isReady, 40_000);
  expect(await writer.send(['PING'])).toEqual(['PONG']);
});
