import { execFileSync } from 'node:child_process';
import { constants, mkdtempSync, readdirSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { open } from 'node:fs/promises';
import { hostname, tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { ledgerStream, pendingReceiptsKey, receiptKey } from '@gw/contract/internal/redis';
import type { EntryState } from '@gw/contract/internal/sealed-entry';
import { openRedis, untilReady } from '@gw/service/redis';
import { openRedisWriter, type RedisWriter } from '@gw/service/redis-writer';
import type { Service } from '@gw/stack/services/service';
import { startValkey } from '@gw/stack/services/valkey';
import { entryNamed, idNamed } from '@gw/testing/ledger-entry';
import type { Redis } from 'ioredis';
import { pino } from 'pino';
import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { openSpool, recordOf } from './spool.ts';
import { type LedgerWriter, openLedgerWriter } from './writer.ts';

let dir: string;
let valkey: Service;
let redis: Redis;
let writes: RedisWriter;
let writer: LedgerWriter;
/** Messages of the log. */
let logged: string[];

const valkeyOptions = () => ({ dir: join(dir, 'valkey'), log: () => {} });
const spoolFolder = () => join(dir, 'spool');
const entry = (name: string, state: EntryState = 'made') => entryNamed(name, state);
const inStream = async () => (await redis.xrangeBuffer(ledgerStream, '-', '+')).map(([, fields]) => fields[1] ?? none);
const none = Buffer.alloc(0);
const under = (name: string) => redis.getBuffer(receiptKey(idNamed(name)));
/** The entry in the stream whose id stands under the id of a receipt. */
async function found(name: string): Promise<Buffer | undefined> {
  const place = String(await under(name));
  const [[, fields] = []] = await redis.xrangeBuffer(ledgerStream, place, place);
  return fields?.[1];
}

beforeEach(async () => {
  dir = mkdtempSync(join(tmpdir(), 'gwwriter-'));
  valkey = await startValkey(valkeyOptions());
  logged = [];
  const log = pino({ level: 'info' }, { write: (line: string) => logged.push(JSON.parse(line).msg) });
  redis = openRedis(valkey.url, log, { commandTimeoutMs: 1000 });
  writes = openRedisWriter({ url: valkey.url, log, commandTimeoutMs: 1000 });
  await Promise.all([untilReady(redis, 5000), writes.untilReady(5000)]);
  writer = openLedgerWriter({
    redis,
    writes,
    spool: await openSpool(spoolFolder(), hostname()),
    now: Date.now,
    maxStreamLength: 100_000,
    keepMs: 60_000,
    log,
  });
});
afterEach(async () => {
  await writer.stop();
  redis.disconnect();
  writes.stop();
  await valkey.stop();
  rmSync(dir, { recursive: true, force: true });
});

async function eventually(check: () => Promise<boolean>): Promise<void> {
  for (const deadline = Date.now() + 15_000; Date.now() < deadline; ) {
    if (await check().catch(() => false)) return;
    await new Promise((resolve) => setTimeout(resolve, 20));
  }
  throw new Error('It did not come true within 15 s.');
}

test('a call under way is pending, and a finished one is in the stream, readable, and pending no more', async () => {
  writer.begin(idNamed('a'), entry('a', 'pending'));
  await eventually(async () => (await redis.zcard(pendingReceiptsKey)) === 1);
  expect(await under('a')).toEqual(entry('a', 'pending'));
  await writer.finish(idNamed('a'), entry('a'));
  expect(await inStream()).toEqual([entry('a')]);
  expect(await found('a')).toEqual(entry('a'));
  expect(await redis.zcard(pendingReceiptsKey)).toBe(0);
});

test('what was finished while Redis was away comes home, and nobody closes it as unattended', async () => {
  for (const id of ['a', 'b']) writer.begin(idNamed(id), entry(id, 'pending'));
  await eventually(async () => (await redis.zcard(pendingReceiptsKey)) === 2);
  await valkey.stop();
  await Promise.all(['a', 'b'].map((id) => writer.finish(idNamed(id), entry(id))));
  valkey = await startValkey(valkeyOptions());
  await eventually(async () => (await inStream()).length === 2);
  expect(await inStream()).toEqual([entry('a'), entry('b')]);
  await eventually(async () => (await redis.zcard(pendingReceiptsKey)) === 0);
  expect(await found('a')).toEqual(entry('a'));
});

const shown = (name: string) => entry(name, 'shown');
const spoolFile = () => join(spoolFolder(), `${hostname()}.spool`);

test('Redis away and the disk full: nothing took the receipt, and what was shown instead comes home with Redis', async () => {
  symlinkSync('/dev/full', spoolFile());
  await valkey.stop();
  expect(await writer.finish(idNamed('a'), entry('a'))).toBe(false);
  writer.keep(idNamed('a'), shown('a'));
  expect(writer.counts()).toMatchObject({ kept: 1, lost: 0 });
  valkey = await startValkey(valkeyOptions());
  await eventually(async () => (await inStream()).length === 1);
  expect(await inStream()).toEqual([shown('a')]);
  expect(writer.counts()).toMatchObject({ kept: 0, lost: 0 });
});

test('Redis away and the disk hung: a reply waits for neither; what the disk takes late is not what the ledger gets', async () => {
  // Opening a pipe that nobody reads does not come back, as with a volume that hangs.
  execFileSync('mkfifo', [spoolFile()]);
  await valkey.stop();
  expect(await writer.finish(idNamed('a'), entry('a'))).toBe(false);
  writer.keep(idNamed('a'), shown('a'));
  // The second does not queue up behind the first.
  expect(await writer.finish(idNamed('b'), entry('b'))).toBe(false);
  writer.keep(idNamed('b'), shown('b'));

  const pipe = await open(spoolFile(), constants.O_RDONLY | constants.O_NONBLOCK);
  rmSync(spoolFile());
  await eventually(async () => (await pipe.read()).buffer.toString().includes(recordOf(entry('a'))));
  await pipe.close();
  // It lies on the disk now, as if the volume went on.
  writeFileSync(join(spoolFolder(), `${hostname()}-0.replay`), `${recordOf(entry('a'))}\n`);
  valkey = await startValkey(valkeyOptions());
  await eventually(async () => (await inStream()).length === 2);
  await eventually(async () => readdirSync(spoolFolder()).length === 0);
  expect(await inStream()).toEqual([shown('a'), shown('b')]);
  expect(await found('a')).toEqual(shown('a'));
});

test('while Redis stands still one receipt waits for it, the next ones go to the spool at once; then all come home', async () => {
  process.kill(valkey.pid, 'SIGSTOP');
  expect(await writer.finish(idNamed('a'), entry('a'))).toBe(true);
  const sent = vi.spyOn(writes, 'send');
  expect(await writer.finish(idNamed('b'), entry('b'))).toBe(true);
  // But for a probe, whose time may have come.
  const commands = sent.mock.calls.flat() as unknown as string[][];
  expect(commands.filter((command) => !command.includes('{gw:ledger}:probe'))).toEqual([]);
  process.kill(valkey.pid, 'SIGCONT');
  await eventually(async () => new Set((await inStream()).map(String)).size === 2);
  expect(await found('b')).toEqual(entry('b'));
});

test('a stream that nobody reads grows to its bound; further receipts go to the spool, and home when it has room', async () => {
  await writer.stop();
  const spool = await openSpool(spoolFolder(), hostname());
  const log = pino({ level: 'silent' });
  writer = openLedgerWriter({ writes, redis, spool, now: Date.now, maxStreamLength: 10, keepMs: 60_000, log });
  const ids = Array.from({ length: 25 }, (_, n) => `r${n}`);
  const [before, after] = [ids.slice(0, 10), ids.slice(10)];
  await Promise.all(before.map((id) => writer.finish(idNamed(id), entry(id))));
  await eventually(async () => writer.counts().full);
  expect(writer.counts().length).toBe(10);
  expect(writer.counts().oldestAt).not.toBeNull();
  for (const id of after) writer.begin(idNamed(id), entry(id, 'pending'));
  expect(await Promise.all(after.map((id) => writer.finish(idNamed(id), entry(id))))).toEqual(after.map(() => true));
  // Nobody is to close them as those of a dead sidecar.
  await eventually(async () => (await redis.zcard(pendingReceiptsKey)) === 0);
  expect(await redis.exists(...after.map((name) => receiptKey(idNamed(name))))).toBe(0);
  // It is looked at again, and is still full: not half of it was read.
  await redis.xtrim(ledgerStream, 'MAXLEN', 6);
  await eventually(async () => writer.counts().length === 6);
  expect(writer.counts().full).toBe(true);
  expect(await redis.xlen(ledgerStream)).toBe(6);
  await redis.xtrim(ledgerStream, 'MAXLEN', 4);
  await eventually(async () => (await redis.xlen(ledgerStream)) === 4 + after.length);
  expect((await inStream()).slice(4)).toEqual(after.map((id) => entry(id)));
  await eventually(async () => writer.counts().full);
});

test('a Redis without memory is away until it takes a write, however well it answers', async () => {
  await redis.config('SET', 'maxmemory', '1mb');
  expect(await writer.finish(idNamed('a'), entry('a'))).toBe(true);
  await delay(1500);
  expect(await writer.finish(idNamed('b'), entry('b'))).toBe(true);
  expect(logged).toEqual(['Redis does not take receipts in time; they go to the spool']);
  await redis.config('SET', 'maxmemory', '0');
  await eventually(async () => (await inStream()).length === 2);
  expect((await inStream()).sort(Buffer.compare)).toEqual([entry('a'), entry('b')]);
});

test('a disk that hangs while the spool is read holds up nothing else', async () => {
  await writer.stop();
  const hung = { append: async () => undefined, replay: () => new Promise<never>(() => undefined) };
  const log = pino({ level: 'silent' });
  writer = openLedgerWriter({ writes, redis, spool: hung, now: Date.now, maxStreamLength: 5, keepMs: 60_000, log });
  await delay(1500);
  for (const id of ['a', 'b', 'c', 'd', 'e']) await writer.finish(idNamed(id), entry(id));
  await eventually(async () => writer.counts().full);
  await redis.flushall();
  await eventually(async () => (await inStream()).length === 5);
}, 30_000);
