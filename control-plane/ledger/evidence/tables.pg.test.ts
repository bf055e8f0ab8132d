/** Receipts as tables: what a spreadsheet and a Parquet reader get, and the signed statement of it. */
import { createHash } from 'node:crypto';
import { type PackJob, packFormats } from '@gw/contract/evidence';
import { signingKeyOf } from '@gw/contract/internal/evidence-keys';
import { verifyTable } from '@gw/evidence/table-statement';
import { identified, startTestApp } from '@gw/testing/control-plane/app';
import { callAt, type Entry, entryFrom, unknownModel } from '@gw/testing/control-plane/calls';
import { addresses, silentLog, testSeals } from '@gw/testing/control-plane/fixtures';
import { forFile } from '@gw/testing/for-file';
import { parquetMetadataAsync, parquetReadObjects } from 'hyparquet';
import { afterAll, beforeAll, expect, test, vi } from 'vitest';
import type { RepeatedJob } from '../../shared/repeat.ts';
import { columnsOf } from './builds/columns.ts';
import { startEvidenceJobs } from './builds/jobs.ts';

const running = forFile(() => startTestApp(() => new Date('2026-11-21T12:00:00Z')));
let job: RepeatedJob;
const accountId = 'acct_table';
const key = signingKeyOf('e1'.repeat(32));
const at = (n: number) => new Date(Date.parse('2026-11-20T10:00:00.000Z') + n * 1000).toISOString();
const formula = '=HYPERLINK("http://evil.example","click")';
// More than one group of rows.
const many = 5200;
let entries: Entry[];
beforeAll(async () => {
  const limits = { quotaBytes: 1e9 };
  const { db, objects, redisUrl } = running.stores;
  job = startEvidenceJobs({
    db,
    objects,
    redisUrl,
    addresses,
    log: silentLog,
    seals: testSeals,
    key,
    limits,
    concurrency: 1,
    tendEveryMs: 50,
  });
  entries = [
    entryFrom(callAt(at(0)), { accountId, changes: { model: formula } }),
    entryFrom(callAt(at(1), { model: unknownModel }), { accountId }),
    ...Array.from({ length: many }, (_, n) => entryFrom(callAt(at(2 + n)), { accountId })),
  ];
  for (let from = 0; from < entries.length; from += 1000) await running.store(...entries.slice(from, from + 1000));
});
afterAll(async () => {
  await job?.stop();
});

const headers = identified({ 'x-gw-account-id': accountId, 'x-gw-scopes': 'gw:lineage gw:export' });
const url = '/v1/gw/evidence-pack';

async function table(body: object) {
  const asked = await running.app.inject({ method: 'POST', url, headers, payload: { from: '2026-11-20', ...body } });
  expect(asked.statusCode, asked.body).toBe(202);
  const path = String(asked.headers.location);
  const done: PackJob = await vi.waitFor(
    async () => {
      const now = await running.app.inject({ url: path, headers: { ...headers, accept: 'application/json' } });
      expect(now.json().state).toBe('ready');
      return now.json();
    },
    { timeout: 60_000, interval: 50 },
  );
  const reply = await running.app.inject({ url: path, headers });
  return { done, bytes: reply.rawPayload, headers: reply.headers };
}
const sha256 = (bytes: Buffer, encoding: 'base64' | 'hex' = 'hex') =>
  createHash('sha256').update(bytes).digest(encoding);
const trust = { thumbprint: key.publicJwk.kid };

test('CSV has a row for each receipt, in plain decimals, and nothing in it is a formula', async () => {
  const { bytes, done, headers: sent } = await table({ format: 'csv' });
  expect(sent['content-type']).toBe('text/csv; charset=utf-8; header=present');
  const [head, first, second, ...others] = bytes.toString().split('\r\n');
  const names = String(head).split(',');
  expect(names).toEqual(columnsOf(false).map(({ name }) => name));
  expect(others).toHaveLength(many + 1);
  expect(first).toContain(`,"'${formula.replaceAll('"', '""')}",`);
  expect(bytes.toString()).not.toMatch(/(^|,)"?[=+\-@\t]/m);
  const cells = String(others[0])
    .replaceAll(/"(?:[^"]|"")*"/g, 'text')
    .split(',');
  const { receipt } = entries[2] as Entry;
  expect([cells[names.indexOf('id')], Number(cells[names.indexOf('energy_wh')])]).toEqual([
    receipt.id,
    receipt.energy_wh,
  ]);
  expect(cells[names.indexOf('energy_wh')]).toMatch(/^\d+\.\d+$/);
  // Unknown is empty, not zero.
  const degraded = String(second)
    .replaceAll(/"(?:[^"]|"")*"/g, 'text')
    .split(',');
  expect([degraded[names.indexOf('tier')], degraded[names.indexOf('energy_wh')]]).toEqual(['degraded', '']);
  expect(sent['repr-digest']).toBe(`sha-256=:${sha256(bytes, 'base64')}:`);
  expect(await verifyTable(sha256(bytes), done, trust)).toMatchObject({
    signature: 'trusted',
    mismatches: [],
    statement: { account: accountId, receipts: many + 2, excluded: 0, media_type: sent['content-type'] },
  });
});

test('Parquet has the same, typed, in groups', async () => {
  const { bytes, done } = await table({ format: 'parquet' });
  const file = new Uint8Array(bytes).buffer;
  const metadata = await parquetMetadataAsync({
    byteLength: file.byteLength,
    slice: async (from, to) => file.slice(from, to),
  });
  expect(metadata.row_groups.length).toBeGreaterThan(1);
  const rows = await parquetReadObjects({ file });
  expect(rows).toHaveLength(many + 2);
  for (const at of [0, 2, many]) {
    const { receipt } = entries[at] as Entry;
    expect(rows[at]).toMatchObject({ id: receipt.id, model: receipt.model, simulated: receipt.simulated ?? null });
    expect(rows[at]?.created_at).toEqual(new Date(receipt.created_at));
    expect(Number(rows[at]?.energy_wh)).toBeCloseTo(Number(receipt.energy_wh), 11);
    expect(rows[at]?.prompt_tokens).toBe(BigInt(Number(receipt.prompt_tokens)));
  }
  expect(rows[1]).toMatchObject({ tier: 'degraded', energy_wh: null });
  const altered = Buffer.from(bytes);
  altered[100] = (altered[100] ?? 0) ^ 1;
  expect(await verifyTable(sha256(bytes), done.statement, trust)).toMatchObject({
    signature: 'trusted',
    mismatches: [],
  });
  expect((await verifyTable(sha256(altered), done, trust)).mismatches).toMatchObject([{ field: 'sha256' }]);
  const another = { ...done.statement, account: 'acct_other' };
  expect((await verifyTable(sha256(bytes), another, trust)).signature).toBe('invalid');
});

test.each([
  [{ format: 'csv', include_lineage: true }, 'include_lineage'],
  [{ format: 'parquet', earlier_tree_size: 5 }, 'earlier_tree_size'],
  [{ format: 'xlsx' }, 'format'],
])('%j is refused, since there is no place for it', async (body, param) => {
  const reply = await running.app.inject({ method: 'POST', url, headers, payload: { from: '2026-11-20', ...body } });
  expect([reply.statusCode, reply.json().error.param]).toEqual([400, param]);
  expect(packFormats).not.toContain('xlsx');
});
