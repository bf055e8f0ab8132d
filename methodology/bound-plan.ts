/**
 * Which formulas make up a receipt from gw-1.4 on, whose bounds are combined from their sources (uncertainty.ts).
 *
 * Invariant: as in plan.ts.
 */
import type { Calculation } from './calculation.ts';
import { bounded, type Chosen, once, reading, works, writing } from './chosen-steps.ts';

/** With the bounds of uncertainty.ts: what the ends of each amount need stands before them. */
export function combinedSteps(calculation: Calculation): Chosen[] {
  const { boundary, measured } = calculation;
  const total = measured?.scope === 'total';
  return [
    ...['pue', 'grid_intensity_g_per_kwh', 'grid_intensity_age_minutes', 'grid_temporal_match_number'].map(once),
    ...[...sides('grid_ratio'), ...sides('water_ratio')],
    ...combinedWork(calculation),
    ...comparedSteps(calculation),
    ...(measured === null ? [] : combinedMeasured(measured, calculation.modelled_by === null ? '/uncompared' : '')),
    ...(total ? combinedTotal(calculation) : boundary === 'narrow' ? combinedNarrow() : combinedComprehensive()),
  ];
}

const sized = [
  'attention_most',
  'writing_attention_most',
  'writing_least',
  'writing_most',
  'reading_least',
  'reading_most',
];

function combinedWork({ estimated_counts: estimated, ...calculation }: Calculation): Chosen[] {
  const { measured, modelled_by, parameter_range } = calculation;
  if (modelled_by === null) return [];
  const ratios = (['completion', 'prompt'] as const).map((count) =>
    once(`${count}_ratio/${estimated === count || estimated === 'both' ? 'estimated' : 'reported'}`),
  );
  const size = once(modelled_by === 'proxy' ? 'size_ratio/class' : 'size_ratio');
  const shared = [...ratios, once('hardware_ratio'), size, once('charged_input_tokens')];
  const modelled = measured?.scope === 'accelerator' ? works.slice(1) : works;
  const ends = (central: string, low: string) =>
    modelled.flatMap((id) => bounded(id, central, `/${low}low_combined`, `/${low}high_combined`));
  if (modelled_by === 'proxy')
    return [...shared, ...sized.map((id) => once(`${id}/class`)), ...ends('/class', 'class_')];
  const runs = parameter_range ? ['min', 'max'] : [null];
  const each = [...writing, ...reading, ...sized];
  return [
    ...shared,
    ...runs.flatMap((run) => each.map((program) => ({ program, run }))),
    ...(parameter_range ? ends('/range', 'range_') : ends('', '')),
  ];
}

/** What the model gives for what was measured, in a run of its own, since the receipt has the measured energy. */
function comparedSteps({ measured, modelled_by, parameter_range }: Calculation): Chosen[] {
  if (measured === null || modelled_by === null) return [];
  const { includes_pue, scope } = measured;
  const variant = modelled_by === 'proxy' ? '/class' : parameter_range ? '/range' : '';
  const work = ['accelerator_energy', 'host_energy'].map((id) => id + variant);
  const account = ['idle_energy', 'request_it_energy', 'overhead_energy', 'request_energy'];
  const overhead = scope === 'total' && includes_pue === false ? '_without_overhead' : '';
  const works = scope === 'total' ? work : work.slice(0, 1);
  const of = modelled_by === 'proxy' ? 'class_' : parameter_range ? 'range_' : '';
  const ends = (['low', 'high'] as const).flatMap((end) =>
    works.map((program) => ({ program: `${program.split('/')[0]}/${of}${end}_combined`, run: `modelled_${end}` })),
  );
  const whole = [...account.map((program) => ({ program, run: 'modelled' })), once('idle_ratio')];
  return [
    ...[...works.map((program) => ({ program, run: 'modelled' })), ...ends],
    ...(scope === 'total' ? [...whole, ...sides('pue_ratio'), ...sides('modelled_work')] : []),
    ...[
      `modelled_energy/${scope}${overhead}`,
      ...sides('modelled_energy', `/${scope}${overhead}`).map(({ program }) => program),
    ].map(once),
    once('modelled_energy_wh'),
  ];
}

