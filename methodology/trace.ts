/**
 * Evaluates the steps of a plan and writes down what went into each.
 *
 * Invariant: an output is the evaluation of the printed formula with the printed operands. The maker of a lineage and its
 * verifier use this one function, with the values of the facts and with those of the lineage.
 */

import type { Calculation } from './calculation.ts';
import { classOfFactor, factorOf, withUncertainty } from './factor-table.ts';
import { gridFactorOf } from './grid-factors.ts';
import { givenOf } from './inputs.ts';
import type { LineageFactor, LineageGrid, LineageInput, LineageStep } from './lineage-form.ts';
import type { Methodology } from './methodologies.ts';
import type { PlannedStep } from './plan.ts';

/** The value of an input, or of a factor of the grid, in a run. */
export type FactOf = (name: string, run: string | null) => number | null;

export interface Sources {
  readonly calculation: Calculation;
  readonly method: Methodology;
  readonly factOf: FactOf;
  readonly grid: LineageGrid;
  readonly basis: string;
}

export function traced(plan: readonly PlannedStep[], sources: Sources): LineageStep[] {
  const outputs = new Map<string, PlannedStep & { readonly value: number | null }>();
  const steps = plan.map((planned) => {
    const { factors, inputs } = operandsOf(planned, sources, outputs);
    const values = new Map([...inputs, ...factors].map(({ name, value }) => [name, value]));
    const value = planned.evaluate((name) => values.get(name) ?? null);
    outputs.set(planned.key, { ...planned, value });
    const { evaluatedAs, formula, key, origin, unit } = planned;
    return { id: key, formula, evaluated_as: evaluatedAs, origin, inputs, factors, output: { value, unit } };
  });
  return steps.map((step) => {
    const [low, high] = [outputs.get(`${step.id}@low`), outputs.get(`${step.id}@high`)];
    const bounds = low && high ? { low: low.value, high: high.value, basis: sources.basis } : null;
    return { ...step, uncertainty: bounds };
  });
}

function operandsOf(
  { key, names }: PlannedStep,
  { calculation, grid, method, factOf }: Sources,
  outputs: ReadonlyMap<string, { readonly value: number | null; readonly unit: string }>,
): { inputs: LineageInput[]; factors: LineageFactor[] } {
  const run = key.split('@')[1] ?? null;
  const inputs: LineageInput[] = [];
  const factors: LineageFactor[] = [];
  for (const [name, from] of names) {
    const giver = from === null ? undefined : outputs.get(from);
    const ofGrid = gridFactorOf(name, grid, factOf(name, run), method);
    const factor =
      ofGrid === null
        ? factorOf(name, method, classOfFactor(name, calculation, method))
        : withUncertainty(name, ofGrid, method);
    if (giver) inputs.push({ name, value: giver.value, unit: giver.unit, source: `step ${from}`, fact: null });
    else if (factor) factors.push({ name, ...factor });
    else inputs.push({ name, value: factOf(name, run), ...givenOf(name, run, calculation) });
  }
  return { inputs, factors };
}
