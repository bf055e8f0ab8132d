/**
 * Evaluates the formula texts of a methodology, so that a lineage can be recomputed from what it prints.
 *
 * Invariant: operations run in the order that the text states, in doubles, as in any IEEE 754 calculator; an unknown
 * operand (null) makes the result unknown. Only the texts of this package's methodologies are evaluated, never input.
 *
 * Precedence, loosest first: `a ? b : c`, `and`, comparison, `+ -`, `* /`, `^`. Names may hold `@` for a run of a step.
 */

import { decimalSum } from './decimal.ts';
import { exp } from './elementary.ts';
import { combined } from './uncertainty.ts';

export type Value = number | null;
export type Names = (name: string) => Value;
type Node = (names: Names) => Value;

export interface Formula {
  readonly names: readonly string[];
  readonly evaluate: Node;
}

const known = (args: readonly Value[]): readonly number[] | null =>
  args.every((value): value is number => value !== null) ? args : null;
const strict =
  (call: (...args: number[]) => number) =>
  (args: readonly Value[]): Value => {
    const values = known(args);
    return values === null ? null : call(...values);
  };

/** What the functions mean, for readers of a methodology; those not listed are as in mathematics. */
export const functionTexts = {
  sum12: 'the sum of the parts, each rounded to the last place of the 12 significant digits of their sum',
  part12: 'part12(n, parts): the n-th of the parts of sum12(parts), so rounded',
  known_or: 'known_or(a, b): a if it is known, else b',
  at_most: 'at_most(a, b): the lesser of both, or a if b is not known',
  unknown: 'the absence of a value; an operation on it has no value',
  evaluation: 'IEEE 754 double precision, in the order of the text',
} as const;

/** In the documents from gw-1.4 on. */
export const grammarText = {
  grammar:
    'a ? b : c (b if a is 1, else c); and; = < > <= (1 or 0); + -; * /; ^; each level from left to right, loosest first; function(a, b); a name may hold @ and the run of a step',
} as const;

const functions: Readonly<Record<string, (args: readonly Value[]) => Value>> = {
  min: strict(Math.min),
  max: strict(Math.max),
  exp: strict(exp),
  log2: strict(Math.log2),
  ceil: strict(Math.ceil),
  round: strict(Math.round),
  combined: strict(combined),
  sum12: strict((...parts) => decimalSum(parts).total),
  part12: strict((n, ...parts) => decimalSum(parts).parts[n - 1] ?? Number.NaN),
  known_or: ([value = null, other = null]) => value ?? other,
  at_most: ([value = null, cap = null]) => (value === null || cap === null ? value : Math.min(value, cap)),
};

export const functionNames: readonly string[] = Object.keys(functions);

const operators: Readonly<Record<string, (a: number, b: number) => number>> = {
  and: (a, b) => (a !== 0 && b !== 0 ? 1 : 0),
  '=': (a, b) => (a === b ? 1 : 0),
  '<': (a, b) => (a < b ? 1 : 0),
  '>': (a, b) => (a > b ? 1 : 0),
  '<=': (a, b) => (a <= b ? 1 : 0),
  '+': (a, b) => a + b,
  '-': (a, b) => a - b,
  '*': (a, b) => a * b,
  '/': (a, b) => a / b,
  '^': (a, b) => a ** b,
};
/** Loosest first; all from left to right. */
export const levels: readonly (readonly string[])[] = [['and'], ['=', '<', '>', '<='], ['+', '-'], ['*', '/'], ['^']];

const tokenPattern = /\s*(?:(\d[\d.]*(?:e\d+)?)|([A-Za-z_][\w@]*)|(<=|[-+*/^()?:,=<>]))/y;

class Parser {
  readonly names = new Set<string>();
  private readonly tokens: string[] = [];
  private at = 0;

  constructor(text: string) {
    tokenPattern.lastIndex = 0;
    while (tokenPattern.lastIndex < text.length) {
      const match = tokenPattern.exec(text);
      if (match === null) throw new SyntaxError(`Unreadable formula: ${text}`);
      this.tokens.push(match[0].trim());
    }
  }

  whole(): Node {
    const node = this.conditional();
    if (this.at !== this.tokens.length) throw new SyntaxError(`Unexpected ${this.tokens[this.at]} in a formula`);
    return node;
  }

  private takes(token: string): boolean {
    if (this.tokens[this.at] !== token) return false;
    this.at += 1;
    return true;
  }

  private expect(token: string): void {
    if (!this.takes(token)) throw new SyntaxError(`Expected ${token} in a formula`);
  }

  private conditional(): Node {
    const test = this.binary(0);
    if (!this.takes('?')) return test;
    const yes = this.conditional();
    this.expect(':');
    const no = this.conditional();
    return (names) => (test(names) === 1 ? yes(names) : no(names));
  }

  private binary(level: number): Node {
    const symbols = levels[level];
    if (symbols === undefined) return this.operand();
    let left = this.binary(level + 1);
    for (;;) {
      const symbol = symbols.find((each) => this.takes(each));
      const operate = symbol === undefined ? undefined : operators[symbol];
      if (operate === undefined) return left;
      left = joined(operate, left, this.binary(level + 1));
    }
  }

  private operand(): Node {
    if (this.takes('(')) {
      const inner = this.conditional();
      this.expect(')');
      return inner;
    }
    const token = this.tokens[this.at] ?? '';
    this.at += 1;
    if (/^\d/.test(token)) return constant(Number(token));
    if (token === 'unknown') return constant(null);
    if (!/^[A-Za-z_]/.test(token)) throw new SyntaxError(`Unexpected ${token} in a formula`);
    if (this.takes('(')) return this.call(token);
    this.names.add(token);
    return (names) => names(token);
  }

  private call(name: string): Node {
    const args: Node[] = [];
    do args.push(this.conditional());
    while (this.takes(','));
    this.expect(')');
    const call = functions[name];
    if (call === undefined) throw new SyntaxError(`No function ${name}`);
    return (names) => call(args.map((argument) => argument(names)));
  }
}

const constant =
  (value: Value): Node =>
  () =>
    value;

const joined =
  (operate: (a: number, b: number) => number, left: Node, right: Node): Node =>
  (names) => {
    const [a, b] = [left(names), right(names)];
    return a === null || b === null ? null : operate(a, b);
  };

const parsed = new Map<string, Formula>();

/** Throws a SyntaxError for a text that is not a formula. Texts are few and fixed, so each is parsed once. */
export function formulaOf(text: string): Formula {
  let formula = parsed.get(text);
  if (formula === undefined) {
    const parser = new Parser(text);
    const evaluate = parser.whole();
    formula = { names: [...parser.names], evaluate };
    parsed.set(text, formula);
  }
  return formula;
}
