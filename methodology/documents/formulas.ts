/**
 * The formulas that a receipt's values are made by: modelling, measured energy, and the rounding of the receipt's numbers.
 * A key is the step's id, with `/variant` where a step has several formulas.
 *
 * Invariant: these texts are the only arithmetic of a receipt. They are compiled (scripts/generate.ts) and published as they
 * stand. EcoLogits' document prints its own texts where it has one; these say how those are evaluated.
 */
import { decodeSteps, requestSteps, type Step } from './ecologits-steps.ts';

/** These of EcoLogits' formulas hold a part of ours: idle machines, reading. */
const partlyOurs = ['request_it_energy', 'request_embodied_gwp'];
const ecologitsIds = new Set(
  Object.entries({ ...decodeSteps, ...requestSteps }).flatMap(([id, { origin }]) =>
    origin === 'gw' || partlyOurs.includes(id) ? [] : [id],
  ),
);
export const step = (key: string, unit: string, formula: string): Record<string, Step> => ({
  [key]: { unit, formula, origin: ecologitsIds.has(key) ? 'ecologits-0.11.3' : 'gw' },
});

const layersByWidth =
  'aspect * ((P_active * P_total) ^ 0.5 * 1e9 / (parameters_per_squared_width * aspect * aspect)) ^ (2 / 3)';
const context =
  '(T_in / known_or(prompts, 1) + T_out / known_or(answers, 1) / 2) / 1000 * (P_active * P_total) ^ (1 / 3)';
const attention = (tokens: string) => `1 + ${tokens} * (${layersByWidth}) / (P_active * 1e9)`;
const written = (by: string) =>
  `T_out * (${by}_weights * weights_per_token + ${by}_operations * P_active + ${by}_context * context_per_token + ${by}_token)`;

/**
 * The energy and the time that a model takes for a call: for writing, and for reading. The ends of both are the same formulas in
 * the runs `least` and `most`, with those of the variants there that differ.
 */
export const modelling = {
  ...step('taken_bits', 'bit', 'known_or(bits, assumed_bits)'),
  ...step('concurrency', '1', 'known_or(typical_concurrency, assumed_concurrency)'),
  // The requests of a step share the weights that they need; in a mixture of experts these are not all.
  ...step(
    'weights_per_token',
    'GB/token',
    'P_total * (1 - (1 - P_active / P_total) ^ concurrency) * taken_bits / 8 / concurrency',
  ),
  ...step('context_per_token', '1', context),
  ...step('context_per_token/least', '1', `${context} / context_ratio`),
  ...step('context_per_token/most', '1', `${context} * context_ratio`),
  ...step('writing_energy', 'Wh', written('e')),
  ...step('writing_time', 'GPU·s', written('t')),
  ...step('charged_input_tokens', 'token', 'max(0, T_in - T_cached)'),
  // The charged tokens attend to what a cache served, too.
  ...step('attention', '1', attention('(T_in + min(T_cached, T_in)) / known_or(prompts, 1)')),
  ...step('attention/least', '1', '1'),
  ...step('attention/most', '1', attention('(T_in + min(T_cached, T_in)) / known_or(prompts, 1) * attention_ratio')),
  ...step(
    'prefill_time',
    'GPU·s',
    'charged_input_tokens * flop_per_parameter_and_token * P_active * 1e9 * attention / (peak_flop_per_s * utilisation)',
  ),
  ...step('prefill_gpu_energy', 'Wh', 'prefill_time / 3600 * gpu_power'),
};

/** One kind of work, by writing and by reading; `run` is '' for a known model, '@min' or '@max' for a range, '@least' or '@most' for an end. */
export interface Part {
  readonly id: string;
  readonly unit: string;
  readonly writing: (run: string) => string;
  readonly reading: (run: string) => string;
}

export const parts: readonly Part[] = [
  {
    id: 'accelerator_energy',
    unit: 'Wh',
    writing: (run) => `writing_energy${run}`,
    reading: (run) => `prefill_gpu_energy${run}`,
  },
  {
    id: 'host_energy',
    unit: 'Wh',
    writing: (run) => `writing_time${run} / 3600 * server_power / server_gpus`,
    reading: (run) => `prefill_time${run} / 3600 * server_power / server_gpus`,
  },
  {
    id: 'accelerator_time',
    unit: 'GPU·s',
    writing: (run) => `writing_time${run}`,
    reading: (run) => `prefill_time${run}`,
  },
];

/** A range of parameters, and the stand-in of a class that is one, count half from each end. */
function workFormulas({ id, unit, writing, reading }: Part): Record<string, Step> {
  return {
    ...step(id, unit, `${writing('')} + ${reading('')}`),
    ...step(
      `${id}/range`,
      unit,
      `(${writing('@min')} + ${reading('@min')}) * 0.5 + (${writing('@max')} + ${reading('@max')}) * 0.5`,
    ),
  };
}

/** The parameters of a class: of its stand-in for the value, of the smallest and the largest model that it stands for at the ends. */
const sizesOfClasses = Object.assign(
  {},
  ...['min', 'max', 'least', 'most'].flatMap((run) =>
    ['active', 'total'].map((which) => step(`P_${which}/class_${run}`, 'billion parameters', `class_${which}_${run}`)),
  ),
);

