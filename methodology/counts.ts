/**
 * How sure the token counts of a call are.
 *
 * Invariant: a count that was estimated is never taken for one that was made: it widens the bounds, and the receipt says so.
 */
import { estimatedCounts } from './factors.ts';
import type { EstimatedCounts, TokenUsage } from './facts.ts';
import type { Methodology } from './methodologies.ts';
import { type CountRatios, exactly } from './work.ts';

const { ratio } = estimatedCounts;
const ofPrompt = { promptLeast: 1 / ratio, promptMost: ratio };
const ofCompletion = { completionLeast: 1 / ratio, completionMost: ratio };
const ratios: Readonly<Record<EstimatedCounts, CountRatios>> = {
  prompt: { ...exactly, ...ofPrompt },
  completion: { ...exactly, ...ofCompletion },
  both: { ...ofPrompt, ...ofCompletion },
};

type Rules = Pick<Methodology, 'widensEstimates'>;

/** Which counts are estimated, as far as the methodology makes a difference. */
export const estimatedIn = (usage: TokenUsage | null, { widensEstimates }: Rules): EstimatedCounts | null =>
  widensEstimates ? (usage?.estimated ?? null) : null;

export function countRatios(usage: TokenUsage, rules: Rules): CountRatios {
  const estimated = estimatedIn(usage, rules);
  return estimated === null ? exactly : ratios[estimated];
}

const words: Readonly<Record<EstimatedCounts, string>> = {
  prompt: "prompt tokens are estimated from the request's text",
  completion: 'completion tokens are estimated from the text that was delivered (hidden reasoning is not in them)',
  both: 'prompt and completion tokens are estimated from the text that was sent and delivered (hidden reasoning is not in them)',
};

/** For the end of a `tier_reason`; empty where the provider's counts were taken as they are. */
export function countsText(usage: TokenUsage | null, rules: Rules): string {
  if (!rules.widensEstimates || usage === null) return '';
  const estimated = estimatedIn(usage, rules);
  const wide = estimated === null ? '' : `; ${words[estimated]}, within a ratio of ${ratio} either way`;
  const over = usage.outsideCounts ?? 0;
  if (over > 0)
    return `${wide}; ${over} tokens that the provider states outside of its two counts are charged as completion`;
  if (over < 0) return `${wide}; the provider's total is ${-over} less than its two counts, which are charged`;
  return wide;
}
