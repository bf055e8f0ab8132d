/** The formulas that EcoLogits 0.11.3 publishes, as its document here has them: they are written for readers. */
export interface Step {
  readonly unit: string;
  readonly formula: string;
  readonly origin: 'ecologits-0.11.3' | 'gw';
}

const ecologits = (unit: string, formula: string): Step => ({ unit, formula, origin: 'ecologits-0.11.3' });
const own = (unit: string, formula: string): Step => ({ unit, formula, origin: 'gw' });

export const decodeSteps = {
  gpu_energy: ecologits('Wh', 'T_out * (alpha_E * exp(beta_E * B) * P_active + gamma_E)'),
  generation_latency: ecologits(
    's',
    'T_out = 0 ? 0 : min(T_out * (TPS known ? 1 / TPS : alpha_L * P_active + beta_L * B + gamma_L) + TTFT, upstream time)',
  ),
  model_required_memory: ecologits('GB', 'memory_overhead * P_total * bits / 8'),
  gpu_required_count: ecologits('1', '2 ^ ceil(log2(ceil(model_required_memory / gpu_memory)))'),
  server_energy: ecologits('Wh', 'generation_latency / 3600 * server_power * gpu_required_count / 8 / B'),
} as const satisfies Record<string, Step>;

export const requestSteps = {
  accelerator_energy: own('Wh', 'gpu_required_count * gpu_energy'),
  host_energy: own('Wh', 'server_energy'),
  accelerator_time: own('GPU·s', 'generation_latency * gpu_required_count / B'),
  idle_energy: own('Wh', 'k_idle * (accelerator_energy + host_energy)'),
  request_it_energy: ecologits('Wh', 'accelerator_energy + host_energy + idle_energy'),
  overhead_energy: own('Wh', '(PUE - 1) * request_it_energy'),
  request_energy: ecologits('Wh', 'request_it_energy + overhead_energy'),
  request_usage_gwp: ecologits('g', 'request_energy / 1000 * grid_intensity'),
  request_embodied_gwp: ecologits('g', 'accelerator_time / lifespan * (server_gwp / 8 + gpu_gwp) * 1000'),
  request_usage_wcf: ecologits('mL', 'request_it_energy * (WUE_site + PUE * WUE_grid)'),
} as const satisfies Record<string, Step>;
