/**
 * Evaluates formulas as they are written. Receipts are made by the compiled programs (`compile.ts`); this makes the constants
 * that a document derives from its own formulas, and is what the tests hold the programs against.
 */
import { combined } from './combined.ts';
import { decimalSum, partOf } from './decimal.ts';
import { exp } from './elementary.ts';
import { type FunctionName, formulaOf, type Operator, type Tree } from './parse.ts';

export type Value = number | null;
export type LookUp = (name: string) => Value;

const operations: Readonly<Record<Operator, (a: number, b: number) => number>> = {
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

/** The functions whose result is unknown where any of their arguments is. */
const functions: Readonly<Record<Exclude<FunctionName, 'known_or' | 'at_most'>, (...args: number[]) => number>> = {
  min: Math.min,
  max: Math.max,
  exp,
  log2: Math.log2,
  ceil: Math.ceil,
  round: Math.round,
  combined,
  sum12: (...parts) => decimalSum(parts).total,
  part12: (place, ...parts) => partOf(decimalSum(parts), place),
};

/** Throws a SyntaxError for a text that is not a formula. */
export const evaluate = (text: string, lookUp: LookUp): Value => valueIn(formulaOf(text).tree, lookUp);

function valueIn(tree: Tree, lookUp: LookUp): Value {
  switch (tree.kind) {
    case 'number':
      return tree.value;
    case 'unknown':
      return null;
    case 'name':
      return lookUp(tree.name);
    case 'choice':
      return valueIn(valueIn(tree.test, lookUp) === 1 ? tree.yes : tree.no, lookUp);
    case 'operation': {
      const [a, b] = [valueIn(tree.left, lookUp), valueIn(tree.right, lookUp)];
      return a === null || b === null ? null : operations[tree.operator](a, b);
    }
    case 'call':
      return called(
        tree.name,
        tree.args.map((each) => valueIn(each, lookUp)),
      );
  }
}

function called(name: FunctionName, args: readonly Value[]): Value {
  const [value = null, other = null] = args;
  if (name === 'known_or') return value ?? other;
  if (name === 'at_most') return value === null || other === null ? value : Math.min(value, other);
  return args.every((each): each is number => each !== null) ? functions[name](...args) : null;
}
