/**
 * The formulas' domain: whole tokens, a PUE of at least 1, positive sizes and rates, nothing negative or infinite.
 *
 * Invariant: facts outside it are not calculated with; null and undefined are "not known", which is inside.
 */
import { type CallFacts, countDoubts, type ModelFacts, type ParameterRange, type TokenUsage } from './facts.ts';

export function areSound({ failedAttemptsMostWh, grid, model, site, usage, upstreamLatencyS }: CallFacts): boolean {
  return (
    (usage === null || areCounts(usage)) &&
    isAmount(upstreamLatencyS) &&
    isAmount(failedAttemptsMostWh) &&
    isAmount(model.ttftS) &&
    isPositive(model.tokensPerS) &&
    isPositive(model.quantizationBits) &&
    isPositive(model.activeParametersB?.min) &&
    isPositive(model.activeParametersB?.max) &&
    isPositive(model.totalParametersB?.min) &&
    isPositive(model.totalParametersB?.max) &&
    Number.isFinite(site.pue) &&
    site.pue >= 1 &&
    isAmount(site.wueOnsiteLPerKwh) &&
    isConcurrency(site.typicalConcurrency) &&
    isAmount(grid?.gPerKwh) &&
    isAmount(grid?.waterLPerKwh)
  );
}

/** No weight has less than a bit. */
const leastBits = 1;

/** A range does not stand on its head, and no more parameters work than there are. EcoLogits' methodology does not ask. */
export function isPossible({
  activeParametersB: active,
  quantizationBits,
  totalParametersB: total,
}: ModelFacts): boolean {
  if (quantizationBits !== null && quantizationBits < leastBits) return false;
  if (!isOrdered(active) || !isOrdered(total)) return false;
  return active === null || total === null || (active.min <= total.min && active.max <= total.max);
}

const isOrdered = (range: ParameterRange | null): boolean => range === null || range.min <= range.max;

const isCount = (value: number): boolean => Number.isSafeInteger(value) && value >= 0;

const areCounts = (usage: TokenUsage): boolean =>
  isCount(usage.promptTokens) &&
  isCount(usage.cachedPromptTokens) &&
  isCount(usage.completionTokens) &&
  isBetween(usage.promptLeast, usage.promptTokens, usage.promptMost) &&
  isBetween(usage.completionLeast, usage.completionTokens, usage.completionMost) &&
  isPositive(usage.prompts) &&
  isPositive(usage.answers) &&
  isCount(usage.prompts ?? 1) &&
  isCount(usage.answers ?? 1) &&
  (usage.estimated === undefined || ['prompt', 'completion', 'both'].includes(usage.estimated)) &&
  (usage.doubts === undefined || usage.doubts.every((doubt) => countDoubts.includes(doubt)));

const isBetween = (least = 0, count: number, most = count): boolean =>
  isCount(least) && isCount(most) && least <= count && count <= most;

const isAmount = (value: number | null | undefined): boolean => value == null || (Number.isFinite(value) && value >= 0);

/** Nothing is computed while no request is worked on. */
const isConcurrency = (value: number | null | undefined): boolean =>
  value == null || (Number.isFinite(value) && value >= 1);

const isPositive = (value: number | null | undefined): boolean =>
  value == null || (Number.isFinite(value) && value > 0);
