import { expect, test } from 'vitest';
import { lettersPerByte } from './growth.ts';
import { lettersOf } from './normalise.ts';

/** Looks at 32 places, evenly. */
const evenly = () => {
  let place = 0;
  return () => (place++ % 32) / 32;
};

test.each([
  ['English', 'the committee reviewed the report '],
  ['Arabic', 'صلى الله عليه وسلم '],
  ['Chinese', '今天天气很好我们去公园散步'],
  ['emoji', '😀👍🏽'],
  ['combining marks', 'e\u0301\u0302\u0303'],
  ['a sign that becomes seven letters', '\ufdfb'],
  ['a sign that stays one', '\ufdfa'],
])('the letters of %s are estimated from a sample', (_, words) => {
  const text = words.repeat(500);
  const bytes = Buffer.from(text);
  const really = lettersOf(text).length / bytes.length;
  expect(lettersPerByte(bytes, evenly())).toBeGreaterThan(0.6 * really - 0.1);
  expect(lettersPerByte(bytes, evenly())).toBeLessThan(1.4 * really + 0.1);
});

test('bytes that are no text, or none at all, are estimated too', () => {
  expect(lettersPerByte(Buffer.alloc(0))).toBe(0);
  expect(lettersPerByte(Buffer.alloc(1000, 0x80))).toBeGreaterThanOrEqual(0);
  expect(lettersPerByte(Buffer.alloc(1000, 0xff))).toBeLessThan(3);
});
