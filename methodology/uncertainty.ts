/**
 * How the sources of uncertainty of a receipt make one pair of bounds, from gw-1.4 on.
 *
 * Invariant: a bound is never narrower than that of a case that is known better: each source that applies widens it. What
 * is unknown without a distribution (the range of a model's parameters, how well the accelerators were used, whether
 * a figure holds the overhead) is taken at its ends; sources with one are independent and combine as relative errors of a
 * product do (IPCC 2006 Guidelines, vol. 1, ch. 3, approach 1), by their logarithms, since they are ratios.
 */
import { attention, comparison, prefill, spreads } from './factors.ts';
import type { SiteFacts } from './facts.ts';
import { parametersPerBillion } from './units.ts';
import type { CountRatios } from './work.ts';

/** The ratio of a product whose factors are off by these ratios, each either way. */
export function combined(...ratios: readonly number[]): number {
  let sum = 0;
  for (const ratio of ratios) sum += Math.log(ratio) * Math.log(ratio);
  return Math.exp(Math.sqrt(sum));
}

/** Wh: what the model gives for what a figure is about, and its bounds. */
export interface Expected {
  readonly wh: number;
  readonly leastWh: number;
  readonly mostWh: number;
}

export const isDoubtful = (measuredWh: number, modelledWh: number): boolean =>
  measuredWh > modelledWh * comparison.plausibleWithin || measuredWh * comparison.plausibleWithin < modelledWh;

/**
 * Measured energy is doubtful beyond a ratio to the modelled one. Which of the two is wrong nobody knows, so the bounds of both
 * have to lie inside those of the receipt: these give the end of the model's that they must reach, and the figure itself where
 * it is plausible or nothing is modelled.
 */
export const leastBelieved = (measuredWh: number, expected: Expected | null): number =>
  expected !== null && isDoubtful(measuredWh, expected.wh) ? expected.leastWh : measuredWh;
export const mostBelieved = (measuredWh: number, expected: Expected | null): number =>
  expected !== null && isDoubtful(measuredWh, expected.wh) ? expected.mostWh : measuredWh;

/** For `functions` of a methodology's document. */
export const combinedText = {
  combined: 'combined(a, b, …): exp(sqrt(ln(a) * ln(a) + ln(b) * ln(b) + …)), added from the left',
} as const;

/** What the low and the high end of work are, as multiples of the work itself. */
export interface WorkBounds {
  readonly writingLeast: number;
  readonly writingMost: number;
  readonly readingLeast: number;
  readonly readingMost: number;
}

/** The facts that widen the bounds of modelled work. `promptTokens`: with those that a cache served. */
export interface WorkFacts {
  readonly cachedPromptTokens: number;
  /** 0 for an embedding. */
  readonly outputTokens: number;
  readonly promptTokens: number;
  readonly site: SiteFacts;
  readonly ratios: CountRatios;
}

/** Billions of parameters of the model, or of the class that stands in for it. */
export interface Size {
  readonly activeB: number;
  readonly totalB: number;
}

/** `mostB`: all parameters at the upper end, where they are a range: one that may be beyond the fit is not narrower. */
export const modelBounds = (size: Size, mostB: number, facts: WorkFacts): WorkBounds =>
  workBounds(size, mostB, facts, []);
export const classBounds = (size: Size, facts: WorkFacts): WorkBounds =>
  workBounds(size, size.totalB, facts, [spreads.sizeClass]);

function workBounds(size: Size, mostB: number, facts: WorkFacts, more: readonly number[]): WorkBounds {
  const { ratios, site } = facts;
  const beyond = mostB > spreads.fittedUpToB ? spreads.extrapolationLeast : 1;
  const hardware = isOtherHardware(site.accelerators) ? spreads.otherHardware : 1;
  const reading = combined(hardware, ratios.promptMost, ...more);
  return {
    writingLeast: 1 / combined(spreads.modelLeast, beyond, hardware, ratios.completionMost, ...more),
    writingMost:
      attentionMost(2 * facts.promptTokens + facts.outputTokens, size) *
      combined(spreads.modelMost, hardware, ratios.completionMost, ...more),
    readingLeast: prefill.utilisation / prefill.utilisationMax / reading,
    readingMost:
      (prefill.utilisation / prefill.utilisationMin) *
      attentionMost(facts.promptTokens + facts.cachedPromptTokens, size) *
      reading,
  };
}

/**
 * Operations of a forward pass with attention, per operation without. `context`: twice the tokens that a token finds before it, on
 * average. What a cache served is before all that is read, and the whole input before all that is written. Of a mixture of
 * experts the layers and the width follow neither from all parameters nor from the active ones: their geometric mean comes close.
 */
function attentionMost(context: number, { activeB, totalB }: Size): number {
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

type Hardware = SiteFacts['accelerators'];

/** Whether a deployment runs on other accelerators than the modelled ones, or may, since it does not say. */
export const isOtherHardware = (accelerators: Hardware): boolean => !accelerators || !isModelled(accelerators.model);
export const wasOtherHardware = (accelerators: Hardware): boolean =>
  !accelerators || !formerlyModelled(accelerators.model);
