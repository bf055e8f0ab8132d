/**
 * The formulas of the bounds from gw-1.4 on: each source of uncertainty is a factor, and each bound a step (uncertainty.ts,
 * bounds.ts). A key is the step's id, with `/variant` where a step has several formulas.
 *
 * Invariant: each text states the operations of the code in their order, so that both give the same double.
 */
import { matchUnit } from './grid.ts';
import { type Part, parts, step } from './programs.ts';
import type { Step } from './steps.ts';

/** What widens the bounds of modelled work; in the runs `min` and `max` where parameters are a range. */
const ratios = {
  ...step('completion_ratio/estimated', '1', 'estimated_count_ratio'),
  ...step('completion_ratio/reported', '1', '1'),
  ...step('prompt_ratio/estimated', '1', 'estimated_count_ratio'),
  ...step('prompt_ratio/reported', '1', '1'),
  ...step('hardware_ratio', '1', 'is_other_hardware = 1 ? other_hardware_ratio : 1'),
  ...sized('', { active: 'P_active', total: 'P_total', more: '' }),
  ...sized('/class', { active: 'class_active', total: 'class_total', more: ', size_class_ratio' }),
};

function sized(variant: string, { active, more, total }: Readonly<Record<'active' | 'more' | 'total', string>>) {
  const writing = (model: string) => `combined(${model}, hardware_ratio, completion_ratio${more})`;
  const reading = `combined(hardware_ratio, prompt_ratio${more})`;
  const layersByWidth = `aspect * ((${active} * ${total}) ^ 0.5 * 1e9 / (parameters_per_squared_width * aspect * aspect)) ^ (2 / 3)`;
  const attention = (context: string) => `1 + (${context}) * (${layersByWidth}) / (${active} * 1e9)`;
  return {
    ...step(`size_ratio${variant}`, '1', `${total} > fitted_up_to ? extrapolation_ratio_least : 1`),
    ...step(`attention_most${variant}`, '1', attention('T_in + T_cached')),
    ...step(`writing_attention_most${variant}`, '1', attention('2 * T_in + T_out')),
    ...step(`writing_least${variant}`, '1', `1 / ${writing('model_ratio_least, size_ratio')}`),
    ...step(`writing_most${variant}`, '1', `writing_attention_most * ${writing('model_ratio_most')}`),
    ...step(`reading_least${variant}`, '1', `utilisation / utilisation_max / ${reading}`),
    ...step(`reading_most${variant}`, '1', `utilisation / utilisation_min * attention_most * ${reading}`),
  };
}

function workBounds({ id, unit, writing, reading }: Part): Record<string, Step> {
  const end = (run: string, side: string) =>
    `${writing(run)} * writing_${side}${run} + ${reading}${run} * reading_${side}${run}`;
  const ofClass = (side: string) =>
    `class_output_${id} * (T_out * writing_${side}) + class_input_${id} * (charged_input_tokens * reading_${side})`;
  return {
    ...step(`${id}/low_combined`, unit, end('', 'least')),
    ...step(`${id}/high_combined`, unit, end('', 'most')),
    ...step(`${id}/range_low_combined`, unit, end('@min', 'least')),
    ...step(`${id}/range_high_combined`, unit, end('@max', 'most')),
    ...step(`${id}/class_low_combined`, unit, ofClass('least')),
    ...step(`${id}/class_high_combined`, unit, ofClass('most')),
  };
}

/** One end of the modelled energy of what a figure is about. */
function modelledEnd(side: 'least' | 'most', run: string, at: '/' | '*'): Record<string, Step> {
  const active = 'accelerator_energy@modelled + host_energy@modelled';
  const ofActive = `(accelerator_energy@${run} + host_energy@${run}) / (${active})`;
  const work = `modelled_work_${side}`;
  return {
    ...step(work, '1', `${active} = 0 ? 1 : ${ofActive}`),
    ...step(
      `modelled_energy_${side}/total`,
      'Wh',
      `request_energy@modelled ${at} combined(${work}, idle_ratio, pue_ratio_${side})`,
    ),
    ...step(
      `modelled_energy_${side}/total_without_overhead`,
      'Wh',
      `request_it_energy@modelled ${at} combined(${work}, idle_ratio)`,
    ),
    ...step(`modelled_energy_${side}/accelerator`, 'Wh', `accelerator_energy@${run}`),
  };
}

const believed = (side: 'least' | 'most'): string =>
  `reported_energy > modelled_energy * plausible_within ? modelled_energy_${side} : reported_energy * plausible_within < modelled_energy ? modelled_energy_${side} : reported_energy`;

