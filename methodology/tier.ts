/**
 * Which tier a call gets, and why, in words for the receipt.
 *
 * Invariant: an explicit tier is served as asked or refused, never replaced by another.
 */
import { serving } from './factors.ts';
import type { ModelClass, ModelFacts, RequestedTier } from './facts.ts';
import { hasParameters } from './parametric.ts';

export type ModelledTier = 'proxy' | 'parametric';

const fittedUpToB = 200;

/** The tiers that a model can get, worst first. Measured energy is not one yet. */
export function availableTiers(model: ModelFacts): readonly ModelledTier[] {
  const tiers: ModelledTier[] = [];
  if (model.modelClass !== null) tiers.push('proxy');
  if (hasParameters(model)) tiers.push('parametric');
  return tiers;
}

export type TierChoice =
  | { readonly tier: 'parametric' }
  | { readonly tier: 'proxy'; readonly modelClass: ModelClass }
  | { readonly tier: null; readonly reason: 'tier_unavailable' | 'model_parameters_unknown' | 'no_embedding_factor' };

export function chooseTier(requested: RequestedTier, model: ModelFacts): TierChoice {
  if (requested === 'telemetry') return { tier: null, reason: 'tier_unavailable' };
  if (requested !== 'proxy' && hasParameters(model)) return { tier: 'parametric' };
  if (requested !== 'parametric' && model.modelClass !== null) return { tier: 'proxy', modelClass: model.modelClass };
  if (availableTiers(model).length > 0) return { tier: null, reason: 'tier_unavailable' };
  return { tier: null, reason: model.kind === 'embedding' ? 'no_embedding_factor' : 'model_parameters_unknown' };
}

/** The reason, and the assumptions that a reader has to know to judge the figures. */
export function tierReason(requested: RequestedTier, tier: ModelledTier, model: ModelFacts, capped: boolean): string {
  if (tier === 'proxy') {
    const why =
      requested === 'auto' ? 'auto: no measured energy and no parameter counts for this model' : 'as requested';
    return `${why}; factors of the size class ${model.modelClass}; assumes H100 accelerators and 16-bit weights`;
  }
  const why = requested === 'auto' ? 'auto: no measured energy, parameter counts known' : 'as requested';
  if (model.kind === 'embedding') return `${why}; assumes H100 accelerators`;
  const time = model.tokensPerS === null ? 'fitted to the model size' : 'from measured tokens per second';
  const cap = capped ? ', at most the upstream time' : '';
  const bits = model.quantizationBits ?? serving.weightBits;
  const beyond = (model.totalParametersB?.max ?? 0) > fittedUpToB ? '; extrapolated beyond 200 billion parameters' : '';
  return `${why}; generation time ${time}${cap}; assumes H100 accelerators and ${bits}-bit weights${beyond}`;
}
