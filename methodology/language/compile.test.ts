/** The compiled programs give what their formulas give, to the bit, whatever the operands. */
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { combined } from './combined.ts';
import { Writer } from './compile.ts';
import { decimal, decimalSum, partOf } from './decimal.ts';
import { exp } from './elementary.ts';
import { evaluate, type Value } from './evaluate.ts';

const names = ['a', 'b', 'maybe', 'other'] as const;
const isNullable = (name: string): boolean => name === 'maybe' || name === 'other';

/** The compiled formula. Only this test makes functions of texts; the product imports generated code. */
function compiled(text: string): (values: Readonly<Record<string, Value>>) => Value {
  const writer = new Writer();
  const { code } = writer.expression(text, (name) => ({ code: name, isNullable: isNullable(name) }));
  const body = `const { ${names.join(', ')} } = values; ${writer.lines.join(' ')} return ${code};`;
  const make = new Function('combined', 'decimal', 'decimalSum', 'partOf', 'exp', 'values', body);
  return (values) => make(combined, decimal, decimalSum, partOf, exp, values) as Value;
}

const amounts = fc.oneof(fc.integer({ min: 0, max: 5 }), fc.double({ min: 1e-6, max: 1e6, noNaN: true }));
const values = fc.record({ a: amounts, b: amounts, maybe: fc.option(amounts), other: fc.option(amounts) });

const { tie: formulas } = fc.letrec<{ tie: string }>((tie) => ({
  tie: fc.oneof(
    { maxDepth: 4, depthSize: 'small' },
    fc.constantFrom(...names, '0', '1', '2.5', '1e9', 'unknown'),
    fc
      .tuple(tie('tie'), fc.constantFrom('+', '-', '*', '/', '^', '=', '<', '>', '<=', 'and'), tie('tie'))
      .map(([left, operator, right]) => `(${left}) ${operator} (${right})`),
    fc
      .tuple(
        tie('tie'),
        fc.constantFrom('+', '-', '*', '/', '^'),
        tie('tie'),
        fc.constantFrom('+', '-', '*', '/', '^'),
        tie('tie'),
      )
      .filter(([a, , b, , c]) => [a, b, c].every((each) => !each.includes(' ')))
      .map((parts) => parts.join(' ')),
    fc.tuple(tie('tie'), tie('tie'), tie('tie')).map(([test, yes, no]) => `(${test}) ? ${yes} : ${no}`),
    fc
      .tuple(fc.constantFrom('min', 'max', 'combined', 'sum12', 'known_or', 'at_most'), tie('tie'), tie('tie'))
      .map(([name, first, second]) => `${name}(${first}, ${second})`),
    fc
      .tuple(fc.constantFrom('exp', 'log2', 'ceil', 'round', 'sum12'), tie('tie'))
      .map(([name, of]) => `${name}(${of})`),
    fc.tuple(tie('tie'), tie('tie')).map(([first, second]) => `part12(2, ${first}, ${second})`),
  ),
}));

describe('a compiled formula', () => {
  it('gives what the formula gives', () => {
    fc.assert(
      fc.property(formulas, values, (text, given) => {
        const wanted = evaluate(text, (name) => given[name as 'a'] ?? null);
        expect(compiled(text)(given), text).toBe(wanted);
      }),
      { numRuns: 2000 },
    );
  });

  it('tests an operand for null only where it can be unknown', () => {
    const lines = (text: string) =>
      new Writer().expression(text, (code) => ({ code, isNullable: isNullable(code) })).code;
    expect(lines('a * (b + 1)')).toBe('a * (b + 1)');
    expect(lines('a * maybe')).toBe('maybe === null ? null : a * maybe');
    expect(lines('a ^ b ^ 2')).toBe('(a ** b) ** 2');
    expect(lines('a < b and a = 1 ? a : b')).toBe('a < b && a === 1 ? a : b');
  });

  it('makes a call that is repeated only once', () => {
    const writer = new Writer();
    const of = (code: string) => ({ code, isNullable: false });
    writer.expression('a / combined(a, b) + b * combined(a, b)', of);
    const again = new Writer(writer.repeatedCalls);
    expect(again.expression('a / combined(a, b) + b * combined(a, b)', of).code).toBe('a / t1 + b * t1');
    expect(again.lines).toEqual(['const t1 = combined(a, b);']);
  });
});
