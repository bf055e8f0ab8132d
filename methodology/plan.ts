/**
 * Which formulas make up one receipt: the steps of a kind of calculation, in an order in which each can be evaluated.
 *
 * Invariant: the plan follows from the calculation and the methodology alone, so a lineage can leave no step out and add
 * none. A step that no number of the receipt depends on is not in it.
 */

import { combinedSteps } from './bound-plan.ts';
import { boundPrograms } from './bound-programs.ts';
import type { Calculation } from './calculation.ts';
import { bounded, type Chosen, once, reading, works, writing } from './chosen-steps.ts';
import { countingPrograms } from './counting-programs.ts';
import type { EstimatedCounts } from './facts.ts';
import { formulaOf } from './formula.ts';
import type { Methodology } from './methodologies.ts';
import { programs } from './programs.ts';
import type { Step } from './steps.ts';

export interface PlannedStep extends Step {
  /** The step's id, with `@` and the run where a step is computed several times. */
  readonly key: string;
  /** The text that is evaluated, where the methodology's own is written for readers; else null. */
  readonly evaluatedAs: string | null;
  /** The program's names, each with the key of the step that gives it; null for an input or a factor. */
  readonly names: ReadonlyMap<string, string | null>;
  readonly evaluate: (names: (name: string) => number | null) => number | null;
}

const plans = new Map<string, readonly PlannedStep[]>();

export function planOf(calculation: Calculation, method: Methodology): readonly PlannedStep[] {
  const { boundary, estimated_counts, measured, model_class, model_kind, modelled_by, tier } = calculation;
  const { parameter_range, uncompared } = calculation;
  const model = [modelled_by, parameter_range, model_class, estimated_counts, uncompared, uncompared && model_kind];
  const kind = JSON.stringify([method.id, tier, boundary, model, measured]);
  let plan = plans.get(kind);
  if (plan === undefined) {
    plan = needed(allSteps(calculation, method), method);
    plans.set(kind, plan);
  }
  return plan;
}

function allSteps(calculation: Calculation, method: Methodology): Chosen[] {
  const { boundary, measured } = calculation;
  if (method.combinesBounds) return combinedSteps(calculation);
  const total = measured?.scope === 'total';
  return [
    ...modelSteps(calculation, method),
    ...(measured === null ? [] : measuredSteps(measured)),
    ...(total ? totalSteps(calculation) : boundary === 'narrow' ? narrowSteps() : comprehensiveSteps(method)),
    { program: 'pue', run: null },
    { program: 'grid_intensity_g_per_kwh', run: null },
    { program: 'grid_intensity_age_minutes', run: null },
  ];
}

/** How far off the counts can be, where one of them was estimated. */
function ratioSteps(estimated: EstimatedCounts): Chosen[] {
  return (['prompt', 'completion'] as const).flatMap((count) => {
    const variant = estimated === count || estimated === 'both' ? 'estimated' : 'reported';
    return [once(`${count}_least/${variant}`), once(`${count}_most/${variant}`)];
  });
}

function modelSteps(calculation: Calculation, method: Methodology): Chosen[] {
  const { estimated_counts, measured, modelled_by, parameter_range } = calculation;
  if (modelled_by === null) return [];
  const ratios = estimated_counts === undefined ? [] : ratioSteps(estimated_counts);
  const counted = estimated_counts === undefined ? '' : '_counted';
  const modelled = measured?.scope === 'accelerator' ? works.slice(1) : works;
  const input = method.chargesInput ? [once('charged_input_tokens')] : [];
  if (modelled_by === 'proxy') {
    const ends = [`/class_low${counted}`, `/class_high${counted}`] as const;
    return [...ratios, ...input, ...modelled.flatMap((id) => bounded(id, '/class', ...ends))];
  }
  const each = method.chargesInput ? [...writing, ...reading] : writing;
  const runs = parameter_range ? ['min', 'max'] : [null];
  const [central, low, high] = parameter_range
    ? (['/range', '/range_low', '/range_high'] as const)
    : (['', '/low', '/high'] as const);
  return [
    ...ratios,
    ...input,
    ...runs.flatMap((run) => each.map((program) => ({ program, run }))),
    ...modelled.flatMap((id) => bounded(id, central, low + counted, high + counted)),
  ];
}

