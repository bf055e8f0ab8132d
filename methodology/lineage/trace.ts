/**
 * Writes down what went into each step of a calculation, and what came out.
 *
 * Invariant: an output is what the program gave that made the receipt, and what the printed formula gives with the printed
 * operands (lineage.test.ts evaluates them).
 */
import type { Calculation } from '../choice/calculation.ts';
import type { PlannedStep } from '../choice/plan.ts';
import { unprintedSteps } from '../documents/ecologits-formulas.ts';
import { factorOf, withUncertainty } from '../documents/factor-table.ts';
import type { Methodology } from '../documents/methodologies.ts';
import { type Given, inputOf } from '../facts/inputs.ts';
import type { Trace } from '../generated/receipt.ts';
import { gridFactorOf } from './grid-factors.ts';
import type { LineageFactor, LineageGrid, LineageInput, LineageStep } from './lineage-form.ts';

export interface Sources {
  readonly calculation: Calculation;
  readonly method: Methodology;
  /** The inputs by their names (facts/inputs.ts). */
  readonly inputs: Readonly<Record<string, number | null>>;
  readonly trace: Trace;
  readonly grid: LineageGrid;
  readonly basis: string;
}

export function traced(plan: readonly PlannedStep[], sources: Sources): LineageStep[] {
  const { basis, method, trace } = sources;
  const printed = method.isOwn ? plan : plan.filter(({ key }) => !unprintedSteps.includes(key));
  const units = new Map(plan.map(({ key, unit }) => [key, unit]));
  return printed.map((planned) => {
    const { evaluatedAs, formula, key, origin, unit } = planned;
    const [low, high] = [trace[`${key}@low`], trace[`${key}@high`]];
    const hasBounds = units.has(`${key}@low`) && low !== undefined && high !== undefined;
    return {
      id: key,
      formula,
      evaluated_as: evaluatedAs,
      origin,
      ...operandsOf(planned, sources, units),
      output: { value: trace[key] ?? null, unit },
      uncertainty: hasBounds ? { low, high, basis } : null,
    };
  });
}

function operandsOf(
  { names, run }: PlannedStep,
  { calculation, grid, inputs, method, trace }: Sources,
  units: ReadonlyMap<string, string>,
): { inputs: LineageInput[]; factors: LineageFactor[] } {
  const operands: LineageInput[] = [];
  const factors: LineageFactor[] = [];
  for (const [name, from] of names) {
    const unit = from === null ? undefined : units.get(from);
    const value = inputValue(name, run, inputs);
    const ofGrid = gridFactorOf(name, grid, value, method);
    const factor = ofGrid === null ? factorOf(name, method, calculation) : withUncertainty(name, ofGrid, method);
    if (from !== null && unit !== undefined)
      operands.push({ name, value: trace[from] ?? null, unit, source: `step ${from}`, fact: null });
    else if (factor) factors.push({ name, ...factor });
    else operands.push({ name, value, ...givenOf(name, run, calculation) });
  }
  return { inputs: operands, factors };
}

const baseOf = (name: string): string => name.split('@')[0] ?? name;
const sized = new Set(['P_active', 'P_total']);
const stated = new Set(['stated_energy']);

/** The end of a range that a name means: a name can have a run of its own, else it is of that of its step. */
const endOf = (name: string, run: string | null): 'min' | 'max' => {
  const of = name.split('@')[1] ?? run;
  return of === 'min' || of === 'least' ? 'min' : 'max';
};

function inputValue(name: string, run: string | null, inputs: Sources['inputs']): number | null {
  const base = baseOf(name);
  const value = inputs[sized.has(base) ? `${base}_${endOf(name, run)}` : base] ?? null;
  return Number.isNaN(value) ? null : value;
}

function givenOf(name: string, run: string | null, { measured, model_kind }: Calculation): Given {
  const base = baseOf(name);
  const found = inputOf(base) ?? { unit: '1', source: 'unknown', fact: null };
  if (stated.has(base)) return { ...found, unit: measured?.unit ?? 'Wh' };
  if (base === 'T_out' && model_kind === 'embedding') return { ...found, fact: null };
  return base === 'P_active' ? { ...found, fact: `${found.fact}.${endOf(name, run)}` } : found;
}
