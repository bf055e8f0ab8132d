/**
 * Which formulas make up one receipt: the steps of a kind of calculation, in an order in which each can be evaluated.
 *
 * Invariant: the plan follows from the calculation and the methodology alone, so a lineage can leave no step out and add
 * none. A step that no number of the receipt depends on is not in it.
 */
import type { Step } from '../documents/ecologits-steps.ts';
import type { Methodology } from '../documents/methodologies.ts';
import { constants } from '../documents/named-factors.ts';
import { formulaOf } from '../language/parse.ts';
import { ownSteps } from './bound-plan.ts';
import { type Calculation, calculations, programName } from './calculation.ts';
import { type Chosen, once } from './chosen-steps.ts';
import { ecologitsPlan } from './ecologits-plan.ts';

export interface PlannedStep extends Step {
  /** The key of its formula: the id, with `/` and a variant where a step has several. */
  readonly program: string;
  /** The step's id, with `@` and the run where a step is computed several times. */
  readonly key: string;
  readonly run: string | null;
  /** The text that is evaluated, where the methodology's own is written for readers; else null. */
  readonly evaluatedAs: string | null;
  /** The names in the formula, each with the key of the step that gives it; null for an input or a factor. */
  readonly names: ReadonlyMap<string, string | null>;
}

const plans = new Map<string, readonly PlannedStep[]>();

export function planOf(calculation: Calculation, method: Methodology): readonly PlannedStep[] {
  const { estimated_counts, measured } = calculation;
  const kind = [method.id, programName(calculation), measured?.unit, estimated_counts].join(' ');
  let plan = plans.get(kind);
  if (plan === undefined) {
    const chosen = method.isOwn ? ownSteps(calculation) : ecologitsPlan(calculation);
    plan = needed([...chosen, ...(method.isOwn ? unnamedFields(chosen, method) : [])], method);
    plans.set(kind, plan);
  }
  return plan;
}

/** Whether a step gives a number of the receipt: then its name ends in the number's unit. */
export const isReceiptField = (key: string): boolean =>
  /(_wh|_g|_ml|_g_per_kwh|_minutes|_per_request|_match_number|^pue)$/.test(key);

const alwaysKnown = new Set(['PUE', 'grid_intensity']);

/** A number of the receipt that no plan names is in each calculation that has its operands. */
function unnamedFields(chosen: readonly Chosen[], method: Methodology): Chosen[] {
  const named = new Set(calculations.flatMap((each) => ownSteps(each)).map(({ program }) => idOf(program)));
  const keys = new Set(chosen.map(keyOf));
  const isThere = (name: string): boolean => keys.has(name) || name in constants || alwaysKnown.has(name);
  return Object.entries(method.formulas).flatMap(([key, { formula }]) =>
    isReceiptField(key) && !named.has(idOf(key)) && formulaOf(formula).names.every(isThere) ? [once(key)] : [],
  );
}

/** The steps that say how old a grid value is, and how well it fits. */
export const gridPlan = (method: Methodology): readonly PlannedStep[] =>
  needed(['grid_intensity_age_minutes', 'grid_temporal_match_number'].map(once), method);

/** From the receipt's fields back to what they depend on. */
function needed(chosen: readonly Chosen[], method: Methodology): PlannedStep[] {
  const keys = new Set(chosen.map(keyOf));
  const steps = chosen.map((each) => planned(each, keys, method));
  const wanted = new Set<string>();
  for (const step of steps.toReversed()) {
    if (!isReceiptField(step.key) && !wanted.has(step.key)) continue;
    wanted.add(step.key);
    for (const from of step.names.values()) if (from !== null) wanted.add(from);
  }
  return steps.filter(({ key }) => wanted.has(key));
}

export const idOf = (program: string): string => program.split('/')[0] ?? program;
const keyOf = ({ program, run }: Chosen): string => (run === null ? idOf(program) : `${idOf(program)}@${run}`);

/** A name means the step of the same run, but never the step itself, else the one that all runs share. */
function planned(chosen: Chosen, keys: ReadonlySet<string>, method: Methodology): PlannedStep {
  const { program, run } = chosen;
  const step = method.formulas[program];
  if (step === undefined) throw new TypeError(`No formula ${program}`);
  const giver = (name: string): string | null => {
    const sameRun = `${name}@${run}`;
    if (sameRun !== keyOf(chosen) && keys.has(sameRun)) return sameRun;
    return keys.has(name) ? name : null;
  };
  const published = method.steps[program] ?? step;
  return {
    ...published,
    program,
    key: keyOf(chosen),
    run,
    evaluatedAs: published.formula === step.formula ? null : step.formula,
    names: new Map(formulaOf(step.formula).names.map((name) => [name, giver(name)])),
  };
}
