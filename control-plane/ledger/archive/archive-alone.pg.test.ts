/** An archived month is proven by programs that share nothing with the product: its files alone, its receipts, and packs of them. */
import { spawnSync } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { signingKeyOf } from '@gw/contract/internal/evidence-keys';
import { verifyPack } from '@gw/evidence/verify';
import { ensurePartitions } from '@gw/prisma/partitions';
import { identified, startTestApp } from '@gw/testing/control-plane/app';
import { callAt, entryFrom } from '@gw/testing/control-plane/calls';
import { addresses, silentLog } from '@gw/testing/control-plane/fixtures';
import { forFile } from '@gw/testing/for-file';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { appendReceipts } from '../log/append.ts';
import { sealOpen, signHeads } from '../log/heads.ts';
import { archiveMonths } from './archive-month.ts';

const dir = mkdtempSync(join(tmpdir(), 'gw-archive-'));
afterAll(() => rmSync(dir, { recursive: true, force: true }));
const running = forFile(() => startTestApp(undefined, undefined, { GW_OBJECTS_DIR: join(dir, 'objects') }));
const key = signingKeyOf('e1'.repeat(32));
const accountId = 'acct_demo_audit_plus';
const headers = { 'x-gw-account-id': accountId, 'x-gw-scopes': 'gw:read gw:lineage gw:export' };
const folder = join(dir, 'objects', 'receipts', '2025-01');
const entries = Array.from({ length: 6 }, (_, n) => entryFrom(callAt(`2025-01-0${n + 1}T10:00:00Z`), { accountId }));
const id = entries[2]?.receipt.id ?? '';

beforeAll(async () => {
  const { databases, redis, seals } = running.stores;
  const { objects } = running.context;
  const db = databases.ledger;
  const options = { addresses, db, redis, seals, objects, key, log: silentLog, now: () => new Date() };
  await ensurePartitions(db, new Date('2025-01-01'), 1);
  await running.store(...entries.slice(0, 4));
  await running.store(...entries.slice(4));
  await appendReceipts(options);
  await sealOpen(options, 0);
  await signHeads(options);
  await db.$executeRaw`INSERT INTO receipt_archives (month, asked_by) VALUES ('2025-01-01', 'test')`;
  await archiveMonths({ ...options, held: async () => ({ all: false, accounts: new Set() }) });
  expect(await running.stores.db.receipt.count()).toBe(0);
}, 120_000);

function python(script: string, ...args: string[]): { code: number | null; out: string } {
  const path = fileURLToPath(new URL(`../../../docs/examples/${script}`, import.meta.url));
  const { status, stderr, stdout } = spawnSync('python3', ['-B', path, ...args], { encoding: 'utf8' });
  return { code: status, out: stdout + stderr };
}
async function kept(name: string, path: string): Promise<string> {
  const { body, statusCode } = await running.get(path, headers);
  expect(statusCode, body).toBe(200);
  writeFileSync(join(dir, name), body);
  return join(dir, name);
}

test('the files of a month are checked without the gateway, and a byte that is changed is found', () => {
  const { code, out } = python('check_archive.py', folder, id);
  expect([code, out]).toEqual([
    0,
    expect.stringContaining('2025-01: 6 versions of receipts, 0 of them settled, in 2 files'),
  ]);
  expect(JSON.parse(out.slice(0, out.indexOf('\n')))).toEqual(entries[2]?.receipt);
  const copy = join(dir, 'copy');
  spawnSync('cp', ['-r', folder, copy]);
  writeFileSync(join(copy, 'rows-0000001.jsonl.gz'), 'other');
  expect(python('check_archive.py', copy).code).toBe(1);
});

test('an archived receipt is followed to what was signed', async () => {
  const reply = await kept('reply.json', `/v1/gw/receipts/${id}`);
  const proof = await kept('proof.json', `/v1/gw/receipts/${id}/proof`);
  expect(python('follow_receipt.py', reply, proof)).toMatchObject({ code: 0 });
});

test('a pack of archived receipts has them all, with lineages and proofs, by a period and by ids', async () => {
  for (const asked of [
    { from: '2025-01-01', to: '2025-02-01' },
    // The time of the note is in these.
    { from: '2025-01-01' },
    { from: '2025-01-01', model: entries[0]?.receipt.model },
    { receipt_ids: entries.map(({ receipt }) => receipt.id) },
  ]) {
    const payload = { ...asked, include_lineage: true };
    const reply = await running.app.inject({
      method: 'POST',
      url: '/v1/gw/evidence-pack',
      headers: identified(headers),
      payload,
    });
    expect(reply.statusCode, reply.body).toBe(200);
    const bytes = (async function* () {
      yield reply.rawPayload;
    })();
    const verdict = await verifyPack(bytes, { trust: { thumbprint: key.publicJwk.kid } });
    expect(verdict).toMatchObject({
      signature: 'trusted',
      mismatches: [],
      receipts: 6,
      recomputed: 6,
      log: { proven: 6, archived: ['2025-01'] },
    });
    const isWhole = 'from' in asked && !('model' in asked);
    expect(verdict.log.whole).toEqual(
      isWhole ? { until: expect.any(String), hours: expect.any(Number), open: [] } : null,
    );
    const pack = join(dir, 'pack.jsonld');
    writeFileSync(pack, reply.body);
    expect(python('recompute_pack.py', pack)).toMatchObject({ code: 0 });
    // The archive that the log tells of is this one.
    const [{ month }] = reply.json().log.archived;
    expect(month).toMatchObject({ month: '2025-01', receipts: 6, account: accountId });
    expect(python('check_archive.py', folder).out).toContain(`note ${month.note_sha256}`);
    writeFileSync(pack, reply.body.replace(month.note_sha256, '0'.repeat(64)));
    expect(python('recompute_pack.py', pack).out).toContain('archived month 2025-01: root of the log');
  }
});
