import { callAt, entryFrom } from '@gw/testing/control-plane/calls';
import { rowOfEntry } from '@gw/testing/control-plane/store-entries';
import { expect, test } from 'vitest';
import { contradictionOf as contradictionIn } from './contradiction.ts';
import type { ReceiptRow } from './entry-row.ts';

const at = '2026-07-01T12:00:00.000Z';
const made = rowOfEntry(entryFrom(callAt(at)));
const now = { byEarlierKey: false, nowMs: Date.parse(at) };
const contradictionOf = (row: ReceiptRow, how: typeof now): string | null =>
  contradictionIn(row, { ...how, written: JSON.stringify(row.body) });
const stating = (changes: object) => ({ ...made, body: { ...(made.body as object), ...changes } });

test('each number and word that the methodology gives is made again', () => {
  expect(contradictionOf(made, now)).toBeNull();
  const receipt = made.body as Readonly<Record<string, unknown>>;
  for (const field of ['energy_wh', 'energy_low_wh', 'carbon_g', 'water_ml', 'pue'])
    expect(contradictionOf(stating({ [field]: Number(receipt[field]) + 1e-9 }), now), field).toBe(
      `its facts do not give its numbers: receipt.${field}`,
    );
  expect(contradictionOf(stating({ simulated: true }), now)).toContain('receipt.simulated');
});

test('facts of any shape are an answer', () => {
  for (const facts of [null, {}, [], 'text', 7, { model: null }, { ...(made.facts as object), grid: { gPerKwh: -1 } }])
    expect(contradictionOf({ ...made, facts }, now), JSON.stringify(facts)).not.toBeNull();
});

test('the digest is made again for some, and for all that come late or by an earlier key', () => {
  const other = (id: string) => ({ ...stating({ lineage_digest: `sha256:${'0'.repeat(64)}` }), id });
  const [looked, not] = [`${made.id.slice(0, -1)}0`, `${made.id.slice(0, -1)}1`];
  expect(contradictionOf(other(looked), now)).toContain('receipt.lineage_digest');
  expect(contradictionOf(other(not), now)).toBeNull();
  expect(contradictionOf(other(not), { ...now, byEarlierKey: true })).toContain('receipt.lineage_digest');
  expect(contradictionOf(other(not), { ...now, nowMs: now.nowMs + 3_600_000 })).toContain('receipt.lineage_digest');
});

test('what has no numbers, or was made by a methodology that is not known here, contradicts nothing', () => {
  expect(contradictionOf({ ...made, tier: 'degraded', facts: null }, now)).toBeNull();
  expect(contradictionOf(stating({ methodology: 'gw-99.0' }), now)).toBeNull();
});

test('a receipt that could be read in two ways is found as its digest is', () => {
  const written = JSON.stringify(made.body).replace(/}$/, ',"carbon_g":1}');
  const [looked, not] = [`${made.id.slice(0, -1)}0`, `${made.id.slice(0, -1)}1`].map((id) => ({ ...made, id }));
  for (const [row, how] of [
    [looked, now],
    [not, { ...now, byEarlierKey: true }],
    [not, { ...now, nowMs: now.nowMs + 3_600_000 }],
    [{ ...not, tier: 'degraded', facts: null }, now],
  ] as const)
    expect(contradictionIn(row as ReceiptRow, { ...how, written })).toBe(
      'its receipt is not written as a sidecar writes it',
    );
});
