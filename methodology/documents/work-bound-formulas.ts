/**
 * The formulas of the ends of modelled work. Keys are as in bound-formulas.ts.
 *
 * The runs `least` and `most` are the modelling itself (formulas.ts) with what is not known without a distribution at that end:
 * parameters, counts, how well the accelerators were used, what a cache served. `low` and `high` have the spreads beside it.
 */
import type { Step } from './ecologits-steps.ts';
import { type Part, parts, step } from './formulas.ts';

const ends = {
  ...step('T_out/least', 'token', 'known_or(T_out_least, T_out)'),
  ...step('T_out/most', 'token', 'known_or(T_out_most, T_out)'),
  ...step('T_in/least', 'token', 'known_or(T_in_least, T_in)'),
  ...step('T_in/most', 'token', 'known_or(T_in_most, T_in)'),
  // Where nobody counted the tokens: the fewest that there can be.
  ...step('T_out/fewest', 'token', 'fewest_tokens'),
  ...step('T_in/fewest', 'token', 'fewest_tokens'),
  ...step('T_out/none', 'token', '0'),
  ...step('T_in/none', 'token', '0'),
  // A provider may have read again what its cache served, and nobody else sees it.
  ...step('T_cached/none', 'token', '0'),
  ...step('utilisation/least', '1', 'utilisation_max'),
  ...step('utilisation/most', '1', 'utilisation_min'),
};

const spreads = {
  ...step('completion_ratio/estimated', '1', 'estimated_count_ratio'),
  ...step('completion_ratio/reported', '1', '1'),
  ...step('prompt_ratio/estimated', '1', 'estimated_count_ratio'),
  ...step('prompt_ratio/reported', '1', '1'),
  ...step('hardware_ratio', '1', 'is_other_hardware = 1 ? other_hardware_ratio : 1'),
  ...step('guess_ratio', '1', 'is_guessed = 1 ? guessed_size_ratio : 1'),
  ...step('guess_ratio/class', '1', '1'),
  ...step('reading_spread', '1', 'combined(hardware_ratio, prompt_ratio, guess_ratio)'),
  ...Object.assign(
    {},
    ...['least', 'most'].map((side) => ({
      ...step(
        `writing_spread_${side}`,
        '1',
        `combined(model_ratio_${side}, hardware_ratio, completion_ratio, guess_ratio)`,
      ),
      ...step(
        `time_spread_${side}`,
        '1',
        `combined(time_ratio_${side}, hardware_ratio, completion_ratio, guess_ratio)`,
      ),
    })),
  ),
};

function workEnds({ id, unit, writing, reading }: Part): Record<string, Step> {
  const spread = id === 'accelerator_energy' ? 'writing_spread' : 'time_spread';
  return {
    ...step(`${id}/least`, unit, `${writing('@least')} + ${reading('@least')}`),
    ...step(`${id}/most`, unit, `${writing('@most')} + ${reading('@most')}`),
    ...step(`${id}/low`, unit, `${writing('@least')} / ${spread}_least + ${reading('@least')} / reading_spread`),
    ...step(`${id}/high`, unit, `${writing('@most')} * ${spread}_most + ${reading('@most')} * reading_spread`),
  };
}

export const workBoundFormulas: Readonly<Record<string, Step>> = {
  ...ends,
  ...spreads,
  ...Object.assign({}, ...parts.map(workEnds)),
};
