/**
 * The parametric tier: work from the model's parameter counts.
 *
 * Invariant: with input tokens and idle left out, the steps equal EcoLogits 0.11.3 (doi:10.21105/joss.07471) to 1e-9.
 * Writing the output (decode) is EcoLogits' model; reading the input (prefill) is our own derivation.
 */
import { exp } from './elementary.ts';
import { literatureUncertainty, prefill, serving } from './factors.ts';
import type { ModelFacts, ParameterRange } from './facts.ts';
import type { DecodeStep, PrefillStep, StepValues } from './steps.ts';
import { type WorkFacts, workBounds } from './uncertainty.ts';
import { bitsPerByte, parametersPerBillion, secondsPerHour } from './units.ts';
import { type CountRatios, combine, type Estimate, endsOf, noWork, type Work } from './work.ts';

const batchedAlpha = serving.gpuEnergyAlpha * exp(serving.gpuEnergyBeta * serving.batchSize);
const batchedLatency = serving.latencyBeta * serving.batchSize + serving.latencyGamma;

/** What the decode model needs beside the parameter counts. Seconds and bits; null where not known. */
export interface DecodeConditions {
  readonly quantizationBits: number | null;
  readonly tokensPerS: number | null;
  readonly ttftS: number | null;
  readonly upstreamLatencyS: number | null;
}

/** Output tokens, billions of parameters; the steps' units are in steps.ts. */
export function decode(
  outputTokens: number,
  activeB: number,
  totalB: number,
  conditions: DecodeConditions,
): StepValues<DecodeStep> {
  const latency = generationLatency(outputTokens, activeB, conditions);
  const memoryGb =
    (serving.memoryOverhead * totalB * (conditions.quantizationBits ?? serving.weightBits)) / bitsPerByte;
  const gpus = 2 ** Math.ceil(Math.log2(Math.max(1, Math.ceil(memoryGb / serving.gpuMemoryGb))));
  const hostShare = gpus / serving.serverGpus / serving.batchSize;
  return {
    gpu_energy: outputTokens * (batchedAlpha * activeB + serving.gpuEnergyGamma),
    generation_latency: latency,
    model_required_memory: memoryGb,
    gpu_required_count: gpus,
    server_energy: (latency / secondsPerHour) * serving.serverPowerW * hostShare,
  };
}

/** No output takes no time, also where a time to the first token is known: otherwise an empty reply would cost. */
function generationLatency(outputTokens: number, activeB: number, conditions: DecodeConditions): number {
  if (outputTokens === 0) return 0;
  const perToken =
    conditions.tokensPerS === null ? serving.latencyAlpha * activeB + batchedLatency : 1 / conditions.tokensPerS;
  const modelled = outputTokens * perToken + (conditions.ttftS ?? 0);
  return conditions.upstreamLatencyS === null ? modelled : Math.min(modelled, conditions.upstreamLatencyS);
}

/**
 * Input tokens that no cache served, billions of active parameters. The time is this call's exclusive share of the
 * GPUs, so it is neither divided by the batch nor multiplied by the number of GPUs that hold the model.
 */
export function readInput(inputTokens: number, activeB: number): StepValues<PrefillStep> {
  const flop = inputTokens * prefill.flopPerParameterAndToken * activeB * parametersPerBillion;
  const time = flop / (prefill.peakFlopPerS * prefill.utilisation);
  return {
    prefill_time: time,
    prefill_gpu_energy: (time / secondsPerHour) * prefill.gpuPowerW,
    prefill_server_energy: ((time / secondsPerHour) * serving.serverPowerW) / serving.serverGpus,
  };
}

export function decodeWork(steps: StepValues<DecodeStep>): Work {
  return {
    acceleratorWh: steps.gpu_required_count * steps.gpu_energy,
    hostWh: steps.server_energy,
    acceleratorS: (steps.generation_latency * steps.gpu_required_count) / serving.batchSize,
  };
}

export function prefillWork(steps: StepValues<PrefillStep>): Work {
  return {
    acceleratorWh: steps.prefill_gpu_energy,
    hostWh: steps.prefill_server_energy,
    acceleratorS: steps.prefill_time,
  };
}

