import { ledgerStream, pendingReceiptsKey } from '@gw/contract/internal/redis';
import { entryOf, receiptIdAt, startStores } from '@gw/testing/control-plane/fixtures';
import { forFile } from '@gw/testing/for-file';
import { sealedEntry } from '@gw/testing/ledger-entry';
import { Redis } from 'ioredis';
import { expect, test } from 'vitest';
import { completeUntil } from './complete-until.ts';

const stores = forFile(startStores);
const now = new Date('2026-05-01T12:00:00.000Z');
const at = (time: string): string => receiptIdAt(new Date(`2026-05-01T${time}Z`));
const read = async (): Promise<string | undefined> => (await completeUntil(stores.redis, now))?.toISOString().slice(11);

test('the ledger is complete until the oldest call that runs or waits for Postgres began', async () => {
  expect(await read()).toBe('11:59:55.000Z');
  await stores.redis.zadd(pendingReceiptsKey, 1, at('11:50:00.000'), 2, at('11:40:00.000'));
  expect(await read()).toBe('11:40:00.000Z');
  const waiting = entryOf({ id: at('11:30:00.000') });
  const streamId = await stores.redis.xadd(ledgerStream, '*', 'entry', sealedEntry(waiting));
  expect(await read()).toBe('11:30:00.000Z');
  await stores.redis.xdel(ledgerStream, String(streamId));
  await stores.redis.zrem(pendingReceiptsKey, at('11:40:00.000'));
  await stores.redis.del(pendingReceiptsKey);
  expect(await read()).toBe('11:59:55.000Z');
});

test('a stream too long to look through, and a Redis that is away, claim nothing', async () => {
  // Its last id would be later.
  await stores.redis.del(ledgerStream);
  const entry = sealedEntry(entryOf({ id: at('11:59:00.000') }));
  const pipeline = stores.redis.pipeline();
  const first = now.getTime() - 60_000;
  for (let n = 0; n < 2001; n += 1) pipeline.xadd(ledgerStream, `${first + n}-0`, 'entry', entry);
  await pipeline.exec();
  expect(await read(), 'an hour before the oldest entry came').toBe('10:59:00.000Z');
  await stores.redis.del(ledgerStream);
  const away = new Redis(1, { lazyConnect: true, enableOfflineQueue: false, retryStrategy: () => null });
  away.on('error', () => {});
  expect(await completeUntil(away, now)).toBeNull();
});
