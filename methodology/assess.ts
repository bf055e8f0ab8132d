/**
 * One call's facts in, the environmental part of its receipt out.
 *
 * Invariant: pure. The same facts give the same answer; there is no clock, no environment and no network. What cannot
 * be assessed is a value with its reason, never an exception and never a zero.
 */
import type { CallFacts, GridReading } from './facts.ts';
import { type GridProvenance, gridProvenance } from './grid.ts';
import { type Impact, impactOf } from './impact.ts';
import { type Methodology, type MethodologyId, methodologyOf } from './methodologies.ts';
import { parametricEstimate } from './parametric.ts';
import { proxyEstimate } from './proxy.ts';
import { chooseTier, type TierChoice, tierReason } from './tier.ts';
import type { Estimate } from './work.ts';

export type { CallFacts, GridReading, ModelFacts, SiteFacts, TokenUsage } from './facts.ts';
export type { Impact } from './impact.ts';
export { availableTiers } from './tier.ts';

export type NotAssessed =
  | 'usage_missing'
  | 'model_parameters_unknown'
  | 'no_embedding_factor'
  | 'grid_intensity_missing'
  | 'tier_unavailable'
  | 'calculator_fault';

export type Assessment =
  | { readonly ok: true; readonly impact: Impact }
  | { readonly ok: false; readonly reason: NotAssessed; readonly explanation: string };

const explanations: Readonly<Record<NotAssessed, string>> = {
  usage_missing: 'The provider reported no token usage for this call.',
  model_parameters_unknown: 'Neither the parameter counts nor the size class of this model are known.',
  no_embedding_factor: 'There is no energy factor for this embedding model.',
  grid_intensity_missing: 'There is no average carbon intensity for the grid zone of this call.',
  tier_unavailable: 'The requested tier cannot be served for this model and provider.',
  calculator_fault: 'The calculation failed on the facts of this call.',
};

const refused = (reason: NotAssessed): Assessment => ({ ok: false, reason, explanation: explanations[reason] });

/**
 * Energy in Wh, carbon in gCO2e, water in mL of one call. Formulas and sources: steps.ts, factors.ts, README.md.
 * The carbon always uses an average, location-based intensity: a marginal reading counts as missing.
 */
export function assess(facts: CallFacts, methodology: MethodologyId = 'gw-1.0'): Assessment {
  const { grid, model, usage } = facts;
  const method = methodologyOf(methodology);
  const choice = chooseTier(facts.requestedTier, model);
  if (choice.tier === null) return refused(choice.reason);
  if (model.kind === 'embedding' && !method.chargesInput) return refused('no_embedding_factor');
  if (usage === null) return refused('usage_missing');
  if (grid === null || grid.signal === 'marginal') return refused('grid_intensity_missing');
  if (!isSound(facts)) return refused('calculator_fault');
  const provenance = gridProvenance(grid, facts.requestedAt);
  const estimate = estimateOf(choice, facts, method);
  if (provenance === null || estimate === null) return refused('calculator_fault');
  const impact = impactFrom(facts, { choice, grid, provenance, estimate, method, usage });
  return impact === null ? refused('calculator_fault') : { ok: true, impact };
}

interface Ready {
  readonly choice: TierChoice & { readonly tier: 'proxy' | 'parametric' };
  readonly grid: GridReading;
  readonly provenance: GridProvenance;
  readonly estimate: Estimate;
  readonly method: Methodology;
  readonly usage: NonNullable<CallFacts['usage']>;
}

function impactFrom(facts: CallFacts, ready: Ready): Impact | null {
  const capped = facts.upstreamLatencyS !== null;
  return impactOf({
    tier: ready.choice.tier,
    tierReason: tierReason(facts.requestedTier, ready.choice.tier, facts.model, capped),
    estimate: ready.estimate,
    boundary: facts.boundary,
    usage: ready.usage,
    site: facts.site,
    grid: ready.grid,
    provenance: ready.provenance,
    methodology: ready.method,
  });
}

function estimateOf(choice: TierChoice, facts: CallFacts, method: Methodology): Estimate | null {
  if (facts.usage === null) return null;
  const { cachedPromptTokens, completionTokens, promptTokens } = facts.usage;
  const inputTokens = method.chargesInput ? Math.max(0, promptTokens - cachedPromptTokens) : 0;
  const outputTokens = facts.model.kind === 'embedding' ? 0 : completionTokens;
  if (choice.tier === 'proxy') return proxyEstimate(choice.modelClass, inputTokens, outputTokens);
  const { upstreamLatencyS } = facts;
  return parametricEstimate(facts.model, { inputTokens, outputTokens, upstreamLatencyS });
}

/** The formulas' domain: whole tokens, a PUE of at least 1, positive sizes and rates, nothing negative or infinite. */
function isSound(facts: CallFacts): boolean {
  const { grid, model, site, usage, upstreamLatencyS } = facts;
  return (
    isCount(usage?.promptTokens) &&
    isCount(usage?.cachedPromptTokens) &&
    isCount(usage?.completionTokens) &&
    isAmount(upstreamLatencyS) &&
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
    isAmount(grid?.gPerKwh) &&
    isAmount(grid?.waterLPerKwh)
  );
}

const isCount = (value: number | undefined): boolean => Number.isSafeInteger(value) && Number(value) >= 0;

/** Null and undefined are "not known", which is sound. */
const isAmount = (value: number | null | undefined): boolean => value == null || (Number.isFinite(value) && value >= 0);

const isPositive = (value: number | null | undefined): boolean =>
  value == null || (Number.isFinite(value) && value > 0);