export interface ParametricInput {
  /** Tokens to charge: input without the cached part, or 0 where the methodology leaves input out. */
  readonly inputTokens: number;
  /** 0 for an embedding, which writes nothing. */
  readonly outputTokens: number;
  readonly upstreamLatencyS: number | null;
  readonly facts: WorkFacts;
  /** As in the methodology's rules. */
  readonly combinesBounds: boolean;
}

/** Whether the parametric tier can serve the model. An embedding writes nothing, so its memory does not matter. */
export function hasParameters(model: ModelFacts): boolean {
  return model.activeParametersB !== null && (model.kind === 'embedding' || model.totalParametersB !== null);
}

/** The counts that fill the memory; an embedding's estimate depends on its active parameters alone. */
export const totalOf = (model: ModelFacts): ParameterRange | null =>
  model.kind === 'embedding' ? model.activeParametersB : (model.totalParametersB ?? model.activeParametersB);

/** Whether the estimate is computed at two ends. */
export function isParameterRange(model: ModelFacts): boolean {
  const [active, total] = [model.activeParametersB, totalOf(model)];
  return active !== null && total !== null && (active.min !== active.max || total.min !== total.max);
}

/** The estimate from the parameter counts, or null where they are not known (see hasParameters). */
export function parametricEstimate(model: ModelFacts, input: ParametricInput): Estimate | null {
  const active = model.activeParametersB;
  if (active === null || !hasParameters(model)) return null;
  const total = totalOf(model) ?? active;
  const { inputTokens, outputTokens, upstreamLatencyS } = input;
  const conditions = { ...conditionsOf(model), upstreamLatencyS };
  const run = (end: keyof ParameterRange, input = inputTokens) => ({
    writing: outputTokens === 0 ? noWork : decodeWork(decode(outputTokens, active[end], total[end], conditions)),
    reading: input === 0 ? noWork : prefillWork(readInput(input, active[end])),
  });
  const smallest = run('min');
  const isRange = isParameterRange(model);
  const largest = isRange ? run('max') : smallest;
  const writing = combine(smallest.writing, 0.5, largest.writing, 0.5);
  const reading = combine(smallest.reading, 0.5, largest.reading, 0.5);
  const central = combine(writing, 1, reading, 1);
  if (!input.combinesBounds) return { central, ...tierBounds({ smallest, largest }, isRange, input.facts.ratios) };
  const bounds = workBounds({ leastActiveB: active.min, mostTotalB: total.max }, input.facts);
  const most = run('max', input.facts.promptTokens);
  return {
    central,
    low: combine(smallest.writing, bounds.writingLow, smallest.reading, bounds.readingLow),
    high: combine(most.writing, bounds.writingHigh, most.reading, bounds.readingHigh),
    ends: {
      smallest: combine(smallest.writing, 1, smallest.reading, 1),
      largest: combine(largest.writing, 1, largest.reading, 1),
      least: combine(smallest.writing, 1, smallest.reading, bounds.readingLeast),
      most: combine(most.writing, bounds.writingMost, most.reading, bounds.readingMost),
    },
    basis: 'combined',
  };
}

/** Of writing and of reading. */
type Run = Readonly<Record<'writing' | 'reading', Work>>;

/** Before gw-1.4: one half-width for the tier, none where the parameters are a range. */
function tierBounds(
  { largest, smallest }: Readonly<Record<'smallest' | 'largest', Run>>,
  isRange: boolean,
  ratios: CountRatios,
): Omit<Estimate, 'central'> {
  const spread = isRange ? 0 : literatureUncertainty.parametric;
  const fast = (prefill.utilisation / prefill.utilisationMax) * ratios.promptLeast;
  const slow = (prefill.utilisation / prefill.utilisationMin) * ratios.promptMost;
  const low = combine(smallest.writing, (1 - spread) * ratios.completionLeast, smallest.reading, fast);
  const high = combine(largest.writing, (1 + spread) * ratios.completionMost, largest.reading, slow);
  return { low, high, ends: endsOf(low, high), basis: isRange ? 'parameter_range' : 'literature_default' };
}

function conditionsOf(model: ModelFacts): Omit<DecodeConditions, 'upstreamLatencyS'> {
  return { quantizationBits: model.quantizationBits, tokensPerS: model.tokensPerS, ttftS: model.ttftS };
}
