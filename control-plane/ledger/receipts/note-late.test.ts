import { callAt, entryFrom } from '@gw/testing/control-plane/calls';
import { expect, test } from 'vitest';
import { parseEntry } from './entry-row.ts';
import { gridUsed } from './note-late.ts';

function row(changes: Readonly<Record<string, unknown>> = {}) {
  const parsed = parseEntry(JSON.stringify(entryFrom(callAt('2026-07-01T12:00:00.000Z'))));
  if ('poison' in parsed) throw new Error(parsed.poison);
  return { ...parsed.row, body: { ...(parsed.row.body as object), ...changes } };
}
const used = (changes?: Readonly<Record<string, unknown>>) => JSON.parse(gridUsed(row(changes)) ?? 'null');

test('two calls of one second with one value are told apart by whether it stood in for another', () => {
  const [own, standsIn] = [used({ grid_temporal_match: 'exact' }), used({ grid_temporal_match: 'annual_fallback' })];
  expect([own.stands_in, standsIn.stands_in]).toEqual([false, true]);
  expect(used({ grid_temporal_match: 'exact' })).toEqual(own);
  expect({ ...standsIn, stands_in: false }).toEqual(own);
});
