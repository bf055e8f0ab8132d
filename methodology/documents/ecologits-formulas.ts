/**
 * The formulas that a receipt by EcoLogits' methodology needs beside its published ones: bounds from the literature, and the
 * temporal match by the age before it is rounded.
 */
import { boundFormulas } from './bound-formulas.ts';
import type { Step } from './ecologits-steps.ts';
import { formulas, type Part, parts, step } from './formulas.ts';

/** The bounds of work are the parameter range where there is one, else the half-width of the tier. */
function workBounds({ id, unit, writing, reading }: Part): Record<string, Step> {
  const [fast, slow] = ['(utilisation / utilisation_max)', '(utilisation / utilisation_min)'];
  const perClass = formulas[`${id}/class`]?.formula;
  return {
    ...step(`${id}/low`, unit, `${writing('')} * (1 - parametric_spread) + ${reading} * ${fast}`),
    ...step(`${id}/high`, unit, `${writing('')} * (1 + parametric_spread) + ${reading} * ${slow}`),
    ...step(`${id}/range_low`, unit, `${writing('@min')} + ${reading}@min * ${fast}`),
    ...step(`${id}/range_high`, unit, `${writing('@max')} + ${reading}@max * ${slow}`),
    ...step(`${id}/class_low`, unit, `(${perClass}) * (1 - proxy_spread)`),
    ...step(`${id}/class_high`, unit, `(${perClass}) * (1 + proxy_spread)`),
  };
}

const age =
  'is_forecast = 1 ? unknown : period_start <= requested_at and requested_at < period_end ? 0 : observed_at > requested_at ? unknown : (requested_at - observed_at) / 60000';

export const ecologitsFormulas: Readonly<Record<string, Step>> = {
  ...formulas,
  ...Object.assign({}, ...parts.map(workBounds)),
  ...step('sci_g_per_request', 'g', 'carbon_g'),
  ...step('exact_age', 'min', age),
  ...step(
    'grid_temporal_match_number',
    boundFormulas(false).grid_temporal_match_number?.unit ?? '1',
    'is_annual = 1 ? 4 : known_or(exact_age + 1, 0) = 0 ? 2 : known_or(stated_match, 0) > 2 ? stated_match : exact_age > 120 ? 5 : exact_age <= 15 ? 0 : 1',
  ),
};

/** EcoLogits' lineages never had these steps: its receipts state their results without a formula. */
export const unprintedSteps: readonly string[] = ['sci_g_per_request', 'exact_age', 'grid_temporal_match_number'];