const measuring = {
  ...step('reported_energy/J', 'Wh', 'stated_energy / 3600'),
  ...step('reported_energy/kWh', 'Wh', 'stated_energy * 1000'),
  ...step('reported_energy/Wms', 'Wh', 'stated_energy / 3600000'),
  ...step('reported_energy/mJ', 'Wh', 'stated_energy / 3600000 * call_tokens / all_tokens'),
  ...step('accelerator_energy/measured', 'Wh', 'reported_energy'),
  ...step('request_energy/reported', 'Wh', 'reported_energy'),
  ...step('request_usage_wcf/with_overhead', 'mL', 'request_energy / PUE * (WUE_site + PUE * WUE_grid)'),
  ...step('request_usage_wcf/without_overhead', 'mL', 'request_energy * (WUE_site + PUE * WUE_grid)'),
};

const footprint = {
  ...step('idle_energy', 'Wh', requestSteps.idle_energy.formula),
  ...step('request_it_energy', 'Wh', requestSteps.request_it_energy.formula),
  ...step('overhead_energy', 'Wh', requestSteps.overhead_energy.formula),
  ...step('request_energy', 'Wh', requestSteps.request_energy.formula),
  ...step('request_usage_gwp', 'g', requestSteps.request_usage_gwp.formula),
  ...step('request_usage_gwp/narrow', 'g', 'accelerator_energy / 1000 * grid_intensity'),
  ...step('request_embodied_gwp', 'g', 'accelerator_time / lifespan * (server_gwp / server_gpus + gpu_gwp) * 1000'),
  ...step('request_usage_wcf', 'mL', requestSteps.request_usage_wcf.formula),
  ...step(
    'grid_intensity_age_minutes',
    'min',
    'is_forecast = 1 ? unknown : period_start <= requested_at and requested_at < period_end ? 0 : observed_at > requested_at ? unknown : round((requested_at - observed_at) / 60000 * 10) / 10',
  ),
};

const energies = ['accelerator_energy', 'host_energy', 'overhead_energy', 'idle_energy'] as const;

/** The receipt's numbers: rounded so that the printed parts add up to the printed total (decimal.ts). */
function rounding(): Record<string, Step> {
  const rounded = {
    ...step('energy_wh/total', 'Wh', 'sum12(request_energy)'),
    ...step('energy_wh/narrow', 'Wh', 'sum12(accelerator_energy)'),
    ...step('energy_accelerator_wh/narrow', 'Wh', 'sum12(accelerator_energy)'),
    ...step('energy_low_wh', 'Wh', 'min(sum12(request_energy@low), energy_wh)'),
    ...step('energy_high_wh', 'Wh', 'max(sum12(request_energy@high), energy_wh)'),
    ...step('energy_low_wh/narrow', 'Wh', 'min(sum12(accelerator_energy@low), energy_wh)'),
    ...step('energy_high_wh/narrow', 'Wh', 'max(sum12(accelerator_energy@high), energy_wh)'),
    ...step('carbon_g', 'g', 'sum12(request_usage_gwp, request_embodied_gwp)'),
    ...step('carbon_operation_g', 'g', 'part12(1, request_usage_gwp, request_embodied_gwp)'),
    ...step('carbon_embodied_g', 'g', 'part12(2, request_usage_gwp, request_embodied_gwp)'),
    ...step('carbon_low_g', 'g', 'min(sum12(request_usage_gwp@low + request_embodied_gwp@low), carbon_g)'),
    ...step('carbon_high_g', 'g', 'max(sum12(request_usage_gwp@high + request_embodied_gwp@high), carbon_g)'),
    ...step('carbon_g/operation', 'g', 'sum12(request_usage_gwp)'),
    ...step('carbon_operation_g/operation', 'g', 'sum12(request_usage_gwp)'),
    ...step('carbon_low_g/operation', 'g', 'min(sum12(request_usage_gwp@low), carbon_g)'),
    ...step('carbon_high_g/operation', 'g', 'max(sum12(request_usage_gwp@high), carbon_g)'),
    ...step('water_ml', 'mL', 'sum12(request_usage_wcf)'),
    ...step('pue', '1', 'sum12(PUE)'),
    ...step('grid_intensity_g_per_kwh', 'gCO2e/kWh', 'sum12(grid_intensity)'),
  };
  for (const [variant, counted] of [
    ['', energies],
    ['/without_idle', energies.slice(0, 3)],
  ] as const) {
    const list = counted.join(', ');
    Object.assign(rounded, step(`energy_wh${variant}`, 'Wh', `sum12(${list})`));
    counted.forEach((id, index) => {
      const key = `energy_${id.replace('_energy', '')}_wh${variant}`;
      Object.assign(rounded, step(key, 'Wh', `part12(${index + 1}, ${list})`));
    });
  }
  return rounded;
}

export const formulas: Readonly<Record<string, Step>> = {
  ...modelling,
  ...sizesOfClasses,
  ...Object.assign({}, ...parts.map(workFormulas)),
  ...measuring,
  ...footprint,
  ...rounding(),
};
