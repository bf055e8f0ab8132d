/** The formulas of the ends of modelled work: of a model, of a range of parameters, of a class. Keys are as in bound-formulas.ts. */
import type { Step } from './ecologits-steps.ts';
import { type Part, parts, step } from './formulas.ts';

/** The ends of the counts, as ratios to them; 1 where nothing says that a count stands for more or fewer. */
const countEnds = {
  ...step('completion_least', '1', 'T_out = 0 ? 1 : known_or(T_out_least, T_out) / T_out'),
  ...step('completion_most', '1', 'T_out = 0 ? 1 : known_or(T_out_most, T_out) / T_out'),
  ...step('prompt_least', '1', 'T_in = 0 ? 1 : known_or(T_in_least, T_in) / T_in'),
  ...step('prompt_most', '1', 'T_in = 0 ? 1 : known_or(T_in_most, T_in) / T_in'),
  // Where nobody counted the tokens, other ends than those of the counts stand.
  ...step('completion_least/uncounted', '1', '1'),
  ...step('completion_most/uncounted', '1', '1'),
  ...step('prompt_least/uncounted', '1', '1'),
  ...step('prompt_most/uncounted', '1', '1'),
  ...step('writing_most', '1', 'writing_attention_most * completion_most'),
};

/** How the formulas name the ends of the counts: gw-1.4 took every count as it is. */
interface CountTexts {
  readonly promptLeast: string;
  readonly promptMost: string;
  readonly completionLeast: string;
  readonly context: readonly [read: string, wrote: string];
  readonly least: string;
  readonly writingMost: string;
  /** Gives the formula of what writes, before the spreads. */
  readonly wroteLeast: (tokens: string) => string;
}
const takenAsTheyAre: CountTexts = {
  promptLeast: '',
  promptMost: '',
  completionLeast: '1',
  context: ['T_in', '(2 * T_in + T_out)'],
  least: '',
  writingMost: 'writing_attention_most',
  wroteLeast: (tokens) => tokens,
};
const withEnds: CountTexts = {
  promptLeast: ' * prompt_least',
  promptMost: ' * prompt_most',
  completionLeast: 'completion_least',
  context: ['(T_in * prompt_most)', '(2 * (T_in * prompt_most) + T_out * completion_most)'],
  least: ' * completion_least',
  writingMost: 'writing_most',
  wroteLeast: (tokens) => `(${tokens} * completion_least)`,
};

const ratios = (counts: CountTexts) => ({
  ...step('completion_ratio/estimated', '1', 'estimated_count_ratio'),
  ...step('completion_ratio/reported', '1', '1'),
  ...step('prompt_ratio/estimated', '1', 'estimated_count_ratio'),
  ...step('prompt_ratio/reported', '1', '1'),
  ...step('hardware_ratio', '1', 'is_other_hardware = 1 ? other_hardware_ratio : 1'),
  ...step('guess_ratio', '1', 'is_guessed = 1 ? guessed_size_ratio : 1'),
  ...step('guess_ratio/class', '1', '1'),
  // A provider may have read again what its cache served, and nobody else sees it.
  ...step('charged_input_tokens/all', 'token', 'T_in'),
  ...step('reading_least', '1', `utilisation / utilisation_max${counts.promptLeast}`),
  ...step('reading_most', '1', `utilisation / utilisation_min * attention_most${counts.promptMost}`),
  ...step('reading_low', '1', 'reading_least / combined(hardware_ratio, prompt_ratio, guess_ratio)'),
  ...step('reading_high', '1', 'reading_most * combined(hardware_ratio, prompt_ratio, guess_ratio)'),
  ...step(
    'writing_low',
    '1',
    `${counts.completionLeast} / combined(model_ratio_least, size_ratio, hardware_ratio, completion_ratio, guess_ratio)`,
  ),
  ...step(
    'writing_high',
    '1',
    `${counts.writingMost} * combined(model_ratio_most, hardware_ratio, completion_ratio, guess_ratio)`,
  ),
  ...sized('', 'P_active', 'P_total', counts),
  ...sized('/range', 'P_active@min', 'P_total@max', counts),
  ...sized('/class', 'class_active_least', 'class_total_most', counts),
  ...sized('/floor', 'floor_active_least', 'floor_total_most', counts),
  ...sized('/ceiling', 'ceiling_active_least', 'ceiling_total_most', counts),
});

/**
 * The ratios that follow from the fewest parameters that work on a token and the most there are in all.
 *
 * Attention: operations of a forward pass with it, per operation without. The context is twice the tokens that a token finds before
 * it, on average: the whole input is before all that is written. In a mixture of experts the layers and the width follow neither
 * from all parameters nor from the active ones, and their geometric mean comes close. The ratio is the larger, the fewer
 * parameters are active and the more there are, so a range of both is taken there.
 */
