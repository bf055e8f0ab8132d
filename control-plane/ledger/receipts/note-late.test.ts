import { callAt, entryFrom } from '@gw/testing/control-plane/calls';
import { rowOfEntry } from '@gw/testing/control-plane/store-entries';
import { expect, test } from 'vitest';
import { gridUsed } from './note-late.ts';

function row(changes: Readonly<Record<string, unknown>> = {}) {
  const made = rowOfEntry(entryFrom(callAt('2026-07-01T12:00:00.000Z')));
  return { ...made, body: { ...(made.body as object), ...changes } };
}
const used = (changes?: Readonly<Record<string, unknown>>) => JSON.parse(gridUsed(row(changes)) ?? 'null');

test('two calls of one second with one value are told apart by whether it stood in for another', () => {
  const [own, standsIn] = [used({ grid_temporal_match: 'exact' }), used({ grid_temporal_match: 'annual_fallback' })];
  expect([own.stands_in, standsIn.stands_in]).toEqual([false, true]);
  expect(used({ grid_temporal_match: 'exact' })).toEqual(own);
  expect({ ...standsIn, stands_in: false }).toEqual(own);
});
