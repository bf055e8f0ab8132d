/**
 * The proxy tier: work from a factor per token of the model's size class.
 *
 * Invariant: a class factor is the parametric model of the class's stand-in, with the fitted generation time and 16-bit
 * weights; nothing measured on the call but its tokens goes in. The factors are ours, EcoLogits does not publish them.
 */
import { classSpans, literatureUncertainty, standIns } from './factors.ts';
import type { ModelClass, ParameterRange } from './facts.ts';
import { decode, decodeWork, prefillWork, readInput } from './parametric.ts';
import { type Size, type WorkFacts, workBounds } from './uncertainty.ts';
import { type CountRatios, combine, type Estimate, endsOf, noWork, type Work } from './work.ts';

export interface ClassFactors {
  /** Work per output token and per input token, before the data centre's overhead. */
  readonly perOutputToken: Work;
  readonly perInputToken: Work;
}

const unmeasured = { quantizationBits: null, tokensPerS: null, ttftS: null, upstreamLatencyS: null };

type Sizes = Readonly<Record<'active' | 'total', ParameterRange>>;

const factorsAt = (sizes: Sizes, end: keyof ParameterRange): ClassFactors => ({
  perOutputToken: decodeWork(decode(1, sizes.active[end], sizes.total[end], unmeasured)),
  perInputToken: prefillWork(readInput(1, sizes.active[end])),
});

function factorsOf(standIn: Sizes): ClassFactors {
  const [least, most] = [factorsAt(standIn, 'min'), factorsAt(standIn, 'max')];
  return {
    perOutputToken: combine(least.perOutputToken, 0.5, most.perOutputToken, 0.5),
    perInputToken: combine(least.perInputToken, 0.5, most.perInputToken, 0.5),
  };
}

const ofEach = <T>(each: (modelClass: ModelClass) => T): Readonly<Record<ModelClass, T>> => ({
  small: each('small'),
  medium: each('medium'),
  large: each('large'),
  moe_small_active: each('moe_small_active'),
  frontier: each('frontier'),
  embedding: each('embedding'),
});

export const classFactors = ofEach((name) => factorsOf(standIns[name]));
/** Of the smallest and of the largest model that a class stands for. */
export const classEnds = ofEach((name) => ({
  least: factorsAt(classSpans[name], 'min'),
  most: factorsAt(classSpans[name], 'max'),
}));

export interface ProxyInput {
  /** Tokens to charge, as in the parametric tier. */
  readonly inputTokens: number;
  readonly outputTokens: number;
  readonly facts: WorkFacts;
  readonly combinesBounds: boolean;
}

export function proxyEstimate(modelClass: ModelClass, input: ProxyInput): Estimate {
  const { combinesBounds, facts, inputTokens, outputTokens } = input;
  const of =
    ({ perInputToken, perOutputToken }: ClassFactors, inputs = inputTokens) =>
    (writing: number, reading: number) =>
      combine(perOutputToken, outputTokens * writing, perInputToken, inputs * reading);
  const standIn = of(classFactors[modelClass]);
  const central = standIn(1, 1);
  if (!combinesBounds) return { central, ...tierBounds(standIn, facts.ratios) };
  const bounds = workBounds(classSize(modelClass), facts);
  const ends = classEnds[modelClass];
  const [least, most] = [of(ends.least), of(ends.most, facts.promptTokens)];
  return {
    central,
    low: least(bounds.writingLow, bounds.readingLow),
    high: most(bounds.writingHigh, bounds.readingHigh),
    ends: {
      smallest: least(1, 1),
      largest: of(ends.most)(1, 1),
      least: least(1, bounds.readingLeast),
      most: most(bounds.writingMost, bounds.readingMost),
    },
    basis: 'combined',
  };
}

export function classSize(modelClass: ModelClass): Size {
  const { active, total } = classSpans[modelClass];
  return { leastActiveB: active.min, mostTotalB: total.max };
}

/** Before gw-1.4: one half-width for the tier. */
function tierBounds(of: (writing: number, reading: number) => Work, ratios: CountRatios): Omit<Estimate, 'central'> {
  const spread = literatureUncertainty.proxy;
  const low = combine(of(ratios.completionLeast, ratios.promptLeast), 1 - spread, noWork, 0);
  const high = combine(of(ratios.completionMost, ratios.promptMost), 1 + spread, noWork, 0);
  return { low, high, ends: endsOf(low, high), basis: 'literature_default' };
}
