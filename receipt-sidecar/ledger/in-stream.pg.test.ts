import { mkdtempSync, readdirSync, rmSync, statSync, truncateSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { ledgerStream, pendingReceiptsKey, receiptKey, streamEpochKey } from '@gw/contract/internal/redis';
import type { EntryState } from '@gw/contract/internal/sealed-entry';
import { openRedis, untilReady } from '@gw/service/redis';
import { openRedisWriter, type RedisWriter } from '@gw/service/redis-writer';
import type { Service } from '@gw/stack/services/service';
import { startValkey } from '@gw/stack/services/valkey';
import { entryNamed, idNamed } from '@gw/testing/ledger-entry';
import type { Redis } from 'ioredis';
import { pino } from 'pino';
import { afterEach, beforeEach, expect, onTestFinished, test } from 'vitest';
import { type InStream, openInStream } from './in-stream.ts';
import { openSpool } from './spool.ts';
import { type LedgerWriter, openLedgerWriter } from './writer.ts';

/** How many entries were put in again, each time. */
let restored: number[];
const log = pino(
  { level: 'warn' },
  { write: (line: string) => restored.push(...[JSON.parse(line).restored ?? []].flat()) },
);
let dir: string;
let valkey: Service;
let redis: Redis;
let writes: RedisWriter;
let writers: LedgerWriter[];

const start = () => startValkey({ dir: join(dir, 'valkey'), log: () => {} });
const entry = (name: string, state: EntryState = 'made') => entryNamed(name, state);
const ids = Array.from({ length: 450 }, (_, n) => `r${n}`);
/** As texts with a character for each byte. */
const entries = () => ids.map((id) => entry(id).toString('latin1')).sort();
const inStream = async () =>
  (await redis.xrangeBuffer(ledgerStream, '-', '+')).map(([, fields]) => fields[1]?.toString('latin1')).sort();
const under = (name: string) => redis.getBuffer(receiptKey(idNamed(name)));

beforeEach(async () => {
  dir = mkdtempSync(join(tmpdir(), 'gwinstream-'));
  restored = [];
  valkey = await start();
  redis = openRedis(valkey.url, log, { commandTimeoutMs: 1000 });
  writes = openRedisWriter({ url: valkey.url, log: pino({ level: 'silent' }), commandTimeoutMs: 1000 });
  await Promise.all([untilReady(redis, 5000), writes.untilReady(5000)]);
  writers = [];
});
afterEach(async () => {
  await Promise.all(writers.map((writer) => writer.stop()));
  redis.disconnect();
  writes.stop();
  await valkey.stop();
  rmSync(dir, { recursive: true, force: true });
});

/** Ids are times in ms and begin anew: of the same millisecond they would be those that were given before. */
const anotherMillisecond = () => new Promise((resolve) => setTimeout(resolve, 5));

async function openWriter(): Promise<LedgerWriter> {
  const spool = await openSpool(join(dir, 'spool'), 'here');
  const writer = openLedgerWriter({
    writes,
    redis,
    spool,
    now: Date.now,
    maxStreamLength: 100_000,
    keepMs: 60_000,
    log,
  });
  writers.push(writer);
  return writer;
}

/**
 * Returns what the stream has then. Redis may take some only after their time, on a busy machine: those the spool has too, and brings
 * them a second time, since whoever reads them inserts by id.
 */
async function finishAll(writer: LedgerWriter): Promise<(string | undefined)[]> {
  await Promise.all(ids.map((id) => writer.finish(idNamed(id), entry(id))));
  const spool = join(dir, 'spool');
  await eventually(async () => readdirSync(spool).every((name) => statSync(join(spool, name)).size === 0));
  const there = await inStream();
  expect([...new Set(there)]).toEqual(entries());
  return there;
}

async function eventually(check: () => Promise<boolean>): Promise<void> {
  for (const deadline = Date.now() + 15_000; Date.now() < deadline; ) {
    if (await check().catch(() => false)) return;
    await new Promise((resolve) => setTimeout(resolve, 20));
  }
  throw new Error('It did not come true within 15 s.');
}

test('Redis that is emptied while connected gets every receipt again that nobody has read, once', async () => {
  const writer = await openWriter();
  const before = await finishAll(writer);
  await redis.flushall();
  await eventually(async () => (await redis.xlen(ledgerStream)) >= before.length);
  // Later checks add nothing again.
  await writer.stop();
  expect(await inStream()).toEqual(before);
  expect(restored).toEqual([before.length]);
  const place = String(await under('r0'));
  const [[, fields] = []] = await redis.xrangeBuffer(ledgerStream, place, place);
  expect(fields?.[1]).toEqual(entry('r0'));
});

test('another server that answers under the same address, without a new connection, gets what it lacks', async () => {
  const other = await startValkey({ dir: join(dir, 'other'), log: () => {} });
  onTestFinished(() => other.stop());
  const otherRedis = openRedis(other.url, log, { commandTimeoutMs: 1000 });
  onTestFinished(() => otherRedis.disconnect());
  await untilReady(otherRedis, 5000);
  let answering = redis;
  const put = async (text: Buffer) =>
    inMemory.added((await answering.xadd(ledgerStream, '*', 'entry', text)) ?? '', text);
  const inMemory = openInStream({
    redis: { eval: (...call) => answering.eval(...call), on: () => undefined },
    stream: ledgerStream,
    maxBytes: 1000,
    put,
    log,
  });
  await put(Buffer.from('copied'));
  await put(Buffer.from('not copied'));
  await inMemory.tend();
  // A replica that takes over has the epoch, and lacks the end.
  const [[id, fields] = ['', []]] = await redis.xrange(ledgerStream, '-', '+');
  await otherRedis.xadd(ledgerStream, id, ...fields);
  const epoch = streamEpochKey(ledgerStream);
  await otherRedis.set(epoch, String(await redis.get(epoch)));
  answering = otherRedis;
  await inMemory.tend();
  const there = await otherRedis.xrange(ledgerStream, '-', '+');
  expect(there.map(([, [, text]]) => text)).toEqual(['copied', 'not copied']);
});

test('an entry of which the word that it was taken comes after the look that finds Redis emptied is put in again', async () => {
  const add = async (text: string) => (await redis.xadd(ledgerStream, '*', 'entry', text)) ?? '';
  let late = (): void => undefined;
  const put = async (entry: Buffer) => {
    late();
    inMemory.added(await add(entry.toString()), entry);
  };
  const inMemory = openInStream({ redis, stream: ledgerStream, maxBytes: 1000, put, log });
  await inMemory.tend();
  await put(Buffer.from('known'));
  const [meanwhile, afterwards] = [await add('meanwhile'), await add('afterwards')];
  await redis.flushall();
  await anotherMillisecond();
  late = () => inMemory.added(meanwhile, Buffer.from('meanwhile'));
  await inMemory.tend();
  late = () => undefined;
  inMemory.added(afterwards, Buffer.from('afterwards'));
  await put(Buffer.from('of later'));
  expect(await inStream()).toEqual(['known', 'of later']);
  for (const _ of [1, 2]) {
    await inMemory.tend();
    expect(await inStream()).toEqual(['afterwards', 'known', 'meanwhile', 'of later']);
  }
});

test('a Redis that lost the end of its file in a power cut gets it again', async () => {
  const writer = await openWriter();
  const before = await finishAll(writer);
  process.kill(valkey.pid, 'SIGKILL');
  await valkey.stop();
  const folder = join(dir, 'valkey', 'data', 'appendonlydir');
  const file = join(folder, readdirSync(folder).find((name) => name.endsWith('.incr.aof')) ?? '');
  truncateSync(file, statSync(file).size - 5000);
  valkey = await start();
  await eventually(async () => (await redis.xlen(ledgerStream)) >= before.length);
  await writer.stop();
  // One whose answer is late was put in, and is again.
  expect([...new Set(await inStream())]).toEqual(entries());
  expect(restored).toHaveLength(1);
  expect(restored[0]).toBeLessThan(before.length);
});

test('a Redis that comes back without its data gets everything again', async () => {
  const writer = await openWriter();
  const before = await finishAll(writer);
  await valkey.stop();
  rmSync(join(dir, 'valkey'), { recursive: true });
  valkey = await start();
  await eventually(async () => (await redis.xlen(ledgerStream)) >= before.length);
  await writer.stop();
  // One whose answer is late was put in, and is again.
  expect([...new Set(await inStream())]).toEqual(entries());
});

test('calls under way are marked as pending again, and so are those that began while Redis was away', async () => {
  const writer = await openWriter();
  writer.begin(idNamed('a'), entry('a', 'pending'));
  await redis.flushall();
  await eventually(async () => (await redis.zcard(pendingReceiptsKey)) === 1);
  expect(await under('a')).toEqual(entry('a', 'pending'));

  process.kill(valkey.pid, 'SIGSTOP');
  // It finds out that Redis is away.
  await writer.finish(idNamed('b'), entry('b'));
  writer.begin(idNamed('c'), entry('c', 'pending'));
  process.kill(valkey.pid, 'SIGCONT');
  await eventually(async () => entry('c', 'pending').equals((await under('c')) ?? Buffer.alloc(0)));
  expect(await redis.zrange(pendingReceiptsKey, '0', '-1')).toEqual(['a', 'c'].map(idNamed));
  writer.discard(idNamed('a'));
  await writer.finish(idNamed('c'), entry('c'));
});

/** Without a writer, so that the test says when the stream is looked at. */
function openOne(maxBytes: number): { one: InStream; put: (text: string) => Promise<void> } {
  const add = async (entry: Buffer) => one.added((await redis.xadd(ledgerStream, '*', 'entry', entry)) ?? '', entry);
  const one = openInStream({ redis, stream: ledgerStream, maxBytes, put: add, log });
  return { one, put: (text) => add(Buffer.from(text)) };
}

test('what was read is not put in again, and does not take memory', async () => {
  const { one, put } = openOne(3);
  await one.tend();
  for (const text of ['a', 'b', 'c']) await put(text);
  const [[first = ''] = []] = await redis.xrange(ledgerStream, '-', '+');
  await redis.xdel(ledgerStream, first);
  await one.tend();
  expect(one.counts()).toMatchObject({ length: 2, unguarded: 0 });
  await put('d');
  expect(one.counts().unguarded).toBe(0);
  await redis.flushall();
  await one.tend();
  expect(await inStream()).toEqual(['b', 'c', 'd']);
  await redis.xtrim(ledgerStream, 'MAXLEN', 0);
  await one.tend();
  expect(one.counts()).toEqual({ length: 0, unguarded: 0, oldestAt: null });
  await redis.flushall();
  await one.tend();
  expect(await inStream()).toEqual([]);
});

test('above its bound the oldest leave memory and are counted; the newest are still put in again', async () => {
  const { one, put } = openOne(2);
  for (const text of ['a', 'b', 'c']) await put(text);
  expect(one.counts().unguarded).toBe(1);
  await redis.flushall();
  await one.tend();
  expect(await inStream()).toEqual(['b', 'c']);
});

test('what comes while all is put in again takes no room from what is still to be put in', async () => {
  const texts = Array.from({ length: 450 }, (_, n) => `old ${n}`.padEnd(8));
  const { one, put } = openOne(8 * texts.length);
  await one.tend();
  for (const text of texts) await put(text);
  await redis.flushall();
  await anotherMillisecond();
  const later = Array.from({ length: 100 }, (_, n) => `new ${n}`.padEnd(8));
  await Promise.all([one.tend(), ...later.map(put)]);
  expect(await inStream()).toEqual([...later, ...texts].sort());
  expect(one.counts().unguarded).toBe(later.length);
});

test('what cannot be put in again is held, whatever comes meanwhile, and put in by the next look; the others are not again', async () => {
  const add = async (text: string) => (await redis.xadd(ledgerStream, '*', 'entry', text)) ?? '';
  let refused = '';
  const again = async (entry: Buffer) => {
    if (entry.toString() === refused) throw new Error('Redis is away.');
    one.added(await add(entry.toString()), entry);
  };
  const put = (text: string) => again(Buffer.from(text));
  const one = openInStream({ redis, stream: ledgerStream, maxBytes: 4, put: again, log });
  await one.tend();
  for (const text of ['a', 'b', 'c', 'd']) await put(text);
  await redis.flushall();
  await anotherMillisecond();
  refused = 'b';
  await expect(one.tend()).rejects.toThrow('away');
  for (const text of ['e', 'f']) await put(text);
  refused = '';
  await one.tend();
  expect(await inStream()).toEqual(['a', 'b', 'c', 'd', 'e', 'f']);
});

test('while two connections are to two servers, nothing counts as read that only the old one has, and the new one gets it', async () => {
  const other = await startValkey({ dir: join(dir, 'other'), log: () => {} });
  const there = openRedis(other.url, log, { commandTimeoutMs: 1000 });
  const moved = openRedisWriter({ url: other.url, log: pino({ level: 'silent' }), commandTimeoutMs: 1000 });
  onTestFinished(async () => {
    there.disconnect();
    moved.stop();
    await other.stop();
  });
  await Promise.all([untilReady(there, 5000), moved.untilReady(5000)]);
  // The rest of the stream of the old one: it was read.
  await there.xadd(ledgerStream, '9999999999999-0', 'entry', 'read');
  await there.xtrim(ledgerStream, 'MAXLEN', 0);
  let now = writes;
  const spool = await openSpool(join(dir, 'spool'), 'here');
  const writer = openLedgerWriter({
    writes: { isReady: () => now.isReady(), send: (...commands) => now.send(...commands) },
    redis: there,
    spool,
    now: Date.now,
    maxStreamLength: 100_000,
    keepMs: 60_000,
    log,
  });
  writers.push(writer);
  await writer.finish(idNamed('a'), entry('a'));
  await eventually(async () => writer.counts().length === 1);
  now = moved;
  await eventually(async () => (await there.xlen(ledgerStream)) === 1);
  const [[, fields] = []] = await there.xrangeBuffer(ledgerStream, '-', '+');
  expect(fields?.[1]).toEqual(entry('a'));
});
