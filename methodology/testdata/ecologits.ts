/** Computes EcoLogits' figures for one call with the program of its methodology, in the units of its reference cases. */
import { calculationOf } from '../choice/calculation.ts';
import { embodied, serving } from '../documents/factors.ts';
import { methodologyOf } from '../documents/methodologies.ts';
import { gridTimes } from '../facts/grid.ts';
import { inputsOf } from '../facts/inputs.ts';
import type { Trace } from '../generated/receipt.ts';
import { run } from '../receipt/programs.ts';
import { call, dense70b, hourly } from './facts.ts';

export interface EcologitsCall {
  readonly outputTokens: number;
  readonly activeB: number;
  readonly totalB: number;
  readonly quantizationBits?: number | null;
  readonly tokensPerS?: number | null;
  readonly ttftS?: number | null;
  readonly latencyS?: number | null;
  readonly pue?: number;
  readonly wueOnsiteLPerKwh?: number;
  readonly kgPerKwh?: number;
  readonly waterLPerKwh?: number;
}

/** The value of a step that the calculation has. */
export type StepValue = (key: string) => number;

export function ecologitsSteps(given: EcologitsCall): StepValue {
  const { activeB, outputTokens, totalB } = given;
  const grid = { ...hourly, gPerKwh: (given.kgPerKwh ?? 0) * 1000, waterLPerKwh: given.waterLPerKwh ?? 0 };
  const facts = {
    ...call,
    usage: { promptTokens: 0, cachedPromptTokens: 0, completionTokens: outputTokens },
    upstreamLatencyS: given.latencyS ?? null,
    model: {
      ...dense70b,
      activeParametersB: { min: activeB, max: activeB },
      totalParametersB: { min: totalB, max: totalB },
      quantizationBits: given.quantizationBits ?? null,
      tokensPerS: given.tokensPerS ?? null,
      ttftS: given.ttftS ?? null,
    },
    site: { pue: given.pue ?? 1, wueOnsiteLPerKwh: given.wueOnsiteLPerKwh ?? 0 },
    grid,
  };
  const times = gridTimes(grid, facts.requestedAt);
  if (times === null) throw new Error('The times of the grid value cannot be read.');
  const method = methodologyOf('ecologits-0.11.3');
  const trace: Trace = {};
  run(method.id, calculationOf(facts, { tier: 'parametric' }, null, method), inputsOf(facts, times), trace);
  return (key) => {
    const value = trace[key];
    if (value == null) throw new Error(`There is no step ${key}.`);
    return value;
  };
}

/** Making one GPU with its share of the server: climate, mineral resources and primary energy. */
export const embodiedPerGpu = {
  gwpKg: embodied.serverGwpKg / serving.serverGpus + embodied.gpuGwpKg,
  adpeKgSb: embodied.serverAdpeKgSb / serving.serverGpus + embodied.gpuAdpeKgSb,
  peMj: embodied.serverPeMj / serving.serverGpus + embodied.gpuPeMj,
};

/** The share of making the hardware that falls on this many GPU-seconds of its life. */
export function embodiedOf(acceleratorS: number): typeof embodiedPerGpu {
  const share = acceleratorS / embodied.lifespanS;
  const { adpeKgSb, gwpKg, peMj } = embodiedPerGpu;
  return { gwpKg: share * gwpKg, adpeKgSb: share * adpeKgSb, peMj: share * peMj };
}
