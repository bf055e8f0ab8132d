import { cases } from '@gw/testing/cases';
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { defaultThreshold } from './config.ts';
import { isComparable, normaliseName } from './normalise.ts';
import { jaroWinkler, nameSimilarity } from './similarity.ts';

const score = (one: string, other: string): number => nameSimilarity(normaliseName(one), normaliseName(other));

test.each([
  ['the same', 'Borealis Munitions', 'Borealis Munitions'],
  ['case and punctuation', 'BOREALIS-MUNITIONS', 'borealis munitions'],
  ['legal forms', 'Borealis Munitions LLC', 'Borealis Munitions Ltd.'],
  ['dotted legal forms', 'Borealis Munitions S.A.', 'Borealis Munitions'],
  ['a legal form of several words', 'Public Joint Stock Company Zarya Metall', 'PJSC Zarya Metall'],
  ['word order, as lists write persons', 'Petrunov, Igor', 'Igor Petrunov'],
  ['diacritics', 'Järvelä Öztürk', 'Jarvela Ozturk'],
  ['letters without decomposition', 'Łukasz Sørensen', 'Lukasz Sorensen'],
  ['Cyrillic', 'Игорь Петрунов', 'Igor Petrunov'],
  ['Cyrillic legal form', 'ООО Заря Металл', 'Zarya Metall'],
  ['Greek', 'Νικος Παππας', 'Nikos Pappas'],
  ['a letter left out', 'Borealis Munitons', 'Borealis Munitions'],
  ['letters exchanged', 'Igor Pertunov', 'Igor Petrunov'],
  ['a letter doubled', 'Borrealis Munitions', 'Borealis Munitions'],
  ['another transliteration', 'Mohammed Al-Rashidi', 'Muhammad al Rashidi'],
  ['a patronymic left out', 'Igor Petrunov', 'PETRUNOV, Igor Sergeyevich'],
  ['a gap inside of a word', 'Aero Borealis', 'AEROBOREALIS'],
  ['a generic word added', 'Borealis Munitions', 'Borealis Munitions Trading Group'],
  ['full-width letters', 'Ｂｏｒｅａｌｉｓ Munitions', 'Borealis Munitions'],
  ['invisible characters', 'Bore\u00adalis Muni\u200btions', 'Borealis Munitions'],
])('is found: %s', (_, one, other) => {
  expect(score(one, other)).toBeGreaterThanOrEqual(defaultThreshold);
});

test.each([
  ['another company', 'Northwind Analytics', 'Borealis Munitions'],
  ['one shared generic word', 'First National Bank', 'National Development Bank'],
  ['generic words alone', 'National Bank', 'National Bank of Ruritania'],
  ['the same first name', 'Igor Karelin', 'Igor Petrunov'],
  ['the same family name', 'Anna Petrunov', 'Igor Petrunov'],
  ['a shared first word', 'Borealis Bakery', 'Borealis Munitions'],
  ['a short name inside of a long one', 'Ali Tan', 'Alistair Tanner'],
  ['a common particle', 'Al Noor Hospital', 'Al Rashid Trust'],
  ['nothing', '', 'Borealis Munitions'],
])('is not taken for it: %s', (_, one, other) => {
  expect(score(one, other)).toBeLessThan(defaultThreshold);
});

// The examples of Winkler's report.
test.each([
  ['martha', 'marhta', 0.9611],
  ['dwayne', 'duane', 0.84],
  ['dixon', 'dicksonx', 0.8133],
])('Jaro-Winkler of %s and %s is %f', (a, b, expected) => {
  expect(jaroWinkler(a, b)).toBeCloseTo(expected, 4);
});

const someName = fc.oneof(
  fc.string({ unit: 'grapheme', maxLength: 60 }),
  fc.string({ unit: 'binary', maxLength: 40 }),
  fc
    .array(fc.constantFrom('Ivan', 'Petrov', 'Al', 'Bank', 'Ltd', 'S.A.', 'Öz', 'Заря', 'joint stock company', '"-"'), {
      maxLength: 6,
    })
    .map((words) => words.join(' ')),
);

test('normalising twice gives what normalising once gives', () => {
  fc.assert(
    fc.property(someName, (name) => {
      const once = normaliseName(name);
      expect(normaliseName(once.join(' '))).toEqual(once);
    }),
    { numRuns: cases(2000) },
  );
});

test('a name is made of words without blanks, capitals, or marks', () => {
  fc.assert(
    fc.property(someName, (name) => {
      for (const word of normaliseName(name)) expect(word).toMatch(/^[\p{L}\p{N}]+$/u);
    }),
  );
});

test('letters from a to z survive whatever is done to case, marks and gaps', () => {
  const word = fc.stringMatching(/^[a-z]{5,9}$/);
  fc.assert(
    fc.property(fc.array(word, { minLength: 1, maxLength: 4 }), (words) => {
      const disguised = words.map((each) => `${each.toUpperCase().replace(/([AEO])/g, '$1\u0301')}`).join(' – ');
      expect(normaliseName(disguised)).toEqual(normaliseName(words.join(' ')));
    }),
  );
});

test('the score is symmetric, from 0 to 1, and 1 for the same name', () => {
  fc.assert(
    fc.property(someName, someName, (one, other) => {
      const there = score(one, other);
      expect(there).toBeGreaterThanOrEqual(0);
      expect(there).toBeLessThanOrEqual(1);
      expect(score(other, one)).toBeCloseTo(there, 10);
      if (normaliseName(one).length > 0) expect(score(one, one)).toBe(1);
    }),
    { numRuns: cases(2000) },
  );
});

test('the order of words makes no difference to the pairs', () => {
  const words = fc.uniqueArray(fc.constantFrom('igor', 'petrunov', 'sergeyevich', 'borealis', 'zarya'), {
    minLength: 2,
  });
  fc.assert(
    fc.property(words, (given) => {
      expect(score(given.join(' '), [...given].reverse().join(' '))).toBe(1);
    }),
  );
});

test('a name in a script without a table is told apart, so that it is not cleared by Latin names', () => {
  expect(isComparable(normaliseName('北极光'))).toBe(false);
  expect(isComparable(normaliseName('الشفق'))).toBe(false);
  expect(isComparable(normaliseName('★ ★'))).toBe(false);
  expect(isComparable(normaliseName('Игорь Ёлкин-Šimić'))).toBe(true);
});
