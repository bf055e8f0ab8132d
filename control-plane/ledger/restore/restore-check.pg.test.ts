import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { runAdmin } from '@gw/cli/internals/commands/admin';
import { findTarget, openOperatorApi } from '@gw/cli/internals/commands/admin/api';
import { keyGenerationKey, receiptKey, snapshotVersionKey } from '@gw/contract/internal/redis';
import { seedOperators } from '@gw/testing/control-plane/access';
import { startTestApp, type TestApp } from '@gw/testing/control-plane/app';
import { entryOf } from '@gw/testing/control-plane/fixtures';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { signHeads } from '../log/heads.ts';
import { pinHeads } from '../receipts/batches.ts';

const dir = mkdtempSync(join(tmpdir(), 'gw-restore-'));
const file = join(dir, 'receipts');
let running: TestApp;
let token: string;
beforeAll(async () => {
  running = await startTestApp();
  token = (await seedOperators(running.context)).admin;
}, 120_000);
afterAll(async () => {
  await running?.stop();
  rmSync(dir, { recursive: true });
});

async function check(...more: readonly string[]): Promise<{ code: number; text: string; told: string }> {
  let text = '';
  let told = '';
  const environment = { GW_CONTROL_URL: running.operatorUrl, GW_OPERATOR_TOKEN: token };
  const code = await runAdmin(['restore', 'check', ...more], {
    openApi: () => openOperatorApi(findTarget(environment, null)),
    print: (part) => {
      text += part;
    },
    tell: (part) => {
      told += part;
    },
  });
  return { code, text, told };
}

const sign = () => {
  const { evidenceKey: key, seals } = running.services.ledger;
  const { databases, redis } = running.stores;
  return signHeads({ db: databases.ledger, redis, seals, key, now: () => new Date() });
};

test('a Postgres that went back in time lacks changes of keys, batches of receipts and versions of the catalogue', async () => {
  const { redis, tamper } = running.stores;
  await running.store(entryOf());
  await running.store(entryOf());
  await sign();
  expect((await check()).text).toContain('Valkey was emptied: it knows no batch that Postgres could lack.');
  const [newest] = await running.stores.db.$queryRaw<{ line: string }[]>`
    SELECT concat_ws(' ', number, encode(head, 'hex'), seal, seal_key) AS line FROM receipt_batches ORDER BY number DESC LIMIT 1`;
  await pinHeads(redis, [newest?.line ?? '']);
  expect(await check()).toEqual({
    code: 0,
    text: 'Postgres has everything that Valkey and the object store know about.\n\n0 receipts are on their way to Postgres, 0 are set aside.\n',
    told: '',
  });
  await redis.set(keyGenerationKey, 1_000_000);
  await redis.set(snapshotVersionKey, 999_999);
  await tamper('DELETE FROM receipt_heads');
  await tamper('DELETE FROM receipt_batches WHERE number = (SELECT max(number) FROM receipt_batches)');
  await tamper(`INSERT INTO evidence_packs (id, account_id, request, format, created_at, changed_at, state)
    VALUES ('pack_1', 'acct_demo_audit', '{}', 'json', now(), now(), 'ready')`);
  const { code, text } = await check();
  expect(code).toBe(1);
  expect(text).toMatch(/^keys +\d+ changes of keys or accounts are gone \(\d+ of 1000000\)\./m);
  expect(text).toMatch(
    /^receipts +Batches of receipts up to number \d+ were stored, and Postgres has them up to \d+, or others\./m,
  );
  expect(text).toMatch(/^catalogue +The published catalogue has version 999999, and Postgres has \d+\./m);
  expect(text).toMatch(/^packs +1 of the newest 1 evidence packs are listed and their files are gone\./m);
});

test('receipts that clients have kept are looked for by id and version, a thousand at a time', async () => {
  const [stored, waits] = [entryOf(), entryOf()];
  await running.store(stored);
  await running.stores.redis.set(receiptKey(waits.receipt.id), '1-1');
  const gone = 'rcpt_019ab9d2-0000-7000-8000-000000000000';
  const many = Array.from(
    { length: 20_000 },
    (_, at) => `rcpt_019ab9d2-0000-7000-8000-1${at.toString().padStart(11, '0')}`,
  );
  const reply = JSON.stringify({ id: 'chatcmpl-1', gw: { receipt: { ...stored.receipt, version: 3 } } });
  writeFileSync(file, [stored.receipt.id, reply, waits.receipt.id, gone, 'no receipt', ''].join('\n'));
  const { code, text } = await check('--receipts', file);
  expect(code).toBe(1);
  expect(text).toMatch(new RegExp(`^${stored.receipt.id} +3 +1$`, 'm'));
  expect(text).toMatch(new RegExp(`^${gone} +1 +-$`, 'm'));
  expect(text).toContain('3 kept receipts: 2 missing or older here, 1 on their way');
  writeFileSync(file, many.join('\n'));
  expect((await check('--receipts', file)).told).toBe('20000 receipts compared, 20000 missing or older.\n');
  writeFileSync(file, 'nothing\n');
  await expect(check('--receipts', file)).rejects.toThrow('contains no receipts');
  await expect(check('--receipts', join(dir, 'absent'))).rejects.toThrow('cannot be read');
});
