import { expect, test } from 'vitest';
import { isSealedSnapshot, snapshotSeals } from './snapshot-seal.ts';

const keyOf = (id: number) => ({ id, secret: Buffer.alloc(32, id) });
const text = '{"version":7,"deployments":[]}';

test('a catalogue is taken by each key that its control plane accepts, and by no other', () => {
  const seals = snapshotSeals(text, { current: keyOf(1), others: [keyOf(2)] });
  for (const id of [1, 2]) expect(isSealedSnapshot(text, seals, keyOf(id))).toBe(true);
  expect(isSealedSnapshot(text, seals, keyOf(3))).toBe(false);
  expect(isSealedSnapshot(text, seals, { ...keyOf(2), id: 1 })).toBe(false);
});

test('a catalogue that was changed, or lacks its seals, is not taken', () => {
  const seals = snapshotSeals(text, { current: keyOf(1), others: [] });
  expect(isSealedSnapshot(text.replace('7', '8'), seals, keyOf(1))).toBe(false);
  for (const other of ['', '1:', '1:é', seals.slice(0, -1), `${seals}0`, seals.toUpperCase(), ','.repeat(1000)])
    expect(isSealedSnapshot(text, other, keyOf(1)), other).toBe(false);
});
