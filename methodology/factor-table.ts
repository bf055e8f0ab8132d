/**
 * The constants under the names that formulas use, each with unit, source, version and licence, as a lineage prints them.
 *
 * Invariant: a value here is the one in factors.ts; only its provenance is added. Numbers are facts and carry no licence
 * of their own: the licence is that of the publication or code they were read from.
 */
import { boundFactors, uncertaintyOf } from './bound-factors.ts';
import type { Calculation } from './calculation.ts';
import { embodied, estimatedCounts, literatureUncertainty, prefill, serving, telemetryLimits } from './factors.ts';
import type { ModelClass, ModelFacts } from './facts.ts';
import { classEnds, classFactors, classSize } from './proxy.ts';

export interface Factor {
  readonly value: number | null;
  readonly unit: string;
  readonly source: string;
  readonly version: string | null;
  /** Null: not stated by the source. */
  readonly licence: string | null;
  /** When the source was published, or the value entered by who assumes it: year, month or day. Null: not stated. */
  readonly date: string | null;
  /** An address or identifier where it is to be found. Null: there is none that all can reach. */
  readonly locator: string | null;
  /** The factors of the bounds that stand for how far off it can be; null: none, it is taken as it is. */
  readonly uncertainty: string | null;
}

/** A factor as its table has it; what covers its uncertainty depends on the methodology. */
export type TabledFactor = Omit<Factor, 'uncertainty'>;
type Origin = Omit<TabledFactor, 'value' | 'unit'>;

const from =
  (origin: Origin) =>
  (value: number, unit: string): TabledFactor => ({ value, unit, ...origin });

const ecologits = { version: '0.11.3', licence: 'MPL-2.0' } as const;
const paper = { ...ecologits, date: '2025', locator: 'https://doi.org/10.21105/joss.07471' } as const;
const inEcologits = { ...ecologits, locator: 'https://ecologits.ai/latest/methodology/llm_inference/' } as const;
const fit = from({ source: 'EcoLogits, doi:10.21105/joss.07471, fit on ML.ENERGY', ...paper });
const setup = from({ source: 'EcoLogits, doi:10.21105/joss.07471', ...paper });
const gpuMaking = from({ source: 'ADEME 2026 (Lees-Perasso et al.), in EcoLogits', ...inEcologits, date: '2026' });
const server = from({ source: 'BoaviztAPI, p5.48xlarge, in EcoLogits', ...inEcologits, date: null });

const cited = (source: string, version: string, locator: string | null, date = version) =>
  from({ source, version, licence: null, date, locator });
const kaplan = cited('Kaplan et al., arXiv:2001.08361', '2020', 'https://arxiv.org/abs/2001.08361');
const nvidia = cited('NVIDIA H100 SXM5 data sheet', '2023', 'https://www.nvidia.com/en-us/data-center/h100/');
const google = cited(
  'derived from the split in arXiv:2508.15734 (Google)',
  'v1, 2025-08-21',
  'https://arxiv.org/abs/2508.15734v1',
  '2025-08-21',
);
const literature = cited('half-width of the intervals published for this tier', '2025', null);
const own = { version: '1.0', licence: 'Apache-2.0', date: '2026-11', locator: null } as const;
const ours = from({ source: 'assumption of this methodology', ...own });

const constants: Readonly<Record<string, TabledFactor>> = {
  alpha_E: fit(serving.gpuEnergyAlpha, 'Wh/token per billion parameters'),
  beta_E: fit(serving.gpuEnergyBeta, '1'),
  gamma_E: fit(serving.gpuEnergyGamma, 'Wh/token'),
  alpha_L: fit(serving.latencyAlpha, 's/token per billion parameters'),
  beta_L: fit(serving.latencyBeta, 's/token'),
  gamma_L: fit(serving.latencyGamma, 's/token'),
  B: setup(serving.batchSize, '1'),
  weight_bits: setup(serving.weightBits, 'bit'),
  gpu_memory: setup(serving.gpuMemoryGb, 'GB'),
  memory_overhead: setup(serving.memoryOverhead, '1'),
  server_power: server(serving.serverPowerW, 'W'),
  server_gpus: server(serving.serverGpus, '1'),
  lifespan: setup(embodied.lifespanS, 's'),
  gpu_gwp: gpuMaking(embodied.gpuGwpKg, 'kgCO2e'),
  server_gwp: server(embodied.serverGwpKg, 'kgCO2e'),
  flop_per_parameter_and_token: kaplan(prefill.flopPerParameterAndToken, 'FLOP'),
  peak_flop_per_s: nvidia(prefill.peakFlopPerS, 'FLOP/s'),
  gpu_power: nvidia(prefill.gpuPowerW, 'W'),
  utilisation: ours(prefill.utilisation, '1'),
  utilisation_min: ours(prefill.utilisationMin, '1'),
  utilisation_max: ours(prefill.utilisationMax, '1'),
  proxy_spread: literature(literatureUncertainty.proxy, '1'),
  parametric_spread: literature(literatureUncertainty.parametric, '1'),
  telemetry_spread: literature(telemetryLimits.uncertainty, '1'),
  estimated_count_ratio: ours(estimatedCounts.ratio, '1'),
  ...boundFactors,
};

