import { describe, expect, it } from 'vitest';
import { methodologyOf } from '../documents/methodologies.ts';
import { evaluate } from './evaluate.ts';
import { formulaOf } from './parse.ts';

const value = (text: string, names: Record<string, number | null> = {}) =>
  evaluate(text, (name) => names[name] ?? null);

describe('a formula', () => {
  it.each<[string, number | null]>([
    ['1 + 2 * 3', 7],
    ['(1 + 2) * 3', 9],
    ['8 - 3 - 2', 3],
    ['16 / 4 / 2', 2],
    ['2 ^ 3 * 2', 16],
    ['1e9 / 2', 5e8],
    ['1 < 2 and 2 <= 2 ? 10 : 20', 10],
    ['1 = 2 ? 10 : 1 > 0 ? 30 : 40', 30],
    ['max(1, min(5, 3)) + ceil(1.2) + round(2.5)', 8],
    ['log2(8) + exp(0)', 4],
    ['sum12(1 / 3)', 0.333333333333],
    ['part12(2, 1, 1 / 3)', 0.33333333333],
    ['unknown + 1', null],
    ['known_or(1 / unknown, 4)', 4],
    ['at_most(5, unknown) + at_most(5, 3)', 8],
    ['sum12(unknown)', null],
  ])('%s is %s', (text, wanted) => {
    expect(value(text)).toBe(wanted);
  });

  it('adds in the order of its text', () => {
    expect(value('a + b + c', { a: 0.1, b: 0.2, c: 0.3 })).toBe(0.1 + 0.2 + 0.3);
    expect(value('a + (b + c)', { a: 0.1, b: 0.2, c: 0.3 })).toBe(0.1 + (0.2 + 0.3));
  });

  it('names its operands', () => {
    expect(formulaOf('gpu_energy@min * T_out + T_out').names).toEqual(['gpu_energy@min', 'T_out']);
  });

  it.each(['1 +', '(1', 'a b', 'nothing(1)', '1 ? 2', '§', ''])('that is none, like "%s", is refused', (text) => {
    expect(() => formulaOf(text)).toThrow(SyntaxError);
  });

  it.each(Object.entries(methodologyOf('ecologits-0.11.3').formulas))(
    '%s of the methodology is one',
    (key, { formula }) => {
      const { names } = formulaOf(formula);
      // At an end, a part can be nothing or all.
      expect(names.length > 0 || /\/(none|least)$/.test(key)).toBe(true);
    },
  );
});
