/** Writes one calculation of a methodology as the body of a function. */
import { idOf, isReceiptField, type PlannedStep } from '../choice/plan.ts';
import { factorOf, noKeys } from '../documents/factor-table.ts';
import type { Methodology } from '../documents/methodologies.ts';
import { nullableInputs } from '../facts/inputs.ts';
import { type Variable, Writer } from '../language/compile.ts';

/** Steps whose formula follows from the calculation within a program, with the condition of each variant. */
const switched: Readonly<Record<string, Readonly<Record<string, string>>>> = {
  completion_ratio: { estimated: "isEstimated(c, 'completion')", reported: '' },
  prompt_ratio: { estimated: "isEstimated(c, 'prompt')", reported: '' },
  reported_energy: Object.fromEntries(
    ['J', 'kWh', 'Wms', 'mJ'].map((unit) => [unit, `c.measured?.unit === '${unit}'`]),
  ),
};

export const variable = (key: string): string => key.replace('@', '$');
const baseOf = (name: string): string => name.split('@')[0] ?? name;

/** The input that a name stands for: of a range of parameters, one of its ends. */
function inputFor(name: string, run: string | null): string {
  const base = baseOf(name);
  if (base !== 'P_active' && base !== 'P_total') return base;
  const end = name.split('@')[1] ?? run;
  return `${base}_${end === 'min' || end === 'least' ? 'min' : 'max'}`;
}

/** The factor of a name for every call, of each class, or of each kind of serving; null: it is an input. */
export function whose(name: string, method: Methodology): 'all' | 'class' | 'serving' | null {
  if (factorOf(name, method, noKeys) !== null) return 'all';
  if (factorOf(name, method, { ...noKeys, model_class: 'small' }) !== null) return 'class';
  return factorOf(name, method, { ...noKeys, serving: 'other_dense_both' }) === null ? null : 'serving';
}

export interface WrittenProgram {
  readonly name: string;
  readonly lines: readonly string[];
  /** The names of factors and inputs that it reads. */
  readonly reads: ReadonlySet<string>;
  /** The receipt's numbers that it gives, and whether they can be null. */
  readonly figures: ReadonlyMap<string, boolean>;
  readonly steps: readonly PlannedStep[];
}

export function written(
  name: string,
  steps: readonly PlannedStep[],
  method: Methodology,
  repeated?: ReadonlySet<string>,
): WrittenProgram {
  const writer = new Writer(repeated);
  const reads = new Set<string>();
  const variables = new Map<string, Variable>();
  const variableOf =
    ({ names, run }: Pick<PlannedStep, 'names' | 'run'>) =>
    (name: string): Variable => {
      const giver = names.get(name) ?? null;
      const given = giver === null ? undefined : variables.get(giver);
      if (given !== undefined) return given;
      const read = whose(name, method) === null ? inputFor(name, run) : name;
      reads.add(read);
      return { code: read, isNullable: nullableInputs.has(read) };
    };
  for (const step of steps) {
    const { code, isNullable } = expressionOf(step, method, writer, variableOf(step));
    const own = variable(step.key);
    writer.lines.push(`const ${own} = ${code};`);
    variables.set(step.key, { code: own, isNullable });
  }
  if (repeated === undefined) return written(name, steps, method, writer.repeatedCalls);
  const figures = steps.filter(({ key }) => isReceiptField(key) && !key.includes('@'));
  return {
    name,
    lines: writer.lines,
    reads,
    steps,
    figures: new Map(figures.map(({ key }) => [key, variables.get(key)?.isNullable === true])),
  };
}

function expressionOf(
  step: PlannedStep,
  method: Methodology,
  writer: Writer,
  variableOf: (name: string) => Variable,
): Variable {
  const variants = switched[idOf(step.program)];
  if (variants === undefined) return writer.expression(step.evaluatedAs ?? step.formula, variableOf);
  const codes = Object.entries(variants).map(([variant, condition]) => {
    const formula = method.formulas[`${idOf(step.program)}/${variant}`];
    if (formula === undefined) throw new TypeError(`No formula ${idOf(step.program)}/${variant}`);
    const { code } = writer.expression(formula.formula, variableOf);
    return condition === '' ? code : `${condition} ? ${code} : `;
  });
  // A figure in Wh needs no conversion.
  return { code: codes.join('') + (variants.reported === '' ? '' : `f.${step.key}`), isNullable: false };
}
