/** Envoy's access log reports calls that lost their sidecar, and they are noted in a real Valkey that was down. */
import { callEndKey, ledgerStream, receiptKey } from '@gw/contract/internal/redis';
import { EntrySealer } from '@gw/contract/internal/sealed-entry';
import type { StreamAccessLogsMessage } from '@gw/grpc/service';
import { openLog } from '@gw/service/log';
import { openRedis, untilReady } from '@gw/service/redis';
import { contentOf, entryIn, entryKeys, entryNamed, idNamed } from '@gw/testing/ledger-entry';
import { emptyValkey } from '@gw/testing/valkey';
import type { Redis } from 'ioredis';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { openShownReceipts, type ShownReceipts } from './shown-receipts.ts';

const log = openLog('test', 'silent');
let redis: Redis;
let other: Redis;
let receipts: ShownReceipts;
beforeEach(async () => {
  const url = await emptyValkey();
  redis = openRedis(url, log, { commandTimeoutMs: 250 });
  other = openRedis(url, log);
  await Promise.all([untilReady(redis, 5000), untilReady(other, 5000)]);
  receipts = openShownReceipts({ redis, log, waitMs: 1500 });
});
afterEach(async () => {
  await receipts.stop();
  redis.disconnect();
  other.disconnect();
});

type Flags = Readonly<Record<string, boolean>>;

/** A call that has ended, with what the sidecar and the Lua filter have left of it. */
function ended(id: string, flags: Flags): StreamAccessLogsMessage {
  const entry = entryIn(entryNamed(id));
  const content = contentOf(entry);
  const [sealed] = new EntrySealer(entryKeys.current).sealStandIn(content);
  const texts = { receipt_id: id, degraded: content.receipt, stand_in: sealed };
  const gw = {
    fields: Object.fromEntries([
      ...Object.entries(texts).map(([name, stringValue]) => [name, { stringValue }]),
      ...Object.entries(flags).map(([name, boolValue]) => [name, { boolValue }]),
    ]),
  };
  const logged = { commonProperties: { metadata: { filterMetadata: { gw } } } };
  return { httpLogs: { logEntry: [logged] } } as unknown as StreamAccessLogsMessage;
}
/** The entries, as whoever has the key opens them. */
const noted = async () =>
  (await other.xrangeBuffer(ledgerStream, '-', '+')).map(([, fields]) => {
    const { receipt, state } = entryIn(fields[1] ?? Buffer.alloc(0));
    return [receipt.id, state];
  });

/** The connection breaks, and is there again. */
async function cut(): Promise<void> {
  await other.call('CLIENT', 'KILL', 'TYPE', 'normal', 'SKIPME', 'yes');
  await expect.poll(() => redis.ping().catch(() => null)).toBe('PONG');
}

test('as long as Valkey answers, calls without their receipts are left to the lease that ends', async () => {
  receipts.note(ended('left', {}));
  receipts.note(ended('shown', { shown: true }));
  await expect.poll(noted).toEqual([[idNamed('shown'), 'shown']]);
  // Whoever asks for the receipt finds its entry.
  const [[place] = []] = await other.xrange(ledgerStream, '-', '+');
  expect(await other.get(receiptKey('shown'))).toBe(place);
  await receipts.stop();
  expect(await noted()).toHaveLength(1);
});

test('where it was away, each call that was not finished is noted, and none that was', async () => {
  await cut();
  receipts.note(ended('done', { done: true }));
  receipts.note(ended('left', {}));
  receipts.note(ended('shown', { shown: true }));
  // A call whose client was shown a receipt is noted immediately, the others once their sidecar has had its time.
  await expect.poll(noted).toEqual([
    [idNamed('shown'), 'shown'],
    [idNamed('left'), 'left'],
  ]);
});

test('one that ends in order leaves nothing behind', async () => {
  await cut();
  receipts.note(ended('left', {}));
  await receipts.stop();
  expect(await noted()).toEqual([[idNamed('left'), 'left']]);
});

test('a call that was given up is told of by its request, for the sidecar that stood still; no other one is', async () => {
  const given = (requestId: string, status: number, receipt: string | null): StreamAccessLogsMessage => {
    const fields = receipt === null ? {} : { receipt_id: { stringValue: receipt } };
    const commonProperties = { metadata: { filterMetadata: { gw: { fields } } } };
    const entry = { commonProperties, request: { requestId }, response: { responseCode: { value: status } } };
    return { httpLogs: { logEntry: [entry] } } as unknown as StreamAccessLogsMessage;
  };
  receipts.note(given('refused', 401, null));
  receipts.note(given('answered', 500, 'rcpt'));
  receipts.note(given('given-up', 500, null));
  await expect.poll(() => other.get(callEndKey('given-up'))).toBe('unsent');
  expect(await other.keys(callEndKey('*'))).toEqual([callEndKey('given-up')]);
});
