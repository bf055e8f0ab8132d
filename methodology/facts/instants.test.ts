import fc from 'fast-check';
import { expect, test } from 'vitest';
import { msOf, textOf } from './instants.ts';

const instant = fc.date({ noInvalidDate: true }).map(Number);
const texts = fc.oneof(
  instant.map((ms) => new Date(ms).toISOString()),
  fc.string({ maxLength: 60 }),
  fc.constantFrom('2026-11-27', '2026-11-27T10:00:00+02:00', '2026-11-27T10:00Z', ''),
);

test('are what Date says of them, however often and in whatever order they are asked for', () => {
  const [some, many] = [fc.sample(texts, { seed: 1, numRuns: 1500 }), fc.sample(instant, { seed: 1, numRuns: 1500 })];
  for (let round = 0; round < 3; round += 1) {
    for (const text of some) expect(msOf(text)).toBe(Date.parse(text));
    for (const ms of many) expect(textOf(ms)).toBe(new Date(ms).toISOString());
  }
});

test('a number that is no time is refused each time', () => {
  for (let round = 0; round < 2; round += 1) expect(() => textOf(Number.NaN)).toThrow(RangeError);
});
