/** Every factor that a formula can name, with the classes' own, which follow from the formulas. */

import type { ModelClass, ModelFacts } from '../facts/facts.ts';
import { uncertaintyOf } from './bound-factors.ts';
import { type ClassFactors, classEnds, classFactors } from './class-factors.ts';
import { classSpans } from './factors.ts';
import { constants, type Factor, google, ours, own, type TabledFactor } from './named-factors.ts';

const workUnits = {
  accelerator_energy: ['acceleratorWh', 'Wh/token'],
  host_energy: ['hostWh', 'Wh/token'],
  accelerator_time: ['acceleratorS', 'GPU·s/token'],
} as const;
type WorkId = keyof typeof workUnits;
const classPattern = /^class_(least_|most_)?(output|input)_(accelerator_energy|host_energy|accelerator_time)$/;

/** The rules of a methodology that its factors depend on. */
export interface FactorRules {
  /** Idle Wh per active Wh; null where idle capacity is outside the methodology. */
  readonly idleShare: number | null;
  /** The factors of the bounds have uncertainties; those of the literature have none. */
  readonly isOwn: boolean;
}

/** The class that stands for a model that is not known: the smallest of its kind, below which no measured energy can be. */
export const floorClasses: Readonly<Record<ModelFacts['kind'], ModelClass>> = { chat: 'small', embedding: 'embedding' };
/** And the largest, above which none can be. */
export const ceilingClass: ModelClass = 'frontier';

/** The factor of this name under the methodology, or null: then the name is an input of the call. */
export function factorOf(name: string, rules: FactorRules, modelClass: ModelClass | null): Factor | null {
  const tabled = tabledFactor(name, rules, modelClass);
  return tabled === null ? null : withUncertainty(name, tabled, rules);
}

export const withUncertainty = (name: string, tabled: TabledFactor, { isOwn }: Pick<FactorRules, 'isOwn'>): Factor => ({
  ...tabled,
  uncertainty: isOwn ? uncertaintyOf(name) : null,
});

/** The names of the floor and the ceiling as those of the end of a class. */
const classNamed = (name: string): string =>
  name
    .replace(/^floor_(?=output|input)/, 'class_least_')
    .replace(/^ceiling_(?=output|input)/, 'class_most_')
    .replace(/^(floor|ceiling)_/, 'class_');

/** The class that a factor is of: the one that stands for the model, or the smallest or the largest. */
export function classOfFactor(
  name: string,
  model: { readonly model_class: ModelClass | null; readonly model_kind: ModelFacts['kind'] },
): ModelClass | null {
  if (name.startsWith('floor_')) return floorClasses[model.model_kind];
  return name.startsWith('ceiling_') ? ceilingClass : model.model_class;
}

const billions = (count: number): TabledFactor => ours(count, 'billion parameters');

function tabledFactor(given: string, rules: FactorRules, modelClass: ModelClass | null): TabledFactor | null {
  const name = Object.hasOwn(constants, given) ? given : classNamed(given);
  if (name === 'k_idle') return rules.idleShare === null ? ours(0, '1') : google(rules.idleShare, '1');
  if (Object.hasOwn(constants, name)) return constants[name] ?? null;
  if (modelClass !== null && name === 'class_active_least') return billions(classSpans[modelClass].active.min);
  if (modelClass !== null && name === 'class_total_most') return billions(classSpans[modelClass].total.max);
  const match = classPattern.exec(name);
  if (match === null || modelClass === null) return null;
  const [, end, of, work] = match;
  const [field, unit] = workUnits[work as WorkId];
  const { least, most } = classEnds[modelClass];
  const factors: ClassFactors = end === undefined ? classFactors[modelClass] : end === 'least_' ? least : most;
  const which = end === undefined ? 'stand-in' : end === 'least_' ? 'smallest model' : 'largest model';
  return {
    value: (of === 'output' ? factors.perOutputToken : factors.perInputToken)[field],
    unit,
    source: `parametric formulas of this methodology for the ${which} of the class ${modelClass}`,
    ...own,
  };
}
