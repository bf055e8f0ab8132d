/**
 * What the parts of the release before have written is read by this one, and what a later release may add is passed over.
 * `v0.1.0.json` was recorded from that release: an entry of the ledger's stream, the catalogue, and a limit in Redis.
 */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { ledgerEntrySchema } from '@gw/contract/internal/ledger-entry';
import { snapshotSchema } from '@gw/contract/internal/snapshot';
import { parseEntry } from '@gw/control-plane/internals/ledger/receipts/entry-row';
import { makeCatalogue } from '@gw/receipt-sidecar/internals/catalogue/snapshot';
import { expect, test } from 'vitest';

type Json = Record<string, unknown>;
const recorded: { ledgerEntry: Json & { receipt: Json; routingTrace: Json }; snapshot: Json & { models: Json[] } } =
  JSON.parse(readFileSync(join(import.meta.dirname, 'v0.1.0.json'), 'utf8'));
const { ledgerEntry, snapshot } = recorded;

test('a receipt of the release before goes into the ledger as it is', () => {
  const { receipt, routingTrace, facts } = ledgerEntry;
  expect(parseEntry(JSON.stringify(ledgerEntry))).toMatchObject({
    row: { id: receipt.id, body: receipt, routing_trace: routingTrace, facts },
  });
});

test('of a later release it does so too, with fields that nobody knows here, at any depth', () => {
  const later = {
    ...ledgerEntry,
    more: 1,
    receipt: { ...ledgerEntry.receipt, more: { deep: [] } },
    routingTrace: { ...ledgerEntry.routingTrace, attempts: { more: true }, candidates: [{ more: 1 }] },
  };
  expect(parseEntry(JSON.stringify(later))).toMatchObject({
    row: { body: later.receipt, routing_trace: later.routingTrace },
  });
});

test('one whose known fields have become something else is set aside for a human (closed): no row could be true', () => {
  const other = { ...ledgerEntry, receipt: { ...ledgerEntry.receipt, tier: 'of-tomorrow' } };
  expect(ledgerEntrySchema.safeParse(other).success).toBe(false);
  expect(parseEntry(JSON.stringify(other))).toEqual({ poison: 'receipt.tier: invalid_value' });
});

test('a catalogue of the release before is taken up, and one with fields that nobody knows here', () => {
  const models = snapshot.models.map((model) => ({ ...model, more: 1 }));
  for (const each of [snapshot, { ...snapshot, models, more: {} }]) {
    const catalogue = makeCatalogue(snapshotSchema.parse(each));
    expect([...catalogue.named.keys()].sort()).toEqual(snapshot.models.map(({ id }) => id).sort());
  }
});

test('a catalogue whose known fields have become something else is refused whole, and the last one stays (closed)', () => {
  const models = snapshot.models.map((model) => ({ ...model, kind: 'of-tomorrow' }));
  expect(snapshotSchema.safeParse({ ...snapshot, models }).success).toBe(false);
});
