/**
 * The formulas that are evaluated for a receipt by EcoLogits' methodology. Its document prints the texts that EcoLogits publishes for
 * readers; these say how those are evaluated. Bounds are those of the literature, and the temporal match is by the age before it is
 * rounded.
 */
import { boundFormulas } from './bound-formulas.ts';
import { decodeSteps, type Step } from './ecologits-steps.ts';
import { formulas, step } from './formulas.ts';

const decoding = {
  gpu_energy: decodeSteps.gpu_energy,
  ...step(
    'generation_latency',
    's',
    'T_out = 0 ? 0 : at_most(T_out * known_or(1 / TPS, alpha_L * P_active + (beta_L * B + gamma_L)) + known_or(TTFT, 0), upstream_time)',
  ),
  ...step('model_required_memory', 'GB', 'memory_overhead * P_total * known_or(bits, weight_bits) / 8'),
  ...step('gpu_required_count', '1', '2 ^ ceil(log2(max(1, ceil(model_required_memory / gpu_memory))))'),
  ...step('server_energy', 'Wh', 'generation_latency / 3600 * server_power * (gpu_required_count / server_gpus / B)'),
};

const works: Readonly<Record<string, readonly [unit: string, of: (run: string) => string]>> = {
  accelerator_energy: ['Wh', (run) => `gpu_required_count${run} * gpu_energy${run}`],
  host_energy: ['Wh', (run) => `server_energy${run}`],
  accelerator_time: ['GPU·s', (run) => `generation_latency${run} * gpu_required_count${run} / B`],
};

/** Work and its bounds: the ends of the parameter range where there is one, else the half-width of the tier. */
const working = Object.assign(
  {},
  ...Object.entries(works).map(([id, [unit, of]]) => ({
    ...step(id, unit, of('')),
    ...step(`${id}/range`, unit, `${of('@min')} * 0.5 + ${of('@max')} * 0.5`),
    ...step(`${id}/low`, unit, `${id} * (1 - parametric_spread)`),
    ...step(`${id}/high`, unit, `${id} * (1 + parametric_spread)`),
    ...step(`${id}/range_low`, unit, of('@min')),
    ...step(`${id}/range_high`, unit, of('@max')),
    ...step(`${id}/class_low`, unit, `${id} * (1 - proxy_spread)`),
    ...step(`${id}/class_high`, unit, `${id} * (1 + proxy_spread)`),
  })),
);

const age =
  'is_forecast = 1 ? unknown : period_start <= requested_at and requested_at < period_end ? 0 : observed_at > requested_at ? unknown : (requested_at - observed_at) / 60000';

export const ecologitsFormulas: Readonly<Record<string, Step>> = {
  ...formulas,
  ...decoding,
  ...working,
  ...step('sci_g_per_request', 'g', 'carbon_g'),
  ...step('exact_age', 'min', age),
  ...step(
    'grid_temporal_match_number',
    boundFormulas.grid_temporal_match_number?.unit ?? '1',
    'is_annual = 1 ? 4 : known_or(exact_age + 1, 0) = 0 ? 2 : known_or(stated_match, 0) > 2 ? stated_match : exact_age > 120 ? 5 : exact_age <= 15 ? 0 : 1',
  ),
};

/** EcoLogits' lineages never had these steps: its receipts state their results without a formula. */
export const unprintedSteps: readonly string[] = ['sci_g_per_request', 'exact_age', 'grid_temporal_match_number'];
