import { expect, test } from 'vitest';
import { causeOf, type Ground, shortcomingOf } from './compare.ts';

const known: Ground = {
  heartbeat: 10,
  generation: 7,
  batch: 3,
  head: 'h3',
  receipts: 30,
  server: '7/16384',
  timeline: '00000001',
};
const found = (changes: Partial<Ground> = {}): Ground => ({
  ...known,
  heartbeat: 12,
  batch: 5,
  head: 'h5',
  ...changes,
});

test.each<[string, Ground | null, Ground, string | null, ReturnType<typeof shortcomingOf>]>([
  ['nothing is known', null, found({ heartbeat: 0 }), null, null],
  ['it has gone on', known, found(), 'h3', null],
  ['the heartbeat has fallen', known, found({ heartbeat: 9 }), 'h3', 'older'],
  ['the generation of keys has fallen', known, found({ generation: 6 }), 'h3', 'older'],
  ['the newest batch is gone', known, found(), null, 'older'],
  ['another batch has its number', known, found(), 'other', 'older'],
  ['no batch was known', { ...known, batch: 0, head: '' }, found(), null, null],
  ['it is new', known, found({ heartbeat: 0, generation: 1 }), null, 'empty'],
  ['it is another server', known, found({ server: '8/16384' }), 'h3', 'another'],
  ['it is another timeline', known, found({ timeline: '00000002' }), 'h3', 'another'],
  ['a managed server tells neither', known, found({ server: '', timeline: '' }), 'h3', null],
])('%s', (_, before, now, head, expected) => {
  expect(shortcomingOf(before, now, head)).toBe(expected);
});

test.each(['older', 'empty', 'another'] as const)('the cause and the cure of %s are named', (why) => {
  expect(causeOf(why)).toMatch(/^Postgres .*restore confirm.*docs\/operations\.md#/);
});
