/** An admin can put back a receipt that a wrong seal hides, and only a genuine row. */
import { seedOperators } from '@gw/testing/control-plane/access';
import { runAs } from '@gw/testing/control-plane/admin';
import { startTestApp } from '@gw/testing/control-plane/app';
import { unattended } from '@gw/testing/control-plane/calls';
import { entryOf, receiptIdAt, silentLog } from '@gw/testing/control-plane/fixtures';
import { forFile } from '@gw/testing/for-file';
import { beforeAll, beforeEach, expect, test } from 'vitest';
import { readAudit } from '../../people/audit/read.ts';
import { checkPage } from '../integrity/check-receipts.ts';

const running = forFile(startTestApp);
let tokens: Awaited<ReturnType<typeof seedOperators>>;
beforeAll(async () => {
  tokens = await seedOperators(running.context);
});
beforeEach(() => running.stores.empty('receipts', 'receipt_replacements', 'integrity_faults'));

type Entry = Parameters<typeof unattended>[0];

/** A receipt of an hour ago that was stored as a stand-in and settled since, so that one genuine row was replaced. */
async function settled(): Promise<Entry> {
  const entry = entryOf({ id: receiptIdAt(new Date(Date.now() - 3_600_000)) }) as Entry;
  await running.store(unattended(entry, { shown: false }));
  await running.store(entry);
  return entry;
}

/** As somebody with the rights of the services does it, who has no key. */
const forge = (id: string): Promise<unknown> => running.stores.db.$queryRaw`
  SELECT * FROM settle_receipts((SELECT json_agg(json_build_object('id', id, 'created_at', created_at, 'replaces', content_sha256,
    'model', model, 'region', region, 'tier', 'degraded', 'status', status, 'prompt_tokens', prompt_tokens,
    'completion_tokens', completion_tokens, 'energy_wh', NULL, 'carbon_g', NULL, 'routing_trace', routing_trace, 'facts', facts,
    'shown', TRUE, 'content_sha256', repeat('a', 64), 'seal', repeat('a', 64), 'seal_key', 1,
    'body', (body::jsonb || '{"tier":"degraded","energy_wh":null,"carbon_g":null}')::json)) FROM receipts WHERE id = ${id}))`;

const gw = (...args: string[]) =>
  runAs(running, tokens.admin, args).catch((error: unknown) => ({ code: 1, out: String(error) }));
const read = async (id: string) => {
  const reply = await running.get(`/v1/gw/receipts/${id}`);
  return { status: reply.statusCode, body: reply.json() };
};
const faults = async () => {
  const { db, seals } = running.stores;
  return (await checkPage({ db, log: silentLog, seals }, { id: '', version: 0 })).faults.map(({ fault }) => fault);
};

test('a receipt that was settled with a made-up seal is put back, once, by an admin alone, and the audit log has it', async () => {
  const { receipt } = await settled();
  const { id } = receipt;
  await forge(id);
  expect((await read(id)).body.error.code).toBe('receipt_integrity_failed');
  const payload = { receipt_id: id };
  const url = '/operator/v1/receipts/restore';
  const headers = { authorization: `Bearer ${tokens.support}` };
  expect((await running.operator.inject({ method: 'POST', url, headers, payload })).statusCode).toBe(403);
  expect((await gw('receipts', 'restore', id)).out).toContain('content_sha256');
  expect(await read(id)).toMatchObject({ status: 200, body: receipt });
  expect(await faults()).toEqual([]);
  const [row] = await running.stores.db.receipt.findMany({ where: { id } });
  const account = String(row?.accountId);
  const [entry] = await readAudit(running.stores.db, account, { order: 'desc', limit: 1 });
  expect(entry).toMatchObject({
    action: 'receipt.restored',
    target: `receipt:${id}`,
    before: { content_sha256: 'a'.repeat(64) },
    after: { content_sha256: row?.contentSha256 },
  });
  const again = await gw('receipts', 'restore', id);
  expect([again.code, again.out]).toEqual([1, expect.stringContaining('there is nothing to restore')]);
  expect((await gw('receipts', 'restore', 'rcpt_none')).out).toContain('No row of this version');
});

test('a row that was put back to an older genuine one by somebody else is named, and can be put right', async () => {
  const { receipt } = await settled();
  const { id } = receipt;
  expect(await faults()).toEqual([]);
  await running.stores.db.$queryRaw`
    SELECT restore_receipt((SELECT min(seq) FROM receipt_replacements), (SELECT content_sha256 FROM receipts WHERE id = ${id}))`;
  expect((await read(id)).body.tier).toBe('degraded');
  expect(await faults()).toEqual(['rolled back']);
  expect((await gw('receipts', 'restore', id)).code).toBe(0);
  expect(await read(id)).toMatchObject({ status: 200, body: receipt });
  expect(await faults()).toEqual([]);
});

test('what was never replaced by a genuine row has to come from a backup', async () => {
  const { receipt } = await settled();
  await running.stores.tamper(`UPDATE receipts SET carbon_g = 9 WHERE id = '${receipt.id}'`);
  await running.stores.tamper(`UPDATE receipt_replacements SET replaced = '{"id":5}'`);
  const refused = await gw('receipts', 'restore', receipt.id);
  expect([refused.code, refused.out]).toEqual([1, expect.stringContaining('restore it from a backup')]);
});

/** Gives the rows that were replaced another number, in the column and in the receipt: all but the seal fits. */
const forgeReplaced = () =>
  running.stores.tamper(`
    UPDATE receipt_replacements SET replaced = (replaced::jsonb || jsonb_build_object('carbon_g', 0.001, 'body',
      (replaced -> 'body')::jsonb || '{"carbon_g":0.001}'))::json`);

test('a row that was replaced and has been forged since is not put back in place of an altered one', async () => {
  const { receipt } = await settled();
  await forgeReplaced();
  await running.stores.tamper(`UPDATE receipts SET carbon_g = 9 WHERE id = '${receipt.id}'`);
  const refused = await gw('receipts', 'restore', receipt.id);
  expect([refused.code, refused.out]).toEqual([1, expect.stringContaining('restore it from a backup')]);
});

test('a row that came later and has been forged since does not take the place of a genuine one', async () => {
  const { receipt } = await settled();
  const { id } = receipt;
  await running.stores.db.$queryRaw`
    SELECT restore_receipt((SELECT min(seq) FROM receipt_replacements), (SELECT content_sha256 FROM receipts WHERE id = ${id}))`;
  await forgeReplaced();
  expect(await faults()).toEqual([]);
  const refused = await gw('receipts', 'restore', id);
  expect([refused.code, refused.out]).toEqual([1, expect.stringContaining('there is nothing to restore')]);
  expect((await read(id)).body.tier).toBe('degraded');
});
