/**
 * The constants under the names that formulas use, each with unit, source, version and licence, as a lineage prints them.
 *
 * Invariant: a value here is the one in factors.ts; only its provenance is added. Numbers are facts and carry no licence
 * of their own: the licence is that of the publication or code they were read from.
 */
import { boundFactors } from './bound-factors.ts';
import { embodied, estimatedCounts, literatureUncertainty, prefill, serving, writing } from './factors.ts';

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

/** A factor without what covers its uncertainty (`uncertaintyOf`). */
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
const mlEnergy = from({
  source:
    'fitted by methodology/scripts/fit-serving.ts to the energy and the throughput of open models on H100 and B200: ML.ENERGY leaderboard, https://github.com/ml-energy/leaderboard',
  version: 'v3 0cd52da',
  licence: 'Apache-2.0',
  date: '2026-02-27',
  locator: 'https://github.com/ml-energy/leaderboard',
});
const kaplan = cited('Kaplan et al., arXiv:2001.08361', '2020', 'https://arxiv.org/abs/2001.08361');
const nvidia = cited('NVIDIA H100 SXM5 data sheet', '2023', 'https://www.nvidia.com/en-us/data-center/h100/');
export const google = cited(
  'derived from the split in arXiv:2508.15734 (Google)',
  'v1, 2025-08-21',
  'https://arxiv.org/abs/2508.15734v1',
  '2025-08-21',
);
const literature = cited('half-width of the intervals published for this tier', '2025', null);
export const own = { version: '1.0', licence: 'Apache-2.0', date: '2026-11', locator: null } as const;
export const ours = from({ source: 'assumption of this methodology', ...own });

export const constants: Readonly<Record<string, TabledFactor>> = {
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
  e_weights: mlEnergy(writing.whPerWeightGb, 'Wh/GB'),
  e_operations: mlEnergy(writing.whPerActiveB, 'Wh/token per billion parameters'),
  e_context: mlEnergy(writing.whPerContext, 'Wh/token'),
  e_token: mlEnergy(writing.whPerToken, 'Wh/token'),
  t_weights: mlEnergy(writing.sPerWeightGb, 'GPU·s/GB'),
  t_operations: mlEnergy(writing.sPerActiveB, 'GPU·s/token per billion parameters'),
  t_context: mlEnergy(writing.sPerContext, 'GPU·s/token'),
  t_token: mlEnergy(writing.sPerToken, 'GPU·s/token'),
  assumed_bits: ours(writing.assumedBits, 'bit'),
  assumed_concurrency: setup(writing.assumedConcurrency, '1'),
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
  estimated_count_ratio: ours(estimatedCounts.ratio, '1'),
  ...boundFactors,
};
