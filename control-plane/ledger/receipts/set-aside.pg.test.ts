import { runAdmin } from '@gw/cli/internals/commands/admin';
import { findTarget, openOperatorApi } from '@gw/cli/internals/commands/admin/api';
import { deadLedgerStream, ledgerStream } from '@gw/contract/internal/redis';
import { untilReady } from '@gw/service/redis';
import { seedOperators } from '@gw/testing/control-plane/access';
import { startTestApp, type TestApp } from '@gw/testing/control-plane/app';
import { entryOf, eventually, silentLog } from '@gw/testing/control-plane/fixtures';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { startIngester } from './ingest.ts';

let running: TestApp;
let tokens: Awaited<ReturnType<typeof seedOperators>>;
beforeAll(async () => {
  running = await startTestApp();
  tokens = await seedOperators(running.context);
}, 120_000);
afterAll(() => running?.stop());

async function gw(line: string, token = tokens.admin): Promise<string> {
  let out = '';
  const target = findTarget({ GW_CONTROL_URL: running.operatorUrl, GW_OPERATOR_TOKEN: token }, null);
  await runAdmin(line.split(' '), {
    openApi: () => openOperatorApi(target),
    print: (text) => {
      out += text;
    },
    tell: () => {},
  });
  return out;
}

test('an operator sees what was set aside and why, and has it stored once the cause is mended', async () => {
  const { context, stores } = running;
  const { redis } = context;
  expect(await gw('receipts set-aside')).toBe('Nothing was set aside.\n');
  // The first could be stored by now; the second never can.
  const entry = entryOf();
  const setAside = (text: string, reason: string) => redis.xadd(deadLedgerStream, '*', 'entry', text, 'reason', reason);
  await setAside(JSON.stringify(entry), 'receipt.status: invalid_value');
  await setAside('prompt of a customer', 'not valid JSON');
  for (let n = 0; n < 150; n++) await setAside(JSON.stringify(entryOf()), 'receipt.status: invalid_value');

  const listed = JSON.parse(await gw('receipts set-aside --json', tokens.viewer));
  expect(listed).toHaveLength(152);
  expect(listed[0]).toMatchObject({ receipt_id: entry.receipt.id, account_id: entry.accountId });
  expect(listed[1]).toMatchObject({ receipt_id: null, account_id: null, reason: 'not valid JSON' });
  expect(JSON.stringify(listed)).not.toContain('prompt');

  await expect(gw('receipts retry', tokens.viewer)).rejects.toThrow(/needs the operator role admin/);
  expect(await redis.xlen(deadLedgerStream)).toBe(152);
  expect(await gw('receipts retry')).toMatch(/^152 entries are tried again/);
  const blocking = redis.duplicate();
  await untilReady(blocking, 5000);
  const ingester = startIngester({
    db: stores.db,
    redis: blocking,
    log: silentLog,
    seals: stores.seals,
    consumer: 'one',
  });
  await eventually(async () => (await redis.xlen(ledgerStream)) === 0);
  await ingester.stop();
  blocking.disconnect();
  expect(await stores.db.receipt.count()).toBe(151);
  expect(JSON.parse(await gw('receipts set-aside --json'))).toMatchObject([{ reason: 'not valid JSON' }]);
  expect(await stores.db.auditEntry.findMany({ where: { action: 'receipts.retried' } })).toMatchObject([
    { actorId: 'op_admin', after: { count: 152 } },
  ]);
});
