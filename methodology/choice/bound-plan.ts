/** Which formulas make up a receipt by our own methodology, whose bounds are combined from their sources. The rules are those of plan.ts. */
import type { Calculation } from './calculation.ts';
import { works as all, bounded, type Chosen, once, sizesOfClass } from './chosen-steps.ts';

/** The formulas that the ends of an amount need stand before them. */
export function ownSteps(calculation: Calculation): Chosen[] {
  const { boundary, measured } = calculation;
  const total = measured?.scope === 'total';
  return [
    ...['pue', 'grid_intensity_g_per_kwh', 'grid_intensity_age_minutes', 'grid_temporal_match_number'].map(once),
    ...[...sides('world_ratio'), ...sides('grid_ratio'), ...sides('water_ratio')],
    ...[once('grid_most'), once('overhead_ratio'), ...sides('pue_ratio')],
    ...combinedWork(calculation),
    ...comparedSteps(calculation),
    ...uncountedSteps(calculation),
    ...(measured === null ? [] : combinedMeasured(measured, calculation)),
    ...(total ? combinedTotal(calculation) : boundary === 'narrow' ? combinedNarrow() : combinedComprehensive()),
  ];
}

type End = 'least' | 'most';

/** Returns the steps of one run of the modelling, without its parameters and counts. */
const modelled = (run: string | null, end = ''): Chosen[] =>
  [
    ...['weights_per_token', `context_per_token${end}`, 'writing_energy', 'writing_time'],
    ...['charged_input_tokens', `attention${end}`, 'prefill_time', 'prefill_gpu_energy'],
  ].map((program) => ({ program, run }));

/** The modelling at one of its ends. `counts`: the variants of the counts there. */
function endOf(end: End, { modelled_by }: Calculation, counts: readonly string[]): Chosen[] {
  return [
    ...(modelled_by === 'parametric' ? [] : sizesOfClass(end)),
    ...counts.map((program) => ({ program, run: end })),
    { program: `utilisation/${end}`, run: end },
    ...modelled(end, `/${end}`),
  ];
}

const countRatios = (estimated: Calculation['estimated_counts']): Chosen[] =>
  (['completion', 'prompt'] as const).map((count) =>
    once(`${count}_ratio/${estimated === count || estimated === 'both' ? 'estimated' : 'reported'}`),
  );
/** How far the work can be off at one end. */
const spread = (end: End): Chosen[] => ['writing_spread', 'time_spread'].map((id) => once(`${id}_${end}`));
const stated = ['taken_bits', 'concurrency'].map(once);

/** The value is of both ends of a range, and of a class. */
const variantOf = ({ modelled_by, parameter_range }: Calculation): '' | '/range' =>
  modelled_by === 'proxy' || parameter_range ? '/range' : '';
/** Each end with its formula. */
const endsOfWork = ['least', 'most', 'low', 'high'] as const;

function combinedWork(calculation: Calculation): Chosen[] {
  const { estimated_counts, measured, modelled_by } = calculation;
  if (modelled_by === null) return [];
  const of = variantOf(calculation);
  const runs = of === '' ? [null] : ['min', 'max'];
  const works = measured?.scope === 'accelerator' ? beside : all;
  return [
    ...countRatios(estimated_counts),
    ...stated,
    ...(modelled_by === 'proxy' ? ['min', 'max'].flatMap(sizesOfClass) : []),
    ...runs.flatMap((run) => modelled(run)),
    ...endOf('least', calculation, ['T_out/least', 'T_in/least']),
    ...endOf('most', calculation, ['T_out/most', 'T_in/most', 'T_cached/none']),
    ...[once(modelled_by === 'proxy' ? 'guess_ratio/class' : 'guess_ratio'), once('hardware_ratio')],
    ...[once('reading_spread'), ...spread('least'), ...spread('most')],
    ...works.flatMap((id) => [once(id + of), ...endsOfWork.map((end) => ({ program: `${id}/${end}`, run: end }))]),
  ];
}

/** The work that counters of accelerators leave to the model. */
const beside = all.slice(1);

const account = ['idle_energy', 'request_it_energy', 'overhead_energy', 'request_energy'];

/** The modelled steps of what a figure is about, in a run: a total has the account of a whole call. */
function runsOf(scope: 'total' | 'accelerator') {
  const ids = scope === 'total' ? ['accelerator_energy', 'host_energy'] : ['accelerator_energy'];
  const accounted = scope === 'total' ? account : [];
  return (run: string, variant: string): Chosen[] => [
    ...ids.map((id) => ({ program: id + variant, run })),
    ...accounted.map((program) => ({ program, run })),
  ];
}

/** Returns the variant of the formulas that have the same extent as a figure. */
const whatOf = ({ includes_pue, scope }: NonNullable<Calculation['measured']>): string =>
  `/${scope}${scope === 'total' && includes_pue === false ? '_without_overhead' : ''}`;

