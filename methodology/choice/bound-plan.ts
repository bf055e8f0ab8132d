/** Which formulas make up a receipt by our own methodology, whose bounds are combined from their sources. The rules are those of plan.ts. */
import type { Methodology } from '../documents/methodologies.ts';
import type { Calculation } from './calculation.ts';
import { bounded, type Chosen, once, reading, works, writing } from './chosen-steps.ts';

/** The formulas that the ends of an amount need stand before them. */
export function ownSteps(calculation: Calculation, { boundsCounts }: Pick<Methodology, 'boundsCounts'>): Chosen[] {
  const counts = boundsCounts ? countEnds(calculation) : noCountEnds;
  const { boundary, measured } = calculation;
  const total = measured?.scope === 'total';
  return [
    ...['pue', 'grid_intensity_g_per_kwh', 'grid_intensity_age_minutes', 'grid_temporal_match_number'].map(once),
    ...[...sides('world_ratio'), ...sides('grid_ratio'), ...sides('water_ratio')],
    ...[once('grid_most'), once('overhead_ratio'), ...sides('pue_ratio')],
    ...combinedWork(calculation, counts),
    ...comparedSteps(calculation),
    ...uncomparedSteps(calculation, counts),
    ...(measured === null ? [] : combinedMeasured(measured, calculation)),
    ...(total ? combinedTotal(calculation) : boundary === 'narrow' ? combinedNarrow() : combinedComprehensive()),
  ];
}

/** The steps for the ends of the counts: before those of the context, and behind them. */
interface CountEnds {
  readonly before: readonly Chosen[];
  readonly behind: readonly Chosen[];
}
const noCountEnds: CountEnds = { before: [], behind: [] };
const countEnds = ({ uncompared }: Calculation): CountEnds => ({
  before: ['completion_least', 'completion_most', 'prompt_least', 'prompt_most'].map((id) =>
    once(uncompared === 'tokens' ? `${id}/uncounted` : id),
  ),
  behind: [once('writing_most')],
});

const sized = ['size_ratio', 'attention_most', 'writing_attention_most'];
const ratios = [
  'hardware_ratio',
  'reading_least',
  'reading_most',
  'reading_low',
  'reading_high',
  'writing_low',
  'writing_high',
];
/** The input as if no cache had served any of it. */
const readAll: Chosen[] = [
  { program: 'charged_input_tokens/all', run: 'all' },
  ...reading.map((program) => ({ program, run: 'all' })),
];
/** Each end with the variant of its formula. */
const endsOfWork = { least: 'least', most: 'most', low: 'low_combined', high: 'high_combined' } as const;

interface Variant {
  /** The variant of the formulas of the sizes and of the value. */
  readonly of: string;
  /** The prefix of the end in the variants of the ends. */
  readonly end: string;
}

const variantOf = ({ modelled_by, parameter_range }: Calculation): Variant =>
  modelled_by === 'proxy'
    ? { of: '/class', end: 'class_' }
    : parameter_range
      ? { of: '/range', end: 'range_' }
      : { of: '', end: '' };

const countRatios = (estimated: Calculation['estimated_counts']): Chosen[] =>
  (['completion', 'prompt'] as const).map((count) =>
    once(`${count}_ratio/${estimated === count || estimated === 'both' ? 'estimated' : 'reported'}`),
  );

function combinedWork({ estimated_counts: estimated, ...calculation }: Calculation, counts: CountEnds): Chosen[] {
  const { measured, modelled_by, parameter_range } = calculation;
  if (modelled_by === null) return [];
  const { end, of } = variantOf(calculation);
  const runs = modelled_by === 'proxy' ? [] : parameter_range ? ['min', 'max'] : [null];
  const modelled = measured?.scope === 'accelerator' ? works.slice(1) : works;
  return [
    ...[...countRatios(estimated), once('charged_input_tokens'), ...readAll],
    ...runs.flatMap((run) => [...writing, ...reading].map((program) => ({ program, run }))),
    once(modelled_by === 'proxy' ? 'guess_ratio/class' : 'guess_ratio'),
    ...[...counts.before, ...sized.map((id) => once(id + of)), ...counts.behind, ...ratios.map(once)],
    ...modelled.flatMap((id) => [
      once(id + of),
      ...Object.entries(endsOfWork).map(([run, program]) => ({ program: `${id}/${end}${program}`, run })),
    ]),
  ];
}

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

