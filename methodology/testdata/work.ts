/** The hardware's work for one call, by an arithmetic of the tests' own. */
import { attention, prefill, serving, writing } from '../documents/factors.ts';

export interface Work {
  readonly acceleratorWh: number;
  readonly acceleratorS: number;
}

export interface Serving {
  readonly bits: number | null;
  readonly concurrency: number | null;
  /** How the work that the context takes compares with the assumed one. */
  readonly contextTimes?: number;
}

export function writingWork(
  { completion, prompt }: { readonly prompt: number; readonly completion: number },
  activeB: number,
  totalB: number,
  { bits, concurrency, contextTimes = 1 }: Serving,
): Work {
  const requests = concurrency ?? writing.assumedConcurrency;
  // A request needs each of the other weights with the same chance.
  const spared = (1 - activeB / totalB) ** requests;
  const weightsGb = ((totalB - totalB * spared) * (bits ?? writing.assumedBits)) / 8 / requests;
  const context = ((prompt + completion / 2) / 1000) * Math.cbrt(activeB * totalB) * contextTimes;
  const sum = (weights: number, operations: number, perContext: number, token: number) =>
    completion * (weights * weightsGb + operations * activeB + perContext * context + token);
  return {
    acceleratorWh: sum(writing.whPerWeightGb, writing.whPerActiveB, writing.whPerContext, writing.whPerToken),
    acceleratorS: sum(writing.sPerWeightGb, writing.sPerActiveB, writing.sPerContext, writing.sPerToken),
  };
}

/** `context`: twice the tokens that a token finds before it. */
export function readingWork(tokens: number, activeB: number, totalB: number, context: number): Work {
  const operations = tokens * prefill.flopPerParameterAndToken * activeB * 1e9;
  const acceleratorS =
    (operations * attentionOf(context, activeB, totalB)) / (prefill.peakFlopPerS * prefill.utilisation);
  return { acceleratorWh: (acceleratorS / 3600) * prefill.gpuPowerW, acceleratorS };
}

/** Operations with attention per operation without. */
export function attentionOf(context: number, activeB: number, totalB: number): number {
  const { aspect, parametersPerSquaredWidth } = attention;
  const layers = Math.cbrt((Math.sqrt(activeB * totalB) * 1e9) / (parametersPerSquaredWidth * aspect * aspect));
  return 1 + (context * layers * layers * aspect) / (activeB * 1e9);
}

export const hostWhOf = (acceleratorS: number): number =>
  ((acceleratorS / 3600) * serving.serverPowerW) / serving.serverGpus;
