/**
 * The proxy tier: work from a factor per token of the model's size class.
 *
 * Invariant: a class factor is the parametric model of the class's stand-in, with the fitted generation time and 16-bit
 * weights; nothing measured on the call but its tokens goes in. The factors are ours, EcoLogits does not publish them.
 */
import { literatureUncertainty, standIns } from './factors.ts';
import type { ModelClass, ParameterRange } from './facts.ts';
import { decode, decodeWork, prefillWork, readInput } from './parametric.ts';
import { type CountRatios, combine, type Estimate, noWork, type Work } from './work.ts';

export interface ClassFactors {
  /** Work per output token and per input token, before the data centre's overhead. */
  readonly perOutputToken: Work;
  readonly perInputToken: Work;
}

const unmeasured = { quantizationBits: null, tokensPerS: null, ttftS: null, upstreamLatencyS: null };

function factorsOf(standIn: { readonly active: ParameterRange; readonly total: ParameterRange }): ClassFactors {
  const output = (end: keyof ParameterRange) =>
    decodeWork(decode(1, standIn.active[end], standIn.total[end], unmeasured));
  const input = (end: keyof ParameterRange) => prefillWork(readInput(1, standIn.active[end]));
  return {
    perOutputToken: combine(output('min'), 0.5, output('max'), 0.5),
    perInputToken: combine(input('min'), 0.5, input('max'), 0.5),
  };
}

export const classFactors: Readonly<Record<ModelClass, ClassFactors>> = {
  small: factorsOf(standIns.small),
  medium: factorsOf(standIns.medium),
  large: factorsOf(standIns.large),
  moe_small_active: factorsOf(standIns.moe_small_active),
  frontier: factorsOf(standIns.frontier),
  embedding: factorsOf(standIns.embedding),
};

export interface ProxyInput {
  /** Tokens to charge, as in the parametric tier. */
  readonly inputTokens: number;
  readonly outputTokens: number;
  readonly ratios: CountRatios;
}

/** The bounds are the literature's for the tier: a class is too rough for a stand-in's own range to say more. */
export function proxyEstimate(modelClass: ModelClass, { inputTokens, outputTokens, ratios }: ProxyInput): Estimate {
  const { perInputToken, perOutputToken } = classFactors[modelClass];
  const of = (input: number, output: number) =>
    combine(perOutputToken, outputTokens * output, perInputToken, inputTokens * input);
  const spread = literatureUncertainty.proxy;
  return {
    central: of(1, 1),
    low: combine(of(ratios.promptLeast, ratios.completionLeast), 1 - spread, noWork, 0),
    high: combine(of(ratios.promptMost, ratios.completionMost), 1 + spread, noWork, 0),
    basis: 'literature_default',
  };
}
