import type { Receipt } from '@gw/contract/receipt';
import type { CallFacts } from '@gw/methodology/assess';
import { call } from '@gw/methodology/internals/testdata/facts';
import { rowsOf } from '@gw/testing/control-plane/calls';
import { entryOf, type Stores, startStores } from '@gw/testing/control-plane/fixtures';
import { storeEntries } from '@gw/testing/control-plane/store-entries';
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest';
import { type NewVersion, nextVersion, supersede } from './supersede.ts';

let stores: Stores;
beforeAll(async () => {
  stores = await startStores();
}, 120_000);
afterAll(() => stores?.stop());
beforeEach(() => stores.empty('receipts'));

type Entry = ReturnType<typeof entryOf>;

const ingest = (...entries: Entry[]) => storeEntries(stores.db, entries, stores.seals);

const madeAnew: CallFacts = { ...call, upstreamLatencyS: 9 };
const changed = (current: Receipt, changes: Partial<Receipt>, facts: CallFacts = madeAnew): NewVersion => {
  const { id, object, version, supersedes, created_at, request_id, status, ...rest } = current;
  const { requested_tier, model, provider, region, usage_source, ...numbers } = rest;
  return { current, numbers: { ...numbers, ...changes }, facts };
};
const rows = () => rowsOf(stores.db);

test('the new version has the numbers and facts given, and everything else of the one before, which stays', async () => {
  const entry = entryOf({ carbon_g: 1 });
  await ingest(entry);
  const [before] = await rows();
  const version = changed(entry.receipt as Receipt, { carbon_g: 2, energy_wh: 3 });
  expect(await supersede(stores.db, [version], stores.seals)).toEqual(new Set([entry.receipt.id]));
  const [first, second] = await rows();
  expect(first).toEqual(before);
  expect({ ...second, body: JSON.parse(second?.body ?? ''), facts: JSON.parse(second?.facts ?? '') }).toEqual({
    ...before,
    version: 2,
    energy_wh: 3,
    carbon_g: 2,
    body: {
      ...entry.receipt,
      version: 2,
      supersedes: 1,
      carbon_g: 2,
      energy_wh: 3,
      lineage_digest: expect.stringMatching(/^sha256:/) as unknown,
    },
    // The parts by their digests (facts-parts.ts).
    facts: expect.objectContaining({ upstreamLatencyS: 9, parts: expect.any(Object) }),
    compressed: expect.any(Uint8Array),
    content_sha256: expect.stringMatching(/^[0-9a-f]{64}$/),
    seal: expect.stringMatching(/^[0-9a-f]{64}$/),
  });
  expect(second?.content_sha256).not.toBe(before?.content_sha256);
});

test('many at once make one version, and what is already superseded is left alone', async () => {
  const entries = [entryOf(), entryOf(), entryOf()];
  await ingest(...entries);
  const versions = entries.map(({ receipt }) => changed(receipt as Receipt, { carbon_g: 2 }));
  const made = await Promise.all(Array.from({ length: 8 }, () => supersede(stores.db, versions, stores.seals)));
  expect(made.reduce((count, ids) => count + ids.size, 0)).toBe(3);
  expect((await rows()).map(({ version }) => version)).toEqual([1, 2, 1, 2, 1, 2]);
  expect((await supersede(stores.db, versions, stores.seals)).size).toBe(0);
  const second = versions.map((version) => changed(nextVersion(version), { carbon_g: 4 }));
  expect((await supersede(stores.db, second, stores.seals)).size).toBe(3);
  expect((await supersede(stores.db, versions, stores.seals)).size).toBe(0);
  expect((await rows()).map(({ version }) => version)).toEqual([1, 2, 3, 1, 2, 3, 1, 2, 3]);
});

test('a call whose stand-in receipt did not know the provider is called simulated once the facts say so', () => {
  const standIn = entryOf().receipt as Receipt;
  expect(nextVersion(changed(standIn, {}))).not.toHaveProperty('simulated');
  const second = nextVersion(changed(standIn, {}, { ...call, simulated: true }));
  expect(second.simulated).toBe(true);
  expect(nextVersion(changed(second, {})).simulated).toBe(true);
});

test('a receipt that is not in the ledger gets no version', async () => {
  expect((await supersede(stores.db, [changed(entryOf().receipt as Receipt, {})], stores.seals)).size).toBe(0);
  expect(await rows()).toEqual([]);
});

test('what arrives late as version 1 never touches a later version', async () => {
  const entry = entryOf();
  const shown = {
    ...entry,
    receipt: { ...entry.receipt, tier: 'degraded' as const, energy_wh: null, carbon_g: null },
    shown: true as const,
  };
  await ingest(entry);
  await supersede(stores.db, [changed(entry.receipt as Receipt, { carbon_g: 2 })], stores.seals);
  const [, second] = await rows();
  await ingest(shown, entry);
  const [first, still] = await rows();
  expect(first).toMatchObject({ version: 1, tier: 'degraded', energy_wh: null });
  expect(still).toEqual(second);
});

test('a receipt that got a new version no longer waits to be recalculated', async () => {
  const [one, two] = [entryOf(), entryOf()];
  await ingest(one, two);
  for (const { receipt } of [one, two])
    await stores.db.recalculation.create({ data: { receiptId: receipt.id, createdAt: new Date(receipt.created_at) } });
  await supersede(stores.db, [changed(one.receipt as Receipt, {})], stores.seals);
  expect((await stores.db.recalculation.findMany()).map(({ receiptId }) => receiptId)).toEqual([two.receipt.id]);
});
