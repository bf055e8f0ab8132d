/** The hardware's work for one call, by an arithmetic of the tests' own: EcoLogits' model of writing, and ours of reading. */
import { prefill, serving } from '../documents/factors.ts';
import type { ModelFacts } from '../facts/facts.ts';

export interface Work {
  readonly acceleratorWh: number;
  readonly hostWh: number;
  readonly acceleratorS: number;
}

type Conditions = Pick<ModelFacts, 'quantizationBits' | 'tokensPerS' | 'ttftS'> & {
  readonly upstreamLatencyS: number | null;
};

export function writingWork(tokens: number, activeB: number, totalB: number, conditions: Conditions): Work {
  const { quantizationBits, tokensPerS, ttftS, upstreamLatencyS } = conditions;
  const fitted = serving.latencyAlpha * activeB + serving.latencyBeta * serving.batchSize + serving.latencyGamma;
  const modelled = tokens * (tokensPerS === null ? fitted : 1 / tokensPerS) + (ttftS ?? 0);
  const seconds = tokens === 0 ? 0 : Math.min(modelled, upstreamLatencyS ?? Number.POSITIVE_INFINITY);
  const memoryGb = (serving.memoryOverhead * totalB * (quantizationBits ?? serving.weightBits)) / 8;
  const gpus = 2 ** Math.ceil(Math.log2(Math.max(1, Math.ceil(memoryGb / serving.gpuMemoryGb))));
  const perToken =
    serving.gpuEnergyAlpha * Math.exp(serving.gpuEnergyBeta * serving.batchSize) * activeB + serving.gpuEnergyGamma;
  return {
    acceleratorWh: gpus * tokens * perToken,
    hostWh: ((seconds / 3600) * serving.serverPowerW * gpus) / serving.serverGpus / serving.batchSize,
    acceleratorS: (seconds * gpus) / serving.batchSize,
  };
}

export function readingWork(tokens: number, activeB: number): Work {
  const operations = tokens * prefill.flopPerParameterAndToken * activeB * 1e9;
  const acceleratorS = operations / (prefill.peakFlopPerS * prefill.utilisation);
  return {
    acceleratorWh: (acceleratorS / 3600) * prefill.gpuPowerW,
    hostWh: ((acceleratorS / 3600) * serving.serverPowerW) / serving.serverGpus,
    acceleratorS,
  };
}

/** The weighted sum of two amounts of work. */
export const combine = (a: Work, weightA: number, b: Work, weightB: number): Work => ({
  acceleratorWh: a.acceleratorWh * weightA + b.acceleratorWh * weightB,
  hostWh: a.hostWh * weightA + b.hostWh * weightB,
  acceleratorS: a.acceleratorS * weightA + b.acceleratorS * weightB,
});
