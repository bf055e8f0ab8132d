/**
 * The formulas of the bounds: each source of uncertainty is a factor, and each bound a step. A key is the step's id, with
 * `/variant` where a step has several formulas.
 *
 * Invariant: a bound is never narrower than that of a case that is known better: each source that applies widens it. What is
 * unknown without a distribution (the range of a model's parameters, how well the accelerators were used, whether a figure holds
 * the overhead) is taken at its ends; sources with a distribution are independent and are `combined`. What a receipt's amounts
 * share (work, site, grid) is off for all of them in the same direction, so operation and embodied carbon are added at the same
 * end.
 */
import { matchUnit } from '../facts/grid.ts';
import type { Step } from './ecologits-steps.ts';
import { step } from './formulas.ts';
import { workBoundFormulas } from './work-bound-formulas.ts';

/** One end of the modelled energy of what a figure is about, in the runs `base` and `run` (without and with the spreads). */
function modelledEnd(side: 'least' | 'most', run: string, at: '/' | '*'): Record<string, Step> {
  const base = `modelled_${side}`;
  const active = `accelerator_energy@${base} + host_energy@${base}`;
  const ofActive = `(accelerator_energy@${run} + host_energy@${run}) / (${active})`;
  const work = `modelled_work_${side}`;
  return {
    ...step(work, '1', `${active} = 0 ? 1 : ${ofActive}`),
    ...step(
      `modelled_energy_${side}/total`,
      'Wh',
      `request_energy@${base} ${at} combined(${work}, idle_ratio, pue_ratio_${side})`,
    ),
    ...step(
      `modelled_energy_${side}/total_without_overhead`,
      'Wh',
      `request_it_energy@${base} ${at} combined(${work}, idle_ratio)`,
    ),
    ...step(`modelled_energy_${side}/accelerator`, 'Wh', `accelerator_energy@${run}`),
  };
}

const believed = (side: 'least' | 'most', end: string): string => {
  const [outer, inner] = side === 'least' ? ['min', 'max'] : ['max', 'min'];
  const far = `${inner}(modelled_energy_${side}, ${end} * ${end} / reported_energy)`;
  return `reported_energy = 0 ? modelled_energy_${side} : ${outer}(reported_energy, ${far})`;
};

function whole(id: string, run: string): Record<string, Step> {
  return {
    ...step(`${id}/total`, 'Wh', `request_energy@${run}`),
    ...step(`${id}/total_without_overhead`, 'Wh', `request_it_energy@${run}`),
    ...step(`${id}/accelerator`, 'Wh', `accelerator_energy@${run}`),
  };
}

const measuring = {
  ...whole('modelled_energy', 'modelled'),
  ...step('modelled_energy_wh', 'Wh', 'sum12(modelled_energy)'),
  ...modelledEnd('least', 'modelled_low', '/'),
  ...modelledEnd('most', 'modelled_high', '*'),
  // The ends of what it can be, which are the modelled energy itself where the parameters are known.
  ...whole('modelled_smallest', 'modelled_least'),
  ...whole('modelled_largest', 'modelled_most'),
  ...step('modelled_smallest/known', 'Wh', 'modelled_energy'),
  ...step('modelled_largest/known', 'Wh', 'modelled_energy'),
  // The bound on the side of the model goes beyond it by as much as the figure is off on the other, and at most to that of the model.
  ...step('least_believed', 'Wh', believed('least', 'modelled_smallest')),
  ...step('most_believed', 'Wh', believed('most', 'modelled_largest')),
  ...step('least_believed/uncounted', 'Wh', 'modelled_energy_least'),
  ...step('most_believed/uncounted', 'Wh', 'ceiling_power * known_or(upstream_time, longest_call) / 3600'),
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
    'max(reported_energy * reported_ratio * PUE * pue_ratio_most, most_believed)',
  ),
};

const share = (amount: string, run: string, base = amount): string => `${base} = 0 ? 1 : ${amount}@${run} / ${base}`;
/**
 * The formulas of one end. Its run `least` or `most` has what is not known without a distribution at that end; the run `low` or
 * `high` has the spreads beside it, and what is off beside the work is combined with them.
 */
