/**
 * The proxy tier: work from a factor per token of the model's size class.
 *
 * Invariant: a class factor is the parametric model of the class's stand-in, with the fitted generation time and 16-bit
 * weights; nothing measured on the call but its tokens goes in. The factors are ours, EcoLogits does not publish them.
 */
import { literatureUncertainty, standIns } from './factors.ts';
import type { ModelClass, ParameterRange } from './facts.ts';
import { decode, decodeWork, prefillWork, readInput } from './parametric.ts';
import { classBounds, type Size, type WorkFacts } from './uncertainty.ts';
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
  readonly facts: WorkFacts;
  readonly combinesBounds: boolean;
}

export function proxyEstimate(modelClass: ModelClass, input: ProxyInput): Estimate {
  const { combinesBounds, facts, inputTokens, outputTokens } = input;
  const { perInputToken, perOutputToken } = classFactors[modelClass];
  const of = (writing: number, reading: number) =>
    combine(perOutputToken, outputTokens * writing, perInputToken, inputTokens * reading);
  const central = of(1, 1);
  if (!combinesBounds) return { central, ...tierBounds(of, facts.ratios), basis: 'literature_default' };
  const bounds = classBounds(classSize(modelClass), facts);
  return {
    central,
    low: of(bounds.writingLeast, bounds.readingLeast),
    high: of(bounds.writingMost, bounds.readingMost),
    basis: 'combined',
  };
}

/** The largest model that the class stands in with. */
export function classSize(modelClass: ModelClass): Size {
  const { active, total } = standIns[modelClass];
  return { activeB: active.max, totalB: total.max };
}

/** Before gw-1.4: one half-width for the tier. */
function tierBounds(
  of: (writing: number, reading: number) => Work,
  ratios: CountRatios,
): Pick<Estimate, 'low' | 'high'> {
  const spread = literatureUncertainty.proxy;
  return {
    low: combine(of(ratios.completionLeast, ratios.promptLeast), 1 - spread, noWork, 0),
    high: combine(of(ratios.completionMost, ratios.promptMost), 1 + spread, noWork, 0),
  };
}
