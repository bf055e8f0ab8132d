import fc from 'fast-check';
import { expect, test } from 'vitest';
import { foldCodePoint } from './fold.ts';
import { latinShapes } from './lookalikes.ts';
import { lettersOf, normalise } from './normalise.ts';

const highest = 0x10ffff;
const isSurrogate = (codePoint: number) => codePoint >= 0xd800 && codePoint <= 0xdfff;
const everyCodePoint = function* () {
  for (let codePoint = 1; codePoint <= highest; codePoint++) if (!isSurrogate(codePoint)) yield codePoint;
};

test('what is folded once stays as it is, for every code point there is', () => {
  for (const codePoint of everyCodePoint()) {
    const folded = foldCodePoint(codePoint);
    const again = [...folded].map((letter) => foldCodePoint(letter.codePointAt(0) ?? 0)).join('');
    if (again !== folded) expect(again, codePoint.toString(16)).toBe(folded);
  }
});

test('format characters, marks on letters and what has no shape leave nothing, for every code point there is', () => {
  for (const codePoint of everyCodePoint()) {
    const text = String.fromCodePoint(codePoint);
    if (!/[\p{Cf}\p{Mn}\p{Me}\p{Variation_Selector}\p{Default_Ignorable_Code_Point}]/u.test(text)) continue;
    if (foldCodePoint(codePoint) !== '') expect(foldCodePoint(codePoint), codePoint.toString(16)).toBe('');
  }
});

test('each letter that looks like a Latin one becomes a small Latin letter', () => {
  expect(latinShapes.size).toBeGreaterThan(250);
  for (const [letter, latin] of latinShapes) {
    expect(foldCodePoint(letter.codePointAt(0) ?? 0), letter).toBe(latin.toLowerCase());
    expect(latin).toMatch(/^[A-Za-z]{1,2}$/);
  }
});

/** A whole phrase in one sign. */
const phrase = '\ufdfa';
const unicodeText = fc
  .string({ unit: 'binary', maxLength: 60 })
  .map((text) => text.replaceAll('\0', '').replaceAll(phrase, ''));

test('no code point becomes more than eight letters and gaps; the one that would is a letter of its own', () => {
  for (const codePoint of everyCodePoint()) {
    const folded = foldCodePoint(codePoint);
    if (folded.length > 8) expect(folded, codePoint.toString(16)).toBe('');
  }
  expect(phrase.normalize('NFKC')).toHaveLength(18);
  expect(normalise(`a ${phrase}b`)).toBe(`a ${phrase}b`);
});

test('texts that NFKC takes for the same are the same, and so are texts in capitals', () => {
  fc.assert(
    fc.property(unicodeText, (text) => {
      expect(lettersOf(text.normalize('NFKC'))).toBe(lettersOf(text));
      expect(lettersOf(text.normalize('NFD'))).toBe(lettersOf(text));
    }),
  );
  fc.assert(
    fc.property(fc.string({ maxLength: 60 }), (text) => {
      expect(normalise(text.toUpperCase())).toBe(normalise(text));
    }),
  );
});

test('a normalised text has its words one space apart, and normalising it again changes nothing', () => {
  fc.assert(
    fc.property(unicodeText, (text) => {
      const normalised = normalise(text);
      expect(normalise(normalised)).toBe(normalised);
      expect(normalised).not.toMatch(/^ | {2}| $/);
      expect(normalised.replaceAll(' ', '')).toBe(lettersOf(text));
    }),
  );
  expect(normalise('  Tést — of\tthe\r\n “ﬁnal” ½ №1!  ')).toBe('test of the final 1 2 no1');
});
