/** Packs as they are asked for: whose receipts, which, and what is said of those that are not in it. */
import { mostReceipts } from '@gw/contract/evidence';
import { signingKeyOf } from '@gw/contract/internal/evidence-keys';
import { verifyPack } from '@gw/evidence/verify';
import { identified, startTestApp, type TestApp } from '@gw/testing/control-plane/app';
import { callAt, type Entry, entryFrom, hourly, unknownModel } from '@gw/testing/control-plane/calls';
import { receiptIdAt } from '@gw/testing/control-plane/fixtures';
import { bytesOf } from '@gw/testing/evidence/made-packs';
import { afterAll, beforeAll, expect, test } from 'vitest';

let running: TestApp;
const accountId = 'acct_pack';
const at = (ms: number) => new Date(Date.parse('2026-11-21T10:00:00.000Z') + ms).toISOString();
const entryAt = (ms: number, options: Parameters<typeof entryFrom>[1] = {}): Entry =>
  entryFrom(callAt(at(ms)), { accountId, ...options });

const early = entryAt(-1);
const first = entryAt(0);
const middle = entryAt(1800_000);
const last = entryAt(3599_999);
const late = entryAt(3600_000);
const restated = entryFrom(callAt(at(1800_000), { grid: { ...hourly(at(0)), gPerKwh: 50 } }), {
  accountId,
  changes: { id: middle.receipt.id, version: 2, supersedes: 1 },
});
const foreign = entryFrom(callAt(at(0)), { accountId: 'acct_other' });
const degraded = entryFrom(callAt(at(5), { model: unknownModel }), { accountId });

beforeAll(async () => {
  running = await startTestApp(() => new Date('2026-11-21T12:00:00Z'));
  await running.store(early, first, middle, last, late, foreign, degraded);
  await running.store(restated);
}, 120_000);
afterAll(() => running?.stop());

const { publicJwk } = signingKeyOf('e1'.repeat(32));
const scopes = 'gw:read gw:lineage gw:export';

async function ask(body: object, headers: Record<string, string> = {}) {
  const reply = await running.app.inject({
    method: 'POST',
    url: '/v1/gw/evidence-pack',
    headers: identified({ 'x-gw-account-id': accountId, 'x-gw-scopes': scopes, ...headers }),
    payload: body,
  });
  return { status: reply.statusCode, type: reply.headers['content-type'], body: reply.json() };
}
const hour = { from: at(0), to: at(3600_000) };
const idsOf = (pack: { receipts: { receipt_id: string; version: number }[] }) =>
  pack.receipts.map(({ receipt_id, version }) => `${receipt_id} ${version}`);

test('a pack holds the receipts of the account from `from` to before `to`, all versions of each, and it verifies', async () => {
  const { body, status, type } = await ask({ ...hour, include_lineage: true });
  expect([status, type]).toEqual([200, 'application/ld+json; charset=utf-8']);
  const expected = [first, degraded, middle, restated, last].map(({ receipt }) => `${receipt.id} ${receipt.version}`);
  expect(idsOf(body)).toEqual(expected);
  expect(body.coverage).toMatchObject({
    receipts: 4,
    versions: 5,
    excluded: 0,
    listed: { restated: 1, superseded: 1, degraded: 1 },
  });
  expect(body.listed).toMatchObject({
    restated: [middle.receipt.id],
    superseded: [`urn:gw:receipt:${middle.receipt.id}:1`],
    degraded: [degraded.receipt.id],
  });
  const verified = await verifyPack(bytesOf(body), { trust: { thumbprint: publicJwk.kid } });
  expect(verified).toMatchObject({ signature: 'trusted', mismatches: [], receipts: 5, recomputed: 4 });
});

test('receipts can be asked for by their ids, and those that are not there are named with the reason', async () => {
  const unknown = receiptIdAt(new Date(at(0)));
  const { body } = await ask({ receipt_ids: [last.receipt.id, foreign.receipt.id, unknown] });
  expect(idsOf(body)).toEqual([`${last.receipt.id} 1`]);
  expect(body.excluded.map(({ receipt_id }: { receipt_id: string }) => receipt_id)).toEqual([
    foreign.receipt.id,
    unknown,
  ]);
  expect(body.temporal).toBeUndefined();
  const both = await ask({ receipt_ids: [last.receipt.id, late.receipt.id], ...hour });
  expect(idsOf(both.body)).toEqual([`${last.receipt.id} 1`]);
});

test('by model and by region', async () => {
  expect(idsOf((await ask({ ...hour, model: 'sim-small', region: 'eu-north' })).body)).toHaveLength(5);
  expect(idsOf((await ask({ ...hour, model: 'sim-large' })).body)).toEqual([]);
  expect(idsOf((await ask({ ...hour, region: 'us-east' })).body)).toEqual([]);
});

test('a receipt that was altered is not in the pack, and is named', async () => {
  const altered = entryAt(7200_000);
  await running.store(altered);
  await running.stores.tamper(`UPDATE receipts SET energy_wh = 7 WHERE id = '${altered.receipt.id}'`);
  const { body } = await ask({ receipt_ids: [altered.receipt.id] });
  expect(idsOf(body)).toEqual([]);
  expect(body.excluded).toMatchObject([{ receipt_id: altered.receipt.id, version: 1 }]);
});

test.each([
  [{}, 400, 'missing_required_parameter', 'from'],
  [{ to: at(0) }, 400, 'missing_required_parameter', 'from'],
  [{ from: at(0), to: at(0) }, 400, 'invalid_to', 'to'],
  [{ from: 'yesterday' }, 400, 'invalid_from', 'from'],
  [{ receipt_ids: [] }, 400, 'invalid_receipt_ids', 'receipt_ids'],
  [{ ...hour, tier: 'proxy' }, 400, 'invalid_tier', 'tier'],
])('%j is refused with %i %s', async (body, status, code, param) => {
  expect(await ask(body)).toMatchObject({ status, body: { error: { code, param } } });
});

test('lineages need their scope too', async () => {
  const { body, status } = await ask({ ...hour, include_lineage: true }, { 'x-gw-scopes': 'gw:export' });
  expect([status, body.error.code, body.error.param]).toEqual([403, 'insufficient_scope', 'include_lineage']);
});

test('more receipts than a reply can hold are left to a job, and none is left out in silence', async () => {
  const owner = 'acct_many';
  const many = Array.from({ length: mostReceipts.withLineage + 1 }, (_, ms) =>
    entryFrom(callAt(at(ms)), { accountId: owner }),
  );
  await running.store(...many);
  const headers = { 'x-gw-account-id': owner };
  const { body: job, status } = await ask({ ...hour, include_lineage: true }, headers);
  expect([status, job.object, job.state]).toEqual([202, 'gw.evidence_pack_job', 'queued']);
  expect(idsOf((await ask(hour, headers)).body)).toHaveLength(many.length);
});
