/**
 * The formulas that gw-1.3 adds to those of programs.ts: the bounds of work whose token counts were estimated from text.
 *
 * Invariant: the values are those of the counts as they are; only the bounds know that a count is an estimate. Each text
 * states the operations of the code in their order, so that both give the same double.
 */
import { type Part, parts, step } from './programs.ts';
import type { Step } from './steps.ts';

/** How much less and more the true count can be, as a ratio; 1 where the provider counted. */
const ratios = {
  ...step('completion_least/estimated', '1', '1 / estimated_count_ratio'),
  ...step('completion_most/estimated', '1', 'estimated_count_ratio'),
  ...step('completion_least/reported', '1', '1'),
  ...step('completion_most/reported', '1', '1'),
  ...step('prompt_least/estimated', '1', '1 / estimated_count_ratio'),
  ...step('prompt_most/estimated', '1', 'estimated_count_ratio'),
  ...step('prompt_least/reported', '1', '1'),
  ...step('prompt_most/reported', '1', '1'),
};

function boundFormulas({ id, unit, writing, reading }: Part): Record<string, Step> {
  const fast = '(utilisation / utilisation_max * prompt_least)';
  const slow = '(utilisation / utilisation_min * prompt_most)';
  const perClass = (end: string) =>
    `class_output_${id} * (T_out * completion_${end}) + class_input_${id} * (charged_input_tokens * prompt_${end})`;
  return {
    ...step(
      `${id}/low_counted`,
      unit,
      `${writing('')} * ((1 - parametric_spread) * completion_least) + ${reading} * ${fast}`,
    ),
    ...step(
      `${id}/high_counted`,
      unit,
      `${writing('')} * ((1 + parametric_spread) * completion_most) + ${reading} * ${slow}`,
    ),
    ...step(`${id}/range_low_counted`, unit, `${writing('@min')} * completion_least + ${reading}@min * ${fast}`),
    ...step(`${id}/range_high_counted`, unit, `${writing('@max')} * completion_most + ${reading}@max * ${slow}`),
    ...step(`${id}/class_low_counted`, unit, `(${perClass('least')}) * (1 - proxy_spread)`),
    ...step(`${id}/class_high_counted`, unit, `(${perClass('most')}) * (1 + proxy_spread)`),
  };
}

export const countingPrograms: Readonly<Record<string, Step>> = {
  ...ratios,
  ...Object.assign({}, ...parts.map(boundFormulas)),
};
