import { mkdtempSync, rmSync, symlinkSync } from 'node:fs';
import { hostname, tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Service } from '@gw/cli/services/service';
import { startValkey } from '@gw/cli/services/valkey';
import { ledgerStream, pendingReceiptsKey, receiptKey } from '@gw/contract/internal/redis';
import { openRedis, untilReady } from '@gw/service/redis';
import type { Redis } from 'ioredis';
import { pino } from 'pino';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { openSpool } from './spool.ts';
import { type LedgerWriter, openLedgerWriter } from './writer.ts';

let dir: string;
let valkey: Service;
let redis: Redis;
let writer: LedgerWriter;
/** Messages of the log. */
let logged: string[];

const valkeyOptions = () => ({ dir: join(dir, 'valkey'), log: () => {} });
const spoolFolder = () => join(dir, 'spool');
const entry = (id: string, status = 'complete') => JSON.stringify({ receipt: { id, status } });
const inStream = async () => (await redis.xrange(ledgerStream, '-', '+')).map(([, fields]) => fields[1]);

beforeEach(async () => {
  dir = mkdtempSync(join(tmpdir(), 'gwwriter-'));
  valkey = await startValkey(valkeyOptions());
  logged = [];
  const log = pino({ level: 'info' }, { write: (line: string) => logged.push(JSON.parse(line).msg) });
  redis = openRedis(valkey.url, log, { commandTimeoutMs: 1000 });
  await untilReady(redis, 5000);
  writer = openLedgerWriter({ redis, spool: await openSpool(spoolFolder(), hostname()), now: Date.now, log });
});
afterEach(async () => {
  await writer.stop();
  redis.disconnect();
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
  writer.begin('a', entry('a', 'pending'));
  await eventually(async () => (await redis.zcard(pendingReceiptsKey)) === 1);
  expect(await redis.get(receiptKey('a'))).toBe(entry('a', 'pending'));
  await writer.finish('a', entry('a'));
  expect(await inStream()).toEqual([entry('a')]);
  expect(await redis.get(receiptKey('a'))).toBe(entry('a'));
  expect(await redis.zcard(pendingReceiptsKey)).toBe(0);
});

test('what was finished while Redis was away comes home, and nobody closes it as unattended', async () => {
  for (const id of ['a', 'b']) writer.begin(id, entry(id, 'pending'));
  await eventually(async () => (await redis.zcard(pendingReceiptsKey)) === 2);
  await valkey.stop();
  await Promise.all(['a', 'b'].map((id) => writer.finish(id, entry(id))));
  valkey = await startValkey(valkeyOptions());
  await eventually(async () => (await inStream()).length === 2);
  expect(await inStream()).toEqual([entry('a'), entry('b')]);
  await eventually(async () => (await redis.zcard(pendingReceiptsKey)) === 0);
  expect(await redis.get(receiptKey('a'))).toBe(entry('a'));
});

test('Redis away and the disk full: the reply goes on, and the log says that its receipt is lost', async () => {
  symlinkSync('/dev/full', join(spoolFolder(), `${hostname()}.jsonl`));
  await valkey.stop();
  await writer.finish('a', entry('a'));
  expect(logged).toContain('a receipt could not be stored anywhere');
  valkey = await startValkey(valkeyOptions());
});