/** The model's figure for what was measured has runs of its own, since the receipt has the measured energy. */
function comparedSteps(calculation: Calculation): Chosen[] {
  const { measured, modelled_by, parameter_range } = calculation;
  if (measured === null || modelled_by === null) return [];
  const { includes_pue, scope } = measured;
  const { end, of } = variantOf(calculation);
  const isKnown = modelled_by === 'parametric' && !parameter_range;
  const run = runsOf(scope);
  const what = `/${scope}${scope === 'total' && includes_pue === false ? '_without_overhead' : ''}`;
  return [
    ...run('modelled', of),
    ...Object.entries(endsOfWork).flatMap(([name, program]) => run(`modelled_${name}`, `/${end}${program}`)),
    ...(isKnown ? [] : [...run('smallest', `/${end}smallest`), ...run('largest', `/${end}largest`)]),
    ...(scope === 'total' ? [once('idle_ratio'), ...sides('modelled_work')] : []),
    ...[once(`modelled_energy${what}`), ...sides('modelled_energy', what)],
    ...['modelled_smallest', 'modelled_largest'].map((id) => once(id + (isKnown ? '/known' : what))),
    once('modelled_energy_wh'),
  ];
}

/** The same where no model is known, by the smallest and the largest class, or where no tokens are, by the fewest. */
function uncomparedSteps(
  { estimated_counts, measured, model_kind, uncompared }: Calculation,
  counts: CountEnds,
): Chosen[] {
  if (measured === null || uncompared === undefined) return [];
  const { includes_pue, scope } = measured;
  const run = runsOf(scope);
  const what = `/${scope}${scope === 'total' && includes_pue === false ? '_without_overhead' : ''}`;
  const fewest = model_kind === 'embedding' ? 'fewest_input' : 'fewest';
  const least = uncompared === 'model' ? 'floor' : fewest;
  const most: Chosen[] = [
    ...[once('attention_most/ceiling'), once('writing_attention_most/ceiling')],
    ...[...run('modelled_most', '/ceiling_most'), ...run('modelled_high', '/ceiling_high_combined')],
    ...(scope === 'total' ? [once('modelled_work_most')] : []),
    once(`modelled_energy_most${what}`),
  ];
  return [
    ...countRatios(estimated_counts),
    ...[once('charged_input_tokens'), ...readAll, once('size_ratio/floor')],
    ...[once('guess_ratio/class'), ...counts.before, ...(uncompared === 'model' ? most.slice(0, 2) : [])],
    ...[...counts.behind, ...ratios.map(once)],
    ...[...run('modelled_least', `/${least}_least`), ...run('modelled_low', `/${least}_low_combined`)],
    ...(scope === 'total' ? [once('idle_ratio'), once('modelled_work_least')] : []),
    once(`modelled_energy_least${what}`),
    ...(uncompared === 'model' ? most.slice(2) : []),
  ];
}

function combinedMeasured(
  { includes_pue, scope, unit }: NonNullable<Calculation['measured']>,
  { uncompared }: Calculation,
): Chosen[] {
  const stated = unit === null ? [] : [once(`reported_energy/${unit}`)];
  const [least, most] =
    uncompared === undefined ? ['', ''] : ['/uncompared', uncompared === 'model' ? '/uncompared' : '/uncounted'];
  const converted = [...stated, once(`least_believed${least}`), once(`most_believed${most}`)];
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
