/** Every factor that a formula can name, with the parameters of the classes. */
import type { ModelClass } from '../facts/facts.ts';
import { servingFactor, uncertaintyOf } from './bound-factors.ts';
import { classSpans, standIns } from './factors.ts';
import type { Serving } from './measured-ratios.ts';
import { constants, type Factor, google, ours, type TabledFactor } from './named-factors.ts';

/** The rules of a methodology that its factors depend on. */
export interface FactorRules {
  /** Idle Wh per active Wh; null where idle capacity is outside the methodology. */
  readonly idleShare: number | null;
  /** The factors of the bounds have uncertainties; those of the literature have none. */
  readonly isOwn: boolean;
}

/** The members of a calculation (choice/calculation.ts) that factors depend on. */
export interface FactorKeys {
  readonly model_class: ModelClass | null;
  readonly serving: Serving | null;
}
export const noKeys: FactorKeys = { model_class: null, serving: null };

/** The factor of this name under the methodology, or null: then the name is an input of the call. */
export function factorOf(name: string, rules: FactorRules, keys: FactorKeys): Factor | null {
  const tabled = tabledFactor(name, rules, keys);
  return tabled === null ? null : withUncertainty(name, tabled, rules);
}

export const withUncertainty = (name: string, tabled: TabledFactor, { isOwn }: Pick<FactorRules, 'isOwn'>): Factor => ({
  ...tabled,
  uncertainty: isOwn ? uncertaintyOf(name) : null,
});

/** The stand-in of a class has the ends `min` and `max`; the smallest and the largest model that it stands for are `least` and `most`. */
const ends = {
  min: [standIns, 'min'],
  max: [standIns, 'max'],
  least: [classSpans, 'min'],
  most: [classSpans, 'max'],
} as const;
const classPattern = /^class_(active|total)_(min|max|least|most)$/;

function tabledFactor(
  name: string,
  rules: FactorRules,
  { model_class: modelClass, serving }: FactorKeys,
): TabledFactor | null {
  if (name === 'k_idle') return rules.idleShare === null ? ours(0, '1') : google(rules.idleShare, '1');
  if (Object.hasOwn(constants, name)) return constants[name] ?? null;
  const measured = serving === null ? null : servingFactor(name, serving);
  if (measured !== null) return measured;
  const match = classPattern.exec(name);
  if (match === null || modelClass === null) return null;
  const [, which, end] = match;
  const [sizes, at] = ends[end as keyof typeof ends];
  return ours(sizes[modelClass][which as 'active' | 'total'][at], 'billion parameters');
}