function measuredSteps({ bounds, scope, unit }: NonNullable<Calculation['measured']>): Chosen[] {
  const converted = unit === null ? [] : [once(`reported_energy/${unit}`)];
  if (scope === 'accelerator') {
    return [...converted, ...bounded('accelerator_energy', '/measured', '/measured_low', '/measured_high')];
  }
  if (bounds === 'stated') {
    const ends = [once(`reported_min/${unit}`), once(`reported_max/${unit}`)];
    return [...converted, ...ends, ...bounded('request_energy', '/reported', '/reported_min', '/reported_max')];
  }
  const [low, high] =
    bounds === 'estimate'
      ? (['/estimated_low', '/estimated_high'] as const)
      : (['/reported_low', '/reported_high'] as const);
  return [...converted, ...bounded('request_energy', '/reported', low, high)];
}

function totalSteps({ measured, modelled_by }: Calculation): Chosen[] {
  const carbon = modelled_by === null ? '/operation' : '';
  const includes = measured?.includes_pue ?? null;
  const water = `request_usage_wcf/${includes === true ? 'with' : 'without'}_overhead`;
  return [
    ...bounded('request_usage_gwp', '', '', ''),
    ...(modelled_by === null ? [] : bounded('request_embodied_gwp', '', '', '')),
    ...(includes === null ? [] : [once(water), once('water_ml')]),
    once('energy_wh/total'),
    ...['energy_low_wh', 'energy_high_wh'].map(once),
    ...['carbon_g', 'carbon_operation_g'].map((id) => once(id + carbon)),
    ...(modelled_by === null ? [] : [once('carbon_embodied_g')]),
    ...['carbon_low_g', 'carbon_high_g'].map((id) => once(id + carbon)),
  ];
}

function narrowSteps(): Chosen[] {
  return [
    ...bounded('request_usage_gwp', '/narrow', '/narrow', '/narrow'),
    ...['energy_wh', 'energy_accelerator_wh', 'energy_low_wh', 'energy_high_wh'].map((id) => once(`${id}/narrow`)),
    ...['carbon_g', 'carbon_operation_g', 'carbon_low_g', 'carbon_high_g'].map((id) => once(`${id}/operation`)),
  ];
}

function comprehensiveSteps(method: Methodology): Chosen[] {
  const parts = ['energy_wh', 'energy_accelerator_wh', 'energy_host_wh', 'energy_overhead_wh'];
  const energies = method.idleShare === null ? parts.map((id) => `${id}/without_idle`) : [...parts, 'energy_idle_wh'];
  const accounts = ['idle_energy', 'request_it_energy', 'overhead_energy', 'request_energy', 'request_usage_gwp'];
  const rounded = ['energy_low_wh', 'energy_high_wh', 'carbon_g', 'carbon_operation_g', 'carbon_embodied_g'];
  return [
    ...[...accounts, 'request_embodied_gwp'].flatMap((id) => bounded(id, '', '', '')),
    once('request_usage_wcf'),
    ...[...energies, ...rounded, 'carbon_low_g', 'carbon_high_g', 'water_ml'].map(once),
  ];
}

const isReceiptField = (key: string): boolean =>
  /(_wh|_g|_ml|_g_per_kwh|_minutes|_per_request|_match_number|^pue)$/.test(key);

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

const idOf = (program: string): string => program.split('/')[0] ?? program;
const keyOf = ({ program, run }: Chosen): string => (run === null ? idOf(program) : `${idOf(program)}@${run}`);

/** A name means the step of the same run, but never the step itself, else the one that all runs share. */
function planned(chosen: Chosen, keys: ReadonlySet<string>, method: Methodology): PlannedStep {
  const step = programs[chosen.program] ?? countingPrograms[chosen.program] ?? boundPrograms[chosen.program];
  if (step === undefined) throw new TypeError(`No formula ${chosen.program}`);
  const { evaluate, names } = formulaOf(step.formula);
  const giver = (name: string): string | null => {
    const sameRun = `${name}@${chosen.run}`;
    if (sameRun !== keyOf(chosen) && keys.has(sameRun)) return sameRun;
    return keys.has(name) ? name : null;
  };
  const published = method.steps[chosen.program];
  return {
    ...step,
    key: keyOf(chosen),
    formula: published?.formula ?? step.formula,
    origin: published?.origin ?? step.origin,
    evaluatedAs: published === undefined || published.formula === step.formula ? null : step.formula,
    names: new Map(names.map((name) => [name, giver(name)])),
    evaluate,
  };
}