function sized(variant: string, active: string, total: string, { context: [read, wrote] }: CountTexts) {
  const layersByWidth = `aspect * ((${active} * ${total}) ^ 0.5 * 1e9 / (parameters_per_squared_width * aspect * aspect)) ^ (2 / 3)`;
  const attention = (context: string) => `1 + ${context} * (${layersByWidth}) / (${active} * 1e9)`;
  return {
    ...step(`size_ratio${variant}`, '1', `${total} > fitted_up_to ? extrapolation_ratio_least : 1`),
    ...step(`attention_most${variant}`, '1', attention(read)),
    ...step(`writing_attention_most${variant}`, '1', attention(wrote)),
  };
}

/** `least` and `most`: what is not known without a distribution at its end. `low` and `high`: the same with the spreads. */
function workEnds({ id, unit, writing, reading }: Part, counts: CountTexts): Record<string, Step> {
  const least = (run: string, at: string, wrote: string) =>
    `${writing(run)}${wrote} + ${reading}${run} * reading_${at}`;
  const most = (run: string, at: string, wrote: string) =>
    `${writing(run)} * ${wrote} + ${reading}@all * reading_${at}`;
  const ends = (variant: string, smallest: string, largest: string) => ({
    ...step(`${id}/${variant}least`, unit, least(smallest, 'least', counts.least)),
    ...step(`${id}/${variant}most`, unit, most(largest, 'most', counts.writingMost)),
    ...step(`${id}/${variant}low_combined`, unit, least(smallest, 'low', ' * writing_low')),
    ...step(`${id}/${variant}high_combined`, unit, most(largest, 'high', 'writing_high')),
  });
  return {
    ...ends('', '', ''),
    ...ends('range_', '@min', '@max'),
    ...step(`${id}/range_smallest`, unit, `${writing('@min')} + ${reading}@min`),
    ...step(`${id}/range_largest`, unit, `${writing('@max')} + ${reading}@max`),
  };
}

/** The ends of the models that a class stands for. */
function classEnds({ id, unit }: Part, counts: CountTexts): Record<string, Step> {
  const [fewest, most] = [counts.wroteLeast('T_out'), `(T_out * ${counts.writingMost})`];
  const charged = (of: string, wrote: string, read: string) =>
    `${of}_output_${id} * ${wrote} + ${of}_input_${id} * ${read}`;
  const ofClass = (end: string, wrote: string, read: string) => charged(`class_${end}`, wrote, read);
  return {
    ...step(`${id}/class_least`, unit, ofClass('least', fewest, '(charged_input_tokens * reading_least)')),
    ...step(`${id}/class_most`, unit, ofClass('most', most, '(charged_input_tokens@all * reading_most)')),
    ...step(
      `${id}/class_low_combined`,
      unit,
      ofClass('least', '(T_out * writing_low)', '(charged_input_tokens * reading_low)'),
    ),
    ...step(
      `${id}/class_high_combined`,
      unit,
      ofClass('most', '(T_out * writing_high)', '(charged_input_tokens@all * reading_high)'),
    ),
    // The smallest and the largest class stand where no model is known, and the fewest tokens where none were counted.
    ...step(`${id}/floor_least`, unit, charged('floor', fewest, '(charged_input_tokens * reading_least)')),
    ...step(
      `${id}/floor_low_combined`,
      unit,
      charged('floor', '(T_out * writing_low)', '(charged_input_tokens * reading_low)'),
    ),
    ...step(`${id}/ceiling_most`, unit, charged('ceiling', most, '(charged_input_tokens@all * reading_most)')),
    ...step(
      `${id}/ceiling_high_combined`,
      unit,
      charged('ceiling', '(T_out * writing_high)', '(charged_input_tokens@all * reading_high)'),
    ),
    ...step(`${id}/fewest_least`, unit, `floor_output_${id} * fewest_tokens`),
    ...step(`${id}/fewest_low_combined`, unit, `floor_output_${id} * (fewest_tokens * writing_low)`),
    ...step(`${id}/fewest_input_least`, unit, `floor_input_${id} * (fewest_tokens * reading_least)`),
    ...step(`${id}/fewest_input_low_combined`, unit, `floor_input_${id} * (fewest_tokens * reading_low)`),
    ...step(`${id}/class_smallest`, unit, ofClass('least', 'T_out', 'charged_input_tokens')),
    ...step(`${id}/class_largest`, unit, ofClass('most', 'T_out', 'charged_input_tokens')),
  };
}

/** `boundsCounts`: whether a count can stand for fewer tokens, or for more. */
export function workBoundFormulas(boundsCounts: boolean): Readonly<Record<string, Step>> {
  const counts = boundsCounts ? withEnds : takenAsTheyAre;
  return {
    ...(boundsCounts && countEnds),
    ...ratios(counts),
    ...Object.assign(
      {},
      ...parts.map((part) => workEnds(part, counts)),
      ...parts.map((part) => classEnds(part, counts)),
    ),
  };
}
