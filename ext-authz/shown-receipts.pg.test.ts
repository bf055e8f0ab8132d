/** Envoy's access log reports calls that lost their sidecar, and they are noted in a real Valkey that was down. */
import { callEndKey, ledgerStream } from '@gw/contract/internal/redis';
import type { StreamAccessLogsMessage } from '@gw/grpc/service';
import { openLog } from '@gw/service/log';
import { openRedis, untilReady } from '@gw/service/redis';
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
  const texts = { receipt_id: id, degraded: JSON.stringify({ id }) };
  const gw = {
    fields: Object.fromEntries([
      ...Object.entries(texts).map(([name, stringValue]) => [name, { stringValue }]),
      ...Object.entries(flags).map(([name, boolValue]) => [name, { boolValue }]),
    ]),
  };
  const identity = { fields: { account_id: { stringValue: 'acct' }, key_id: { stringValue: 'key' } } };
  const filterMetadata = { gw, 'envoy.filters.http.ext_authz': identity };
  const entry = { commonProperties: { metadata: { filterMetadata } }, request: { path: '/v1/chat/completions?a=b' } };
  return { httpLogs: { logEntry: [entry] } } as unknown as StreamAccessLogsMessage;
}
const noted = async () => (await other.xrange(ledgerStream, '-', '+')).map(([, fields]) => JSON.parse(fields[1] ?? ''));
const caller = { accountId: 'acct', keyId: 'key', endpoint: '/v1/chat/completions' };
const nothing = { routingTrace: null, facts: null };

/** The connection breaks, and is there again. */
async function cut(): Promise<void> {
  await other.call('CLIENT', 'KILL', 'TYPE', 'normal', 'SKIPME', 'yes');
  await expect.poll(() => redis.ping().catch(() => null), { timeout: 10_000 }).toBe('PONG');
}

test('as long as Valkey answers, calls without their receipts are left to the lease that ends', async () => {
  receipts.note(ended('left', {}));
  receipts.note(ended('shown', { shown: true }));
  await expect.poll(noted).toEqual([{ ...caller, receipt: { id: 'shown' }, ...nothing, shown: true }]);
  await receipts.stop();
  expect(await noted()).toHaveLength(1);
});

test('where it was away, each call that was not finished is noted, and none that was', async () => {
  await cut();
  receipts.note(ended('done', { done: true }));
  receipts.note(ended('left', {}));
  receipts.note(ended('shown', { shown: true }));
  // Whoever was shown a receipt comes at once; the others when their sidecar has had its time.
  const shown = { ...caller, receipt: { id: 'shown' }, ...nothing, shown: true };
  await expect.poll(noted, { timeout: 10_000 }).toEqual([shown, { ...caller, receipt: { id: 'left' }, ...nothing }]);
});

test('one that ends in order leaves nothing behind', async () => {
  await cut();
  receipts.note(ended('left', {}));
  await receipts.stop();
  expect(await noted()).toMatchObject([{ receipt: { id: 'left' } }]);
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
