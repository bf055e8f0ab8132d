/**
 * Turns formulas into the lines of a TypeScript function, one `const` for each step.
 *
 * Invariant: a line runs the operations of its formula in their order, so it gives the double that `evaluate.ts` gives. Where an
 * operand can be unknown, the line tests it for null first; where none can, it is plain arithmetic.
 */
import { formulaOf, levels, type Operator, type Tree } from './parse.ts';

/** A variable of the function that is written, and whether it can be null. */
export interface Variable {
  readonly code: string;
  readonly isNullable: boolean;
}

/** `level`: how loosely the code binds, as an index of `levels`; atoms bind tightest, a choice loosest. */
interface Code extends Variable {
  readonly level: number;
}

const loosest = -1;
const tightest: number = levels.length;
const symbols: Readonly<Partial<Record<Operator, string>>> = { '=': '===', '^': '**' };
const levelOf = (operator: Operator): number => levels.findIndex((each) => each.some((one) => one === operator));
const mathFunctions: Readonly<Record<string, string>> = {
  min: 'Math.min',
  max: 'Math.max',
  log2: 'Math.log2',
  ceil: 'Math.ceil',
  round: 'Math.round',
};

const plain = (code: string, level = tightest): Code => ({ code, isNullable: false, level });
const comparison = levelOf('=');
const knownTests = (...codes: readonly Code[]): string[] =>
  codes.filter(({ isNullable }) => isNullable).map(({ code }) => `${code} !== null`);
const compared = (operator: Operator, a: Code, b: Code): string =>
  `${within(a, comparison)} ${symbols[operator] ?? operator} ${within(b, comparison)}`;
/** In brackets if it binds no tighter than `level`. */
const within = ({ code, level: own }: Code, level: number): string => (own > level ? code : `(${code})`);

type LookUp = (name: string) => Variable;

export class Writer {
  readonly lines: string[] = [];
  private readonly kept = new Map<string, string>();
  private readonly seen = new Map<string, number>();
  private readonly repeated: ReadonlySet<string>;
  private count = 0;

  /** `repeated`: calls that occur more than once, which are made only once. See `repeatedCalls`. */
  constructor(repeated: ReadonlySet<string> = new Set()) {
    this.repeated = repeated;
  }

  /** The calls that were written more than once. */
  get repeatedCalls(): ReadonlySet<string> {
    return new Set([...this.seen].filter(([, times]) => times > 1).map(([code]) => code));
  }

  /** The expression of a formula; what it needs in variables of its own is added to the lines. */
  expression(text: string, variableOf: LookUp): Variable {
    return this.value(formulaOf(text).tree, variableOf);
  }

  private value(tree: Tree, of: LookUp): Code {
    switch (tree.kind) {
      case 'number':
        return plain(String(tree.value));
      case 'unknown':
        return { code: 'null', isNullable: true, level: tightest };
      case 'name':
        return { ...of(tree.name), level: tightest };
      case 'choice': {
        const [yes, no] = [this.value(tree.yes, of), this.value(tree.no, of)];
        const code = `${this.test(tree.test, of)} ? ${within(yes, loosest)} : ${no.code}`;
        return { code, isNullable: yes.isNullable || no.isNullable, level: loosest };
      }
      case 'operation':
        return this.operation(tree, of);
      case 'call':
        return this.call(
          tree.name,
          tree.args.map((each) => this.value(each, of)),
        );
    }
  }

  private operation({ left, operator, right }: Tree & { kind: 'operation' }, of: LookUp): Code {
    const level = levelOf(operator);
    const operands = [this.value(left, of), this.value(right, of)];
    return this.guarded(operands, ([a, b]) => {
      if (operator === 'and') return plain(`${within(a, 1)} !== 0 && ${within(b, 1)} !== 0 ? 1 : 0`, loosest);
      if (level === comparison) return plain(`${compared(operator, a, b)} ? 1 : 0`, loosest);
      // JavaScript's power binds to the right, and a formula's to the left.
      const first = operator === '^' ? within(a, level) : within(a, level - 1);
      return plain(`${first} ${symbols[operator] ?? operator} ${within(b, level)}`, level);
    });
  }