const workUnits = {
  accelerator_energy: ['acceleratorWh', 'Wh/token'],
  host_energy: ['hostWh', 'Wh/token'],
  accelerator_time: ['acceleratorS', 'GPU·s/token'],
} as const;
type WorkId = keyof typeof workUnits;
/** Of the models that the class stands for. */
const sizes = { class_active_least: 'leastActiveB', class_total_most: 'mostTotalB' } as const;
const classPattern = /^class_(least_|most_)?(output|input)_(accelerator_energy|host_energy|accelerator_time)$/;

/** What of a methodology its factors depend on. */
interface Rules {
  readonly idleShare: number | null;
  readonly combinesBounds: boolean;
}
/** Which classes stand for a model that is not known. */
export interface ClassRules {
  readonly floorClasses: Readonly<Record<ModelFacts['kind'], ModelClass>> | null;
  readonly ceilingClass: ModelClass | null;
}

/** The factor of this name under the methodology, or null: then the name is an input of the call. */
export function factorOf(name: string, method: Rules, modelClass: ModelClass | null): Factor | null {
  const tabled = tabledFactor(name, method, modelClass);
  return tabled === null ? null : withUncertainty(name, tabled, method);
}

/** Before gw-1.4 a receipt had the bounds of its tier, which no factor stands for. */
export const withUncertainty = (
  name: string,
  tabled: TabledFactor,
  { combinesBounds }: Pick<Rules, 'combinesBounds'>,
): Factor => ({
  ...tabled,
  uncertainty: (combinesBounds && uncertaintyOf(name)) || null,
});

/** The names of the floor and the ceiling as those of the end of a class. */
const classNamed = (name: string): string =>
  name
    .replace(/^floor_(?=output|input)/, 'class_least_')
    .replace(/^ceiling_(?=output|input)/, 'class_most_')
    .replace(/^(floor|ceiling)_/, 'class_');

/** Whose class a factor is of: that which stands for the model, or where none is known the smallest or the largest. */
export function classOfFactor(
  name: string,
  { model_class, model_kind }: Pick<Calculation, 'model_class' | 'model_kind'>,
  { ceilingClass, floorClasses }: ClassRules,
): ModelClass | null {
  if (name.startsWith('floor_')) return floorClasses?.[model_kind] ?? null;
  return name.startsWith('ceiling_') ? ceilingClass : model_class;
}

function tabledFactor(given: string, method: Rules, modelClass: ModelClass | null): TabledFactor | null {
  const name = Object.hasOwn(constants, given) ? given : classNamed(given);
  if (name === 'k_idle') return method.idleShare === null ? ours(0, '1') : google(method.idleShare, '1');
  if (Object.hasOwn(constants, name)) return constants[name] ?? null;
  if (modelClass !== null && (name === 'class_active_least' || name === 'class_total_most')) {
    return ours(classSize(modelClass)[sizes[name]], 'billion parameters');
  }
  const match = classPattern.exec(name);
  if (match === null || modelClass === null) return null;
  const [, end, of, work] = match;
  const [field, unit] = workUnits[work as WorkId];
  const { least, most } = classEnds[modelClass];
  const factors = end === undefined ? classFactors[modelClass] : end === 'least_' ? least : most;
  const which = end === undefined ? 'stand-in' : end === 'least_' ? 'smallest model' : 'largest model';
  return {
    value: (of === 'output' ? factors.perOutputToken : factors.perInputToken)[field],
    unit,
    source: `parametric formulas of this methodology for the ${which} of the class ${modelClass}`,
    ...own,
  };
}
