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
import type { Factor } from '../documents/named-factors.ts';
import { type Given, inputOf } from '../facts/inputs.ts';
import type { Trace } from '../generated/receipt.ts';
import { gridFactorOf } from './grid-factors.ts';
import type { Lineage, LineageFactor, LineageGrid, LineageInput, LineageStep } from './lineage-form.ts';

export interface Sources {
  readonly calculation: Calculation;
  readonly method: Methodology;
  /** The inputs by their names (facts/inputs.ts). */
  readonly inputs: Readonly<Record<string, number | null>>;
  readonly trace: Trace;
  readonly grid: LineageGrid;
  readonly basis: string;
}

/** The steps of a lineage with what goes into them, each once. */
export function traced(plan: readonly PlannedStep[], sources: Sources): Pick<Lineage, 'factors' | 'inputs' | 'steps'> {
  const { basis, method, trace } = sources;
  const printed = method.isOwn ? plan : plan.filter(({ key }) => !unprintedSteps.includes(key));
  const units = new Map(plan.map(({ key, unit }) => [key, unit]));
  const inputs = new Map<string, LineageInput>();
  const factors = new Map<string, LineageFactor>();
  const read = (name: string, from: string | null, run: string | null): string => {
    if (from !== null && units.has(from)) return from;
    const { id, value } = inputValue(name, run, sources.inputs);
    if (inputs.has(id) || factors.has(id)) return id;
    const factor = factorNamed(name, value, sources);
    if (factor === null) inputs.set(id, { name: id, value, ...givenOf(id, sources.calculation) });
    else factors.set(id, { name: id, ...factor });
    return id;
  };
  const steps = printed.map(({ evaluatedAs, formula, key, names, origin, run, unit }): LineageStep => {
    const [low, high] = [trace[`${key}@low`], trace[`${key}@high`]];
    const hasBounds = units.has(`${key}@low`) && low !== undefined && high !== undefined;
    return {
      id: key,
      formula,
      ...(evaluatedAs !== null && { evaluated_as: evaluatedAs }),
      origin,
      inputs: [...names].map(([name, from]) => read(name, from, run)),
      output: { value: trace[key] ?? null, unit },
      ...(hasBounds && { uncertainty: { low, high, basis } }),
    };
  });
  return { inputs: [...inputs.values()], factors: [...factors.values()], steps };
}

/** Null for a name that is no factor. */
function factorNamed(name: string, value: number | null, { calculation, grid, method }: Sources): Factor | null {
  const ofGrid = gridFactorOf(name, grid, value, method);
  return (ofGrid === null ? factorOf(name, method, calculation) : withUncertainty(name, ofGrid, method)) ?? null;
}

const baseOf = (name: string): string => name.split('@')[0] ?? name;
const sized = new Set(['P_active', 'P_total']);
const stated = new Set(['stated_energy']);

/** The end of a range that a name means: a name can have a run of its own, else it is of that of its step. */
const endOf = (name: string, run: string | null): 'min' | 'max' => {
  const of = name.split('@')[1] ?? run;
  return of === 'min' || of === 'least' ? 'min' : 'max';
};

/** The name of an input tells the end of a range apart, where there is one. */
function inputValue(
  name: string,
  run: string | null,
  inputs: Sources['inputs'],
): { readonly id: string; readonly value: number | null } {
  const base = baseOf(name);
  const known = (value: number | null | undefined): number | null =>
    value == null || Number.isNaN(value) ? null : value;
  if (!sized.has(base)) return { id: base, value: known(inputs[base]) };
  const [min, max] = [inputs[`${base}_min`], inputs[`${base}_max`]];
  const end = endOf(name, run);
  return { id: Object.is(min, max) ? base : `${base}@${end}`, value: known(end === 'min' ? min : max) };
}

function givenOf(id: string, { measured, model_kind }: Calculation): Given {
  const [base = id, end = 'max'] = id.split('@');
  const found = inputOf(base) ?? { unit: '1', source: 'unknown', fact: null };
  if (stated.has(base)) return { ...found, unit: measured?.unit ?? 'Wh' };
  if (base === 'T_out' && model_kind === 'embedding') return { ...found, fact: null };
  return base === 'P_active' ? { ...found, fact: `${found.fact}.${end}` } : found;
}