/** The model's figure for what was measured has runs of its own, since the receipt has the measured energy. */
function comparedSteps(calculation: Calculation): Chosen[] {
  const { measured, modelled_by } = calculation;
  if (measured === null || modelled_by === null) return [];
  const run = runsOf(measured.scope);
  const what = whatOf(measured);
  const isKnown = variantOf(calculation) === '';
  return [
    ...run('modelled', variantOf(calculation)),
    ...endsOfWork.flatMap((end) => run(`modelled_${end}`, `/${end}`)),
    ...(measured.scope === 'total' ? [once('idle_ratio'), ...sides('modelled_work')] : []),
    ...[once(`modelled_energy${what}`), ...sides('modelled_energy', what)],
    ...['modelled_smallest', 'modelled_largest'].map((id) => once(id + (isKnown ? '/known' : what))),
    once('modelled_energy_wh'),
  ];
}

/** The least where nobody counted the tokens: what the fewest of them take of the smallest model. */
function uncountedSteps(calculation: Calculation): Chosen[] {
  const { measured, model_kind, modelled_by } = calculation;
  if (measured === null || modelled_by !== null) return [];
  const run = runsOf(measured.scope);
  const counts = model_kind === 'embedding' ? ['T_out/none', 'T_in/fewest'] : ['T_out/fewest', 'T_in/none'];
  return [
    ...countRatios(undefined),
    ...stated,
    ...endOf('least', calculation, [...counts, 'T_cached/none']),
    ...[once('guess_ratio/class'), once('hardware_ratio'), once('reading_spread'), ...spread('least')],
    ...[...run('modelled_least', '/least'), ...run('modelled_low', '/low')],
    ...[once('idle_ratio'), once('modelled_work_least')],
    once(`modelled_energy_least${whatOf(measured)}`),
  ];
}

function combinedMeasured(
  { includes_pue, scope, unit }: NonNullable<Calculation['measured']>,
  { modelled_by }: Calculation,
): Chosen[] {
  const of = modelled_by === null ? '/uncounted' : '';
  const converted = [
    ...(unit === null ? [] : [once(`reported_energy/${unit}`)]),
    ...[once(`least_believed${of}`), once(`most_believed${of}`)],
  ];
  if (scope === 'accelerator') {
    const ends = ['/measured_low_combined', '/measured_high_combined'] as const;
    const bases = ['least', 'most'].map((run) => ({ program: 'accelerator_energy/measured', run }));
    return [...converted, once('share_ratio'), ...bounded('accelerator_energy', '/measured', ...ends), ...bases];
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
/** A formula in the runs that the spreads are combined with. */
const based = (program: string): Chosen[] => ['least', 'most'].map((run) => ({ program, run }));
/** The upper end has what the grid counts at most. */
const operation = (boundary: '' | '/narrow'): Chosen[] => [
  { program: `request_usage_gwp${boundary}`, run: 'least' },
  { program: `request_usage_gwp${boundary === '' ? '/' : `${boundary}_`}most`, run: 'most' },
];
const embodiedSteps = [
  ...[once('request_embodied_gwp'), ...based('request_embodied_gwp')],
  ...[...sides('time'), ...twice('request_embodied_gwp')],
];
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
    ...[once('request_usage_gwp'), ...operation(''), ...twice('request_usage_gwp')],
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
    ...[once('request_usage_gwp/narrow'), ...operation('/narrow'), ...twice('request_usage_gwp')],
    ...['energy_wh', 'energy_accelerator_wh', 'energy_low_wh', 'energy_high_wh'].map((id) => once(`${id}/narrow`)),
    ...['carbon_g', 'carbon_operation_g', 'carbon_low_g', 'carbon_high_g'].map((id) => once(`${id}/operation`)),
  ];
}

function combinedComprehensive(): Chosen[] {
  const accounts = [...account, 'request_usage_gwp'];
  const energies = ['energy_wh', 'energy_accelerator_wh', 'energy_host_wh', 'energy_overhead_wh', 'energy_idle_wh'];
  const rounded = ['energy_low_wh', 'energy_high_wh', 'carbon_g', 'carbon_operation_g', 'carbon_embodied_g'];
  return [
    ...[...accounts, 'request_usage_wcf', 'idle_ratio'].map(once),
    ...[...account.flatMap(based), ...operation('')],
    ...[...sides('work'), ...sides('energy')],
    ...['request_it_energy', 'request_energy', 'request_usage_gwp'].flatMap((id) => twice(id)),
    ...embodiedSteps,
    ...twice('request_usage_wcf'),
    ...[...energies, ...rounded, 'sci_g_per_request', 'carbon_low_g', 'carbon_high_g'].map(once),
    ...waterSteps,
  ];
}