  /** A condition of JavaScript: whether the value is 1. An unknown value is not. */
  private test(tree: Tree, of: LookUp): string {
    if (tree.kind !== 'operation' || levelOf(tree.operator) > comparison)
      return `${within(this.value(tree, of), 1)} === 1`;
    const { left, operator, right } = tree;
    if (operator === 'and') return `${this.truth(left, of)} && ${this.truth(right, of)}`;
    const [a, b] = [this.atomIfNullable(this.value(left, of)), this.atomIfNullable(this.value(right, of))];
    return [...knownTests(a, b), compared(operator, a, b)].join(' && ');
  }

  /** A condition of JavaScript: whether the value is known and not 0, as `and` takes its operands. */
  private truth(tree: Tree, of: LookUp): string {
    if (tree.kind === 'operation' && levelOf(tree.operator) <= comparison) return this.test(tree, of);
    const value = this.atomIfNullable(this.value(tree, of));
    return [...knownTests(value), `${within(value, 1)} !== 0`].join(' && ');
  }

  private call(name: string, args: readonly Code[]): Code {
    const [value, other] = args;
    if (value === undefined) throw new TypeError(`${name} has no argument`);
    if (name === 'known_or' && other !== undefined)
      return value.isNullable
        ? { code: `${within(value, 1)} ?? ${within(other, 1)}`, isNullable: other.isNullable, level: loosest }
        : value;
    if (name === 'at_most' && other !== undefined) return this.atMost(this.atom(value), this.atomIfNullable(other));
    return this.guarded(args, (known) => {
      const list = known.map((each) => each.code);
      if (name === 'sum12' && list.length === 1) return plain(`decimal(${list[0]})`);
      if (name === 'sum12') return plain(`${this.keep(`decimalSum([${list.join(', ')}])`)}.total`);
      if (name === 'part12')
        return plain(`partOf(${this.keep(`decimalSum([${list.slice(1).join(', ')}])`)}, ${list[0]})`);
      const code = `${mathFunctions[name] ?? name}(${list.join(', ')})`;
      this.seen.set(code, (this.seen.get(code) ?? 0) + 1);
      return plain(this.repeated.has(code) ? this.keep(code) : code);
    });
  }

  private atMost(value: Code, most: Code): Code {
    const least = `Math.min(${value.code}, ${most.code})`;
    const known = [value, most].filter(({ isNullable }) => isNullable).map(({ code }) => `${code} === null`);
    if (known.length === 0) return plain(least);
    return { code: `${known.join(' || ')} ? ${value.code} : ${least}`, isNullable: value.isNullable, level: loosest };
  }

  /** Unknown where one of the operands is. */
  private guarded(operands: readonly Code[], make: (known: readonly [Code, Code, ...Code[]]) => Code): Code {
    const known = operands.map((each) => this.atomIfNullable(each));
    const nullable = [...new Set(known.filter(({ isNullable }) => isNullable).map(({ code }) => code))];
    const made = make(known as unknown as readonly [Code, Code, ...Code[]]);
    if (nullable.length === 0) return made;
    const test = nullable.map((code) => `${code} === null`).join(' || ');
    return { code: `${test} ? null : ${made.code}`, isNullable: true, level: loosest };
  }

  private atomIfNullable(code: Code): Code {
    return code.isNullable ? this.atom(code) : code;
  }

  private atom(code: Code): Code {
    return code.level === tightest && !code.code.includes('(')
      ? code
      : { ...code, code: this.keep(code.code), level: tightest };
  }

  /** A variable for a value that is used more than once. */
  private keep(code: string): string {
    let name = this.kept.get(code);
    if (name === undefined) {
      this.count += 1;
      name = `t${this.count}`;
      this.kept.set(code, name);
      this.lines.push(`const ${name} = ${code};`);
    }
    return name;
  }
}
