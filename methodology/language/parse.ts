/**
 * Reads the formula texts of a methodology into trees, which `evaluate.ts` evaluates and `compile.ts` turns into code.
 *
 * Invariant: operations run in the order that the text states, in doubles, as in any IEEE 754 calculator; an operation on an
 * unknown operand (null) has no value. Only the texts of this package's methodologies are read, never input.
 *
 * Precedence, loosest first: `a ? b : c`, `and`, comparison, `+ -`, `* /`, `^`. Names may hold `@` for a run of a step.
 */
export type Tree =
  | { readonly kind: 'number'; readonly value: number }
  | { readonly kind: 'unknown' }
  | { readonly kind: 'name'; readonly name: string }
  | { readonly kind: 'call'; readonly name: FunctionName; readonly args: readonly Tree[] }
  | { readonly kind: 'operation'; readonly operator: Operator; readonly left: Tree; readonly right: Tree }
  | { readonly kind: 'choice'; readonly test: Tree; readonly yes: Tree; readonly no: Tree };

export interface Formula {
  readonly names: readonly string[];
  readonly tree: Tree;
}

/** The meaning of each function, for readers of a methodology; those not listed are as in mathematics. */
export const functionTexts = {
  sum12: 'the sum of the parts, each rounded to the last place of the 12 significant digits of their sum',
  part12: 'part12(n, parts): the n-th of the parts of sum12(parts), so rounded',
  known_or: 'known_or(a, b): a if it is known, else b',
  at_most: 'at_most(a, b): the lesser of both, or a if b is not known',
  unknown: 'the absence of a value; an operation on it has no value',
  evaluation: 'IEEE 754 double precision, in the order of the text',
  combined: 'combined(a, b, …): exp(sqrt(ln(a) * ln(a) + ln(b) * ln(b) + …)), added from the left',
  grammar:
    'a ? b : c (b if a is 1, else c); and; = < > <= (1 or 0); + -; * /; ^; each level from left to right, loosest first; function(a, b); a name may hold @ and the run of a step',
} as const;

const names = [
  'min',
  'max',
  'exp',
  'log2',
  'ceil',
  'round',
  'combined',
  'sum12',
  'part12',
  'known_or',
  'at_most',
] as const;
export type FunctionName = (typeof names)[number];
export const functionNames: readonly string[] = names;
const isFunction = (name: string): name is FunctionName => functionNames.includes(name);

/** Loosest first; all from left to right. */
export const levels = [['and'], ['=', '<', '>', '<='], ['+', '-'], ['*', '/'], ['^']] as const;
export type Operator = (typeof levels)[number][number];

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

  whole(): Tree {
    const tree = this.choice();
    if (this.at !== this.tokens.length) throw new SyntaxError(`Unexpected ${this.tokens[this.at]} in a formula`);
    return tree;
  }

  private takes(token: string): boolean {
    if (this.tokens[this.at] !== token) return false;
    this.at += 1;
    return true;
  }

  private expect(token: string): void {
    if (!this.takes(token)) throw new SyntaxError(`Expected ${token} in a formula`);
  }

  private choice(): Tree {
    const test = this.operation(0);
    if (!this.takes('?')) return test;
    const yes = this.choice();
    this.expect(':');
    return { kind: 'choice', test, yes, no: this.choice() };
  }

  private operation(level: number): Tree {
    const operators = levels[level];
    if (operators === undefined) return this.operand();
    let left = this.operation(level + 1);
    for (;;) {
      const operator = operators.find((each) => this.takes(each));
      if (operator === undefined) return left;
      left = { kind: 'operation', operator, left, right: this.operation(level + 1) };
    }
  }

  private operand(): Tree {
    if (this.takes('(')) {
      const inner = this.choice();
      this.expect(')');
      return inner;
    }
    const token = this.tokens[this.at];
    if (token === undefined) throw new SyntaxError('A formula ends too early');
    this.at += 1;
    if (/^\d/.test(token)) return { kind: 'number', value: Number(token) };
    if (token === 'unknown') return { kind: 'unknown' };
    if (!/^[A-Za-z_]/.test(token)) throw new SyntaxError(`Unexpected ${token} in a formula`);
    if (this.takes('(')) return this.call(token);
    this.names.add(token);
    return { kind: 'name', name: token };
  }

  private call(name: string): Tree {
    const args: Tree[] = [];
    do args.push(this.choice());
    while (this.takes(','));
    this.expect(')');
    if (!isFunction(name)) throw new SyntaxError(`No function ${name}`);
    return { kind: 'call', name, args };
  }
}

const read = new Map<string, Formula>();

/** Throws a SyntaxError for a text that is not a formula. There are few texts, so each is read only once. */
export function formulaOf(text: string): Formula {
  let formula = read.get(text);
  if (formula === undefined) {
    const parser = new Parser(text);
    const tree = parser.whole();
    formula = { names: [...parser.names], tree };
    read.set(text, formula);
  }
  return formula;
}
