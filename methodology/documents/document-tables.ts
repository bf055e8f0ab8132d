/**
 * The names in the formulas of a methodology, as its document explains them so that a lineage can be held against it: each input
 * with its unit and its place in the facts, each factor with all that a lineage prints.
 */

import type { ModelClass } from '../facts/facts.ts';
import { type Given, inputOf } from '../facts/inputs.ts';
import { formulaOf } from '../language/parse.ts';
import { uncertaintyOf } from './bound-factors.ts';
import type { Step } from './ecologits-steps.ts';
import { type FactorKeys, type FactorRules, factorOf, noKeys } from './factor-table.ts';
import { standIns } from './factors.ts';
import { measuredRatios, type Serving } from './measured-ratios.ts';
import type { Factor } from './named-factors.ts';

const classes = Object.keys(standIns) as readonly ModelClass[];

const servings = Object.keys(measuredRatios) as readonly Serving[];

type Named<T> = Readonly<Record<string, T>>;

export interface DocumentTables {
  readonly inputs: Named<Given>;
  readonly factors: Named<Factor>;
  readonly factorsOfClasses: Named<Named<Factor>>;
  /** The keys are those of `calculation.serving`. */
  readonly factorsOfServing: Named<Named<Factor>>;
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
  const factors = known((name) => factorOf(name, rules, noKeys));
  const only = (keys: Partial<FactorKeys>) =>
    known((name) => (name in factors ? null : factorOf(name, rules, { ...noKeys, ...keys })));
  return {
    inputs: known(inputOf),
    factors,
    factorsOfClasses: Object.fromEntries(classes.map((name) => [name, only({ model_class: name })])),
    factorsOfServing: Object.fromEntries(servings.map((serving) => [serving, only({ serving })])),
    gridFactors: {
      grid_intensity: { unit: 'gCO2e/kWh', uncertainty: uncertaintyOf('grid_intensity') },
      WUE_grid: { unit: 'L/kWh', uncertainty: uncertaintyOf('WUE_grid') },
    },
  };
}
