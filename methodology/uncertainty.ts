/**
 * How the sources of uncertainty of a receipt make one pair of bounds, from gw-1.4 on.
 *
 * Invariant: a bound is never narrower than that of a case that is known better: each source that applies widens it. What
 * is unknown without a distribution (the range of a model's parameters, how well the accelerators were used, whether
 * a figure holds the overhead) is taken at its ends; sources with one are independent and combine as relative errors of a
 * product do (IPCC 2006 Guidelines, vol. 1, ch. 3, approach 1), by their logarithms, since they are ratios.
 */
import { exp, ln } from './elementary.ts';
import { attention, comparison, prefill, spreads } from './factors.ts';
import type { ModelFacts, SiteFacts } from './facts.ts';
import { parametersPerBillion } from './units.ts';
import type { CountRatios } from './work.ts';

/** The ratio of a product whose factors are off by these ratios, each either way. */
export function combined(...ratios: readonly number[]): number {
  let sum = 0;
  for (const ratio of ratios) sum += ln(ratio) * ln(ratio);
  return exp(Math.sqrt(sum));
}

/** Wh: what the model gives for what a figure is about, at the ends of its parameters, and its bounds. */
export interface Expected extends Reach {
  readonly wh: number;
  readonly smallestWh: number;
  readonly largestWh: number;
}

/** Wh: what the bounds of a measured figure have to hold beside its own spread. */
export interface Reach {
  readonly leastWh: number;
  readonly mostWh: number;
}

/**
 * Measured energy is doubtful beyond a ratio to the modelled one, of any model that it can be: so a range of parameters is not
 * plausible where one in it is not.
 */
export const isDoubtful = (measuredWh: number, { largestWh, smallestWh }: Expected): boolean =>
  measuredWh > smallestWh * comparison.plausibleWithin || measuredWh * comparison.plausibleWithin < largestWh;

/** Which of the two is wrong nobody knows, so the bounds of a doubtful figure hold those of the modelled energy too. */
export const reachOf = (measuredWh: number, expected: Expected): Reach =>
  isDoubtful(measuredWh, expected) ? expected : { leastWh: measuredWh, mostWh: measuredWh };

/** For `functions` of a methodology's document. */
export const combinedText = {
  combined: 'combined(a, b, …): exp(sqrt(ln(a) * ln(a) + ln(b) * ln(b) + …)), added from the left',
} as const;

/** What the ends of work are, as multiples of what its model gives: without the spreads, and with them (`low`, `high`). */
export interface WorkBounds {
  readonly writingMost: number;
  readonly writingLow: number;
  readonly writingHigh: number;
  readonly readingLeast: number;
  readonly readingMost: number;
  readonly readingLow: number;
  readonly readingHigh: number;
}

/** The facts that widen the bounds of modelled work. `promptTokens`: with those that a cache served. */
export interface WorkFacts {
  /** 0 for an embedding. */
  readonly outputTokens: number;
  readonly promptTokens: number;
  readonly site: SiteFacts;
  readonly ratios: CountRatios;
  /** Whether the parameter counts were guessed; false of a class. */
  readonly isGuessed: boolean;
}

/** Billions of parameters: the fewest that work on a token, and the most there are in all. */
export interface Size {
  readonly leastActiveB: number;
  readonly mostTotalB: number;
}

/** Of a model, or of all those that a class stands for. */
export function workBounds(size: Size, facts: WorkFacts): WorkBounds {
  const { ratios, site } = facts;
  const beyond = size.mostTotalB > spreads.fittedUpToB ? spreads.extrapolationLeast : 1;
  const hardware = isOtherHardware(site.accelerators) ? spreads.otherHardware : 1;
  const guessed = facts.isGuessed ? spreads.guessedSize : 1;
  const reading = combined(hardware, ratios.promptMost, guessed);
  const attentionOfWriting = attentionMost(2 * facts.promptTokens + facts.outputTokens, size);
  const readingLeast = prefill.utilisation / prefill.utilisationMax;
  const readingMost = (prefill.utilisation / prefill.utilisationMin) * attentionMost(facts.promptTokens, size);
  return {
    writingMost: attentionOfWriting,
    writingLow: 1 / combined(spreads.modelLeast, beyond, hardware, ratios.completionMost, guessed),
    writingHigh: attentionOfWriting * combined(spreads.modelMost, hardware, ratios.completionMost, guessed),
    readingLeast,
    readingMost,
    readingLow: readingLeast / reading,
    readingHigh: readingMost * reading,
  };
}

/**
 * Operations of a forward pass with attention, per operation without. `context`: twice the tokens that a token finds before it, on
 * average. The whole input is before all that is written; what a cache served is taken for read here. Of a mixture of
 * experts the layers and the width follow neither from all parameters nor from the active ones: their geometric mean comes close.
 * It is the larger, the fewer parameters are active and the more there are, so a range of both is taken there.
 */
function attentionMost(context: number, { leastActiveB: activeB, mostTotalB: totalB }: Size): number {
  const { aspect, parametersPerSquaredWidth } = attention;
  const parameters = (activeB * totalB) ** 0.5 * parametersPerBillion;
  const layersByWidth = aspect * (parameters / (parametersPerSquaredWidth * aspect * aspect)) ** (2 / 3);
  return 1 + (context * layersByWidth) / (activeB * parametersPerBillion);
}

/**
 * The only hardware that is modelled: the SXM5 module, in its usual names and nothing beside. The cards named PCIe and NVL draw
 * about half its power.
 */
const modelledNames = /^(nvidia[ -]+)?((hgx|dgx)[ -]+)?h100([ -]+(sxm5?|80 ?gb|hbm3))*$/i;
const isModelled = (model: string): boolean => modelledNames.test(model.trim().replaceAll('_', '-'));
/** Before gw-1.4 any text with H100 in it was taken for one. */
const formerlyModelled = (model: string): boolean => /\bH100\b/i.test(model) && !/PCIe|NVL/i.test(model);

/** By the words of whoever entered them: what `./gw up` read from the name of a model begins so. */
export const isGuessed = ({ parametersSource }: Pick<ModelFacts, 'parametersSource'>): boolean =>
  /^guessed\b/i.test(parametersSource ?? '');

/** Whether a PUE has nobody who measured or published it. */
export const isAssumedPue = ({ pueEvidence }: SiteFacts): boolean => (pueEvidence?.kind ?? 'assumed') === 'assumed';

type Hardware = SiteFacts['accelerators'];

/** Whether a deployment runs on other accelerators than the modelled ones, or may, since it does not say. */
export const isOtherHardware = (accelerators: Hardware): boolean => !accelerators || !isModelled(accelerators.model);
export const wasOtherHardware = (accelerators: Hardware): boolean =>
  !accelerators || !formerlyModelled(accelerators.model);