function combinedMeasured(
  { includes_pue, scope, unit }: NonNullable<Calculation['measured']>,
  compared: '' | '/uncompared',
): Chosen[] {
  const stated = unit === null ? [] : [once(`reported_energy/${unit}`)];
  const converted = [...stated, ...['least_believed', 'most_believed'].map((id) => once(id + compared))];
  if (scope === 'accelerator') {
    const ends = ['/measured_low_combined', '/measured_high_combined'] as const;
    return [...converted, once('share_ratio'), ...bounded('accelerator_energy', '/measured', ...ends)];
  }
  const unknown = includes_pue === null ? '_unknown' : '';
  const ends = ['/reported_low_combined', `/reported_high${unknown}_combined`] as const;
  return [...converted, ...bounded('request_energy', '/reported', ...ends)];
}

const twice = (id: string, variant = ''): Chosen[] => [
  { program: `${id}/${variant}low`, run: 'low' },
  { program: `${id}/${variant}high`, run: 'high' },
];
const sides = (id: string, variant = ''): Chosen[] => ['least', 'most'].map((side) => once(`${id}_${side}${variant}`));
const embodiedSteps = [once('request_embodied_gwp'), ...sides('time'), ...twice('request_embodied_gwp')];
const waterSteps = ['water_ml', 'water_low_ml', 'water_high_ml'].map(once);

function combinedTotal({ measured, modelled_by }: Calculation): Chosen[] {
  // A class is too rough a guide to how long the accelerators were taken.
  const isMade = modelled_by === 'parametric';
  const carbon = isMade ? '' : '/operation';
  const includes = measured?.includes_pue ?? null;
  const overhead = `${includes === true ? 'with' : 'without'}_overhead`;
  const water = [once(`request_usage_wcf/${overhead}`), ...twice('request_usage_wcf', `${overhead}_`), ...waterSteps];
  return [
    ...sides('energy', '/total'),
    ...[once('request_usage_gwp'), ...twice('request_usage_gwp')],
    ...(isMade ? embodiedSteps : []),
    ...(includes === null ? [] : water),
    once('energy_wh/total'),
    ...['energy_low_wh', 'energy_high_wh'].map(once),
    ...['carbon_g', 'carbon_operation_g'].map((id) => once(id + carbon)),
    ...(isMade ? ['carbon_embodied_g', 'sci_g_per_request'].map(once) : []),
    ...['carbon_low_g', 'carbon_high_g'].map((id) => once(id + carbon)),
  ];
}

function combinedNarrow(): Chosen[] {
  return [
    ...sides('energy', '/narrow'),
    ...[once('request_usage_gwp/narrow'), ...twice('request_usage_gwp')],
    ...['energy_wh', 'energy_accelerator_wh', 'energy_low_wh', 'energy_high_wh'].map((id) => once(`${id}/narrow`)),
    ...['carbon_g', 'carbon_operation_g', 'carbon_low_g', 'carbon_high_g'].map((id) => once(`${id}/operation`)),
  ];
}

function combinedComprehensive(): Chosen[] {
  const accounts = ['idle_energy', 'request_it_energy', 'overhead_energy', 'request_energy', 'request_usage_gwp'];
  const energies = ['energy_wh', 'energy_accelerator_wh', 'energy_host_wh', 'energy_overhead_wh', 'energy_idle_wh'];
  const rounded = ['energy_low_wh', 'energy_high_wh', 'carbon_g', 'carbon_operation_g', 'carbon_embodied_g'];
  return [
    ...[...accounts, 'request_usage_wcf', 'idle_ratio'].map(once),
    ...[...sides('pue_ratio'), ...sides('work'), ...sides('energy')],
    ...['request_it_energy', 'request_energy', 'request_usage_gwp'].flatMap((id) => twice(id)),
    ...embodiedSteps,
    ...twice('request_usage_wcf'),
    ...[...energies, ...rounded, 'sci_g_per_request', 'carbon_low_g', 'carbon_high_g'].map(once),
    ...waterSteps,
  ];
}
