/** A statement is genuine by one of two keys, and only where it stands. */
import { expect, test } from 'vitest';
import { isStatementGenuine, statementCode } from './witness.ts';

const [current, previous, other] = [Buffer.alloc(32, 1), Buffer.alloc(32, 2), Buffer.alloc(32, 3)];
const place = { life: 'one', seq: 7 };
const text = '{"calls":[],"unsure":[],"isLast":false}';

test('by the key that signs, and by the one before while that is accepted', () => {
  const byOld = statementCode(previous, place, text);
  expect(isStatementGenuine({ current, previous: null }, place, text, statementCode(current, place, text))).toBe(true);
  expect(isStatementGenuine({ current, previous }, place, text, byOld)).toBe(true);
  expect(isStatementGenuine({ current, previous: null }, place, text, byOld)).toBe(false);
  expect(isStatementGenuine({ current, previous }, place, text, statementCode(other, place, text))).toBe(false);
});

test('of its life and number alone, in its own words', () => {
  const code = statementCode(current, place, text);
  const isGenuine = (at = place, words = text, shown = code) =>
    isStatementGenuine({ current, previous: null }, at, words, shown);
  expect(isGenuine()).toBe(true);
  expect(isGenuine({ ...place, seq: 8 })).toBe(false);
  expect(isGenuine({ ...place, life: 'two' })).toBe(false);
  expect(isGenuine(place, text.replace('false', 'true'))).toBe(false);
  for (const shown of ['', code.slice(1), `${code}0`, 'é'.repeat(64)])
    expect(isGenuine(place, text, shown)).toBe(false);
});
