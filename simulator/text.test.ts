import fc from 'fast-check';
import { expect, test } from 'vitest';
import { answerText, countTokens, cutAtStop, cutTokens, inTurn, slice, splitTokens, type TextStyle } from './text.ts';

const anyText = fc.string({ unit: 'grapheme' });
const style = fc.constantFrom<TextStyle>('plain', 'unicode');

test('tokens joined again are the text, each has four characters but the last, and their number is the count', () => {
  fc.assert(
    fc.property(anyText, (text) => {
      const tokens = splitTokens(text);
      expect(tokens.join('')).toBe(text);
      expect(tokens.length).toBe(countTokens(text));
      for (const token of tokens.slice(0, -1)) expect(Array.from(token)).toHaveLength(4);
    }),
  );
});

test('of several texts one token each is in turn, and those that are longer go on alone', () => {
  expect(slice(inTurn(['aaaabbbbc', 'xxxxy', '']))).toEqual([
    { of: 0, token: 'aaaa' },
    { of: 1, token: 'xxxx' },
    { of: 0, token: 'bbbb' },
    { of: 1, token: 'y' },
    { of: 0, token: 'c' },
  ]);
  fc.assert(
    fc.property(fc.array(anyText, { maxLength: 4 }), (texts) => {
      const turns = inTurn(texts);
      const all = slice(turns);
      expect(all).toHaveLength(turns.length);
      for (const [of, text] of texts.entries())
        expect(all.flatMap((turn) => (turn.of === of ? [turn.token] : [])).join('')).toBe(text);
      expect(turns.at(turns.length)).toBeUndefined();
    }),
  );
});

test('cutting to a number of tokens keeps the first tokens and never halves a character', () => {
  fc.assert(
    fc.property(anyText, fc.nat(20), (text, count) => {
      expect(cutTokens(text, count)).toBe(splitTokens(text).slice(0, count).join(''));
    }),
  );
});

test('a text of n tokens has exactly n tokens, and the same seed gives the same text', () => {
  fc.assert(
    fc.property(fc.nat(), style, fc.nat(500), (seed, chosen, tokens) => {
      const text = answerText(seed, chosen, tokens);
      expect(countTokens(text)).toBe(tokens);
      expect(answerText(seed, chosen, tokens)).toBe(text);
      expect(text.isWellFormed()).toBe(true);
    }),
  );
});

test('a text without a wished length says that it is simulated and ends with a whole sentence', () => {
  fc.assert(
    fc.property(fc.nat(), (seed) => {
      expect(answerText(seed, 'plain', null)).toMatch(/^This is a simulated.*\.$/);
    }),
  );
});

test('the text ends before the first stop sequence, whichever of them comes first', () => {
  expect(cutAtStop('one two three', ['three', 'two'])).toBe('one ');
  expect(cutAtStop('one two three', ['four', ''])).toBe('one two three');
});
