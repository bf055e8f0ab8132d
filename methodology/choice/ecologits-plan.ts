/** Which formulas make up a receipt by EcoLogits' methodology: the output alone, without idle machines. The rules are those of plan.ts. */
import type { Calculation } from './calculation.ts';
import { bounded, type Chosen, once, sizesOfClass, works } from './chosen-steps.ts';

const writing = ['gpu_energy', 'generation_latency', 'model_required_memory', 'gpu_required_count', 'server_energy'];

export function ecologitsPlan({ boundary, modelled_by, parameter_range }: Calculation): Chosen[] {
  const isClass = modelled_by === 'proxy';
  const runs = isClass || parameter_range ? ['min', 'max'] : [null];
  const [central, low, high] = isClass
    ? (['/range', '/class_low', '/class_high'] as const)
    : parameter_range
      ? (['/range', '/range_low', '/range_high'] as const)
      : (['', '/low', '/high'] as const);
  return [
    ...(isClass ? ['min', 'max'].flatMap(sizesOfClass) : []),
    ...runs.flatMap((run) => writing.map((program) => ({ program, run }))),
    ...works.flatMap((id) => bounded(id, central, low, high)),
    ...(boundary === 'narrow' ? narrowSteps() : comprehensiveSteps()),
    ...['pue', 'grid_intensity_g_per_kwh', 'grid_intensity_age_minutes'].map(once),
    ...['exact_age', 'grid_temporal_match_number'].map(once),
  ];
}

function narrowSteps(): Chosen[] {
  return [
    ...bounded('request_usage_gwp', '/narrow', '/narrow', '/narrow'),
    ...['energy_wh', 'energy_accelerator_wh', 'energy_low_wh', 'energy_high_wh'].map((id) => once(`${id}/narrow`)),
    ...['carbon_g', 'carbon_operation_g', 'carbon_low_g', 'carbon_high_g'].map((id) => once(`${id}/operation`)),
  ];
}

function comprehensiveSteps(): Chosen[] {
  const energies = ['energy_wh', 'energy_accelerator_wh', 'energy_host_wh', 'energy_overhead_wh'];
  const accounts = ['idle_energy', 'request_it_energy', 'overhead_energy', 'request_energy', 'request_usage_gwp'];
  const rounded = ['energy_low_wh', 'energy_high_wh', 'carbon_g', 'carbon_operation_g', 'carbon_embodied_g'];
  return [
    ...[...accounts, 'request_embodied_gwp'].flatMap((id) => bounded(id, '', '', '')),
    once('request_usage_wcf'),
    ...energies.map((id) => once(`${id}/without_idle`)),
    ...[...rounded, 'carbon_low_g', 'carbon_high_g', 'water_ml', 'sci_g_per_request'].map(once),
  ];
}
