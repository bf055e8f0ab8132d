/**
 * The names in the formulas of a methodology, as its document explains them so that a lineage can be held against it: each input
 * with its unit and its place in the facts, each factor with all that a lineage prints.
 */

import type { ModelClass, ModelFacts } from '../facts/facts.ts';
import { type Given, inputOf } from '../facts/inputs.ts';
import { formulaOf } from '../language/parse.ts';
import { uncertaintyOf } from './bound-factors.ts';
import type { Step } from './ecologits-steps.ts';
import { classOfFactor, type FactorRules, factorOf } from './factor-table.ts';
import { standIns } from './factors.ts';
import type { Factor } from './named-factors.ts';

const classes = Object.keys(standIns) as readonly ModelClass[];
const kinds: readonly ModelFacts['kind'][] = ['chat', 'embedding'];

type Named<T> = Readonly<Record<string, T>>;

export interface DocumentTables {
  readonly inputs: Named<Given>;
  /** Include those of the largest class, since it is the same for every call. */
  readonly factors: Named<Factor>;
  readonly factorsOfClasses: Named<Named<Factor>>;
  /** The factors of the smallest class that a model of the kind can be of. */
  readonly factorsOfKinds: Named<Named<Factor>>;
  /** Their values are facts, under the terms of the source. */
  readonly gridFactors: Named<Pick<Factor, 'unit' | 'uncertainty'>>;
}

export function documentTables(steps: Readonly<Record<string, Step>>, rules: FactorRules): DocumentTables {
  const names = [...new Set(Object.values(steps).flatMap(({ formula }) => formulaOf(formula).names))].sort();
  const known = <T>(of: (name: string) => T | null): Record<string, T> =>
    Object.fromEntries(
      names.flatMap((name) => {
        const found = of(name);
        return found === null ? [] : [[name, found]];
      }),
    );
  const factorIn = (name: string, model_class: ModelClass | null, model_kind: ModelFacts['kind']) =>
    factorOf(name, rules, classOfFactor(name, { model_class, model_kind }));
  const isFloor = (name: string): boolean => name.startsWith('floor_');
  const factors = known((name) => (isFloor(name) ? null : factorIn(name, null, 'chat')));
  const only = (found: (name: string) => Factor | null) => known((name) => (name in factors ? null : found(name)));
  const ofClass = (name: ModelClass) => only((each) => (isFloor(each) ? null : factorIn(each, name, 'chat')));
  const ofKind = (kind: ModelFacts['kind']) => only((each) => (isFloor(each) ? factorIn(each, null, kind) : null));
  return {
    inputs: known(inputOf),
    factors,
    factorsOfClasses: Object.fromEntries(classes.map((name) => [name, ofClass(name)])),
    factorsOfKinds: Object.fromEntries(kinds.map((kind) => [kind, ofKind(kind)])),
    gridFactors: {
      grid_intensity: { unit: 'gCO2e/kWh', uncertainty: uncertaintyOf('grid_intensity') },
      WUE_grid: { unit: 'L/kWh', uncertainty: uncertaintyOf('WUE_grid') },
    },
  };
}