const measuring = {
  ...step('modelled_energy/total', 'Wh', 'request_energy@modelled'),
  ...step('modelled_energy/total_without_overhead', 'Wh', 'request_it_energy@modelled'),
  ...step('modelled_energy/accelerator', 'Wh', 'accelerator_energy@modelled'),
  ...step('modelled_energy_wh', 'Wh', 'sum12(modelled_energy)'),
  ...modelledEnd('least', 'modelled_low', '/'),
  ...modelledEnd('most', 'modelled_high', '*'),
  // What the bounds have to reach: of a doubtful figure those of the modelled energy, else the figure itself.
  ...step('least_believed', 'Wh', believed('least')),
  ...step('most_believed', 'Wh', believed('most')),
  ...step('least_believed/uncompared', 'Wh', 'reported_energy'),
  ...step('most_believed/uncompared', 'Wh', 'reported_energy'),
  ...step('share_ratio', '1', 'call_tokens = all_tokens ? 1 : token_share_ratio'),
  ...step(
    'accelerator_energy/measured_low_combined',
    'Wh',
    'min(reported_energy / combined(counter_ratio, share_ratio), least_believed)',
  ),
  ...step(
    'accelerator_energy/measured_high_combined',
    'Wh',
    'max(reported_energy * combined(counter_ratio, share_ratio), most_believed)',
  ),
  ...step('request_energy/reported_low_combined', 'Wh', 'min(reported_energy / reported_ratio, least_believed)'),
  ...step('request_energy/reported_high_combined', 'Wh', 'max(reported_energy * reported_ratio, most_believed)'),
  // A total whose source does not say whether the overhead is in it can be low by all of it.
  ...step(
    'request_energy/reported_high_unknown_combined',
    'Wh',
    'max(reported_energy * reported_ratio * max(PUE, 1 + overhead_floor), most_believed)',
  ),
};

const share = (amount: string, run: string): string => `${amount} = 0 ? 1 : ${amount}@${run} / ${amount}`;
/** The formulas of one end: `least` of the run `low`, `most` of the run `high`. */
function ends(run: 'low' | 'high'): Record<string, Step> {
  const [side, at] = run === 'low' ? ['least', '/'] : ['most', '*'];
  const active = 'accelerator_energy + host_energy';
  const ofActive = `${active} = 0 ? 1 : (accelerator_energy@${run} + host_energy@${run}) / (${active})`;
  const water = `(WUE_site ${at} water_site_ratio + PUE * WUE_grid ${at} water_ratio_${side})`;
  const years = 'known_or(grid_intensity_age_minutes, 0) / 525600';
  const grid = `combined(grid_live_ratio, grid_hour_ratio_${side}, grid_drift ^ (${years}))`;
  const made =
    run === 'low' ? 'time_least, latency_ratio_least, embodied_ratio_least' : 'time_most, embodied_ratio_most';
  const operation = `request_usage_gwp ${at} combined(energy_${side}, grid_ratio_${side})`;
  return {
    ...step(
      `grid_ratio_${side}`,
      '1',
      `is_annual = 0 and is_estimated = 0 and known_or(grid_intensity_age_minutes, 1e9) <= 120 ? grid_live_ratio : ${grid}`,
    ),
    ...step(`water_ratio_${side}`, '1', `WUE_grid = water_world ? water_world_ratio_${side} : water_grid_ratio`),
    ...step(`work_${side}`, '1', ofActive),
    ...step(`energy_${side}`, '1', `combined(work_${side}, idle_ratio, pue_ratio_${side})`),
    ...step(`energy_${side}/total`, '1', share('request_energy', run)),
    ...step(`energy_${side}/narrow`, '1', share('accelerator_energy', run)),
    ...step(`time_${side}`, '1', share('accelerator_time', run)),
    ...step(`request_it_energy/${run}`, 'Wh', `request_it_energy ${at} combined(work_${side}, idle_ratio)`),
    ...step(`request_energy/${run}`, 'Wh', `request_energy ${at} energy_${side}`),
    ...step(`request_usage_gwp/${run}`, 'g', operation),
    ...step(`request_embodied_gwp/${run}`, 'g', `request_embodied_gwp ${at} combined(${made})`),
    ...step(`request_usage_wcf/${run}`, 'mL', `request_it_energy@${run} * ${water}`),
    ...step(`request_usage_wcf/with_overhead_${run}`, 'mL', `request_energy@${run} / PUE * ${water}`),
    ...step(`request_usage_wcf/without_overhead_${run}`, 'mL', `request_energy@${run} * ${water}`),
  };
}

const footprint = {
  ...step('idle_ratio', '1', '(1 + k_idle_max) / (1 + k_idle)'),
  ...step('pue_ratio_least', '1', '(1 + (PUE - 1) * (1 + overhead_spread)) / PUE'),
  ...step('pue_ratio_most', '1', '(1 + max((PUE - 1) * (1 + overhead_spread), overhead_floor)) / PUE'),
  ...ends('low'),
  ...ends('high'),
  ...step('water_low_ml', 'mL', 'min(sum12(request_usage_wcf@low), water_ml)'),
  ...step('water_high_ml', 'mL', 'max(sum12(request_usage_wcf@high), water_ml)'),
};

/** Fields of the receipt that earlier versions print without a step. */
const statements = {
  ...step('sci_g_per_request', 'g', 'carbon_g'),
  // By the age as it is printed; an unknown age is that of a value for the future.
  ...step(
    'grid_temporal_match_number',
    matchUnit,
    'is_annual = 1 ? 4 : known_or(grid_intensity_age_minutes + 1, 0) = 0 ? 2 : known_or(stated_match, 0) > 2 ? stated_match : grid_intensity_age_minutes > 120 ? 5 : is_estimated = 1 ? 2 : grid_intensity_age_minutes <= 15 ? 0 : 1',
  ),
};

export const boundPrograms: Readonly<Record<string, Step>> = {
  ...ratios,
  ...Object.assign({}, ...parts.map(workBounds)),
  ...measuring,
  ...footprint,
  ...statements,
};

/** The formulas of other bounds, which a version with these does not have. */
export const isFormerBound = (key: string): boolean =>
  /\/(.*_)?(low|high)(_counted)?$|_(least|most)\/|\/reported_(min|max)$/.test(key);
