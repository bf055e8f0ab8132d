/**
 * The energy per token for the models of each size class.
 *
 * Invariant: a class factor is what the formulas of the parametric tier give for one token of the class's stand-in, with the
 * fitted generation time and 16-bit weights. The factors are ours; EcoLogits does not publish any.
 */

import type { ModelClass, ParameterRange } from '../facts/facts.ts';
import { evaluate } from '../language/evaluate.ts';
import { classSpans, standIns } from './factors.ts';
import { modelling, type Part, parts } from './formulas.ts';
import { constants } from './named-factors.ts';

/** The work of one token, before the data centre's overhead; the names are those of the document. */
export interface Work {
  readonly acceleratorWh: number;
  readonly hostWh: number;
  /** GPU-seconds that belong to this call alone; they carry the embodied impact. */
  readonly acceleratorS: number;
}

export interface ClassFactors {
  readonly perOutputToken: Work;
  readonly perInputToken: Work;
}

type Sizes = Readonly<Record<'active' | 'total', ParameterRange>>;

/** The value of a formula for one token of a model of this size, of which nothing was measured. */
function ofOneToken(formula: string, sizes: Sizes, end: keyof ParameterRange): number {
  const given: Readonly<Record<string, number>> = {
    T_out: 1,
    charged_input_tokens: 1,
    P_active: sizes.active[end],
    P_total: sizes.total[end],
  };
  const steps: Readonly<Record<string, { readonly formula: string }>> = modelling;
  const lookUp = (name: string): number | null => {
    const step = steps[name];
    return given[name] ?? constants[name]?.value ?? (step === undefined ? null : evaluate(step.formula, lookUp));
  };
  const value = evaluate(formula, lookUp);
  if (value === null) throw new TypeError(`A class has no value of ${formula}`);
  return value;
}

function workOf(formulaOf: (part: Part) => string, lookUp: (formula: string) => number): Work {
  const [acceleratorWh = 0, hostWh = 0, acceleratorS = 0] = parts.map((part) => lookUp(formulaOf(part)));
  return { acceleratorWh, hostWh, acceleratorS };
}

const factorsBy = (lookUp: (formula: string) => number): ClassFactors => ({
  perOutputToken: workOf(({ writing }) => writing(''), lookUp),
  perInputToken: workOf(({ reading }) => reading, lookUp),
});

const ofEach = <T>(each: (modelClass: ModelClass) => T): Readonly<Record<ModelClass, T>> => ({
  small: each('small'),
  medium: each('medium'),
  large: each('large'),
  moe_small_active: each('moe_small_active'),
  frontier: each('frontier'),
  unknown: each('unknown'),
  embedding: each('embedding'),
});

/** A stand-in that is a range counts half from each end. */
export const classFactors = ofEach((name) =>
  factorsBy(
    (formula) => ofOneToken(formula, standIns[name], 'min') * 0.5 + ofOneToken(formula, standIns[name], 'max') * 0.5,
  ),
);

/** The smallest and the largest model that a class stands for. */
export const classEnds = ofEach((name) => ({
  least: factorsBy((formula) => ofOneToken(formula, classSpans[name], 'min')),
  most: factorsBy((formula) => ofOneToken(formula, classSpans[name], 'max')),
}));