function ends(run: 'low' | 'high'): Record<string, Step> {
  const [side, at] = run === 'low' ? ['least', '/'] : ['most', '*'];
  const active = `accelerator_energy@${side} + host_energy@${side}`;
  const ofActive = `${active} = 0 ? 1 : (accelerator_energy@${run} + host_energy@${run}) / (${active})`;
  const water = `(WUE_site ${at} water_site_ratio + PUE * WUE_grid ${at} combined(water_ratio_${side}, pue_ratio_${side}))`;
  const otherSide = run === 'low' ? 'most' : 'least';
  const ofTotal = `(WUE_site / PUE ${at} combined(water_site_ratio, pue_ratio_${otherSide}) + WUE_grid ${at} water_ratio_${side})`;
  const years = 'known_or(grid_intensity_age_minutes, 0) / 525600';
  const grid = `combined(grid_live_ratio, grid_hour_ratio_${side}, grid_drift ^ (${years}), world_ratio_${side})`;
  const made = `time_${side}, embodied_ratio_${side}`;
  const operation = `request_usage_gwp@${side} ${at} combined(energy_${side}, grid_ratio_${side})`;
  return {
    ...step(
      `grid_ratio_${side}`,
      '1',
      `is_annual = 0 and is_estimated = 0 and known_or(grid_intensity_age_minutes, 1e9) <= 120 ? combined(grid_live_ratio, world_ratio_${side}) : ${grid}`,
    ),
    ...step(`world_ratio_${side}`, '1', `is_world = 1 ? grid_world_ratio_${side} : 1`),
    ...step(`water_ratio_${side}`, '1', `WUE_grid = water_world ? water_world_ratio_${side} : water_grid_ratio`),
    ...step(`work_${side}`, '1', ofActive),
    ...step(`energy_${side}`, '1', `combined(work_${side}, idle_ratio, pue_ratio_${side})`),
    ...step(`energy_${side}/total`, '1', share('request_energy', run)),
    ...step(`energy_${side}/narrow`, '1', share('accelerator_energy', run, `accelerator_energy@${side}`)),
    ...step(`time_${side}`, '1', share('accelerator_time', run, `accelerator_time@${side}`)),
    ...step(`request_it_energy/${run}`, 'Wh', `request_it_energy@${side} ${at} combined(work_${side}, idle_ratio)`),
    ...step(`request_energy/${run}`, 'Wh', `request_energy@${side} ${at} energy_${side}`),
    ...step(`request_usage_gwp/${run}`, 'g', operation),
    ...step(`request_embodied_gwp/${run}`, 'g', `request_embodied_gwp@${side} ${at} combined(${made})`),
    ...step(`request_usage_wcf/${run}`, 'mL', `request_it_energy@${run} * ${water}`),
    ...step(`request_usage_wcf/with_overhead_${run}`, 'mL', `request_energy@${run} * ${ofTotal}`),
    ...step(`request_usage_wcf/without_overhead_${run}`, 'mL', `request_energy@${run} * ${water}`),
  };
}

const footprint = {
  ...step('idle_ratio', '1', '(1 + k_idle_max) / (1 + k_idle)'),
  ...step('overhead_ratio', '1', '1 + (is_assumed_pue = 1 ? overhead_assumed_spread : overhead_spread)'),
  ...step('pue_ratio_least', '1', '(1 + (PUE - 1) * overhead_ratio) / PUE'),
  ...step(
    'pue_ratio_most',
    '1',
    '(1 + max((PUE - 1) * overhead_ratio, is_assumed_pue = 1 ? overhead_assumed_floor : overhead_floor)) / PUE',
  ),
  ...step(
    'grid_most',
    'gCO2e/kWh',
    'is_lifecycle = 1 ? max(grid_intensity, grid_floor) : grid_intensity * (gas_lifecycle - clean_lifecycle) / gas_combustion + clean_lifecycle',
  ),
  ...step('request_usage_gwp/most', 'g', 'request_energy / 1000 * grid_most'),
  ...step('request_usage_gwp/narrow_most', 'g', 'accelerator_energy / 1000 * grid_most'),
  ...ends('low'),
  ...ends('high'),
  ...step('water_low_ml', 'mL', 'min(sum12(request_usage_wcf@low), water_ml)'),
  ...step('water_high_ml', 'mL', 'max(sum12(request_usage_wcf@high), water_ml)'),
};

const statements = {
  ...step('sci_g_per_request', 'g', 'carbon_g'),
  // The age is the printed one; it is unknown for a value for the future.
  ...step(
    'grid_temporal_match_number',
    matchUnit,
    'is_annual = 1 ? 4 : known_or(grid_intensity_age_minutes + 1, 0) = 0 ? 2 : known_or(stated_match, 0) > 2 ? stated_match : grid_intensity_age_minutes > 120 ? 5 : is_estimated = 1 ? 2 : grid_intensity_age_minutes <= 15 ? 0 : 1',
  ),
};

export const boundFormulas: Readonly<Record<string, Step>> = {
  ...workBoundFormulas,
  ...measuring,
  ...footprint,
  ...statements,
};
