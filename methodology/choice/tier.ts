/**
 * Which tier a call gets.
 *
 * Invariant: an explicit tier is served as asked or refused, never replaced by another.
 */
import type { Boundary, ModelClass, ModelFacts, RequestedTier } from '../facts/facts.ts';
import { hasParameters } from '../facts/inputs.ts';
import type { TelemetryReading, TelemetrySource } from '../facts/telemetry/reading.ts';

export type ModelledTier = 'proxy' | 'parametric';

/** The tiers that a model can get without measured energy, worst first. For measured energy: servesTelemetry. */
export function availableTiers(model: ModelFacts): readonly ModelledTier[] {
  const tiers: ModelledTier[] = [];
  if (model.modelClass !== null) tiers.push('proxy');
  if (hasParameters(model)) tiers.push('parametric');
  return tiers;
}

export type Modelling = { readonly tier: 'parametric' } | { readonly tier: 'proxy'; readonly modelClass: ModelClass };

export type TierChoice =
  | Modelling
  | { readonly tier: null; readonly reason: 'tier_unavailable' | 'model_parameters_unknown' | 'no_embedding_factor' };

export function chooseTier(requested: RequestedTier, model: ModelFacts): TierChoice {
  if (requested === 'telemetry') return { tier: null, reason: 'tier_unavailable' };
  if (requested !== 'proxy' && hasParameters(model)) return { tier: 'parametric' };
  if (requested !== 'parametric' && model.modelClass !== null) return { tier: 'proxy', modelClass: model.modelClass };
  if (availableTiers(model).length > 0) return { tier: null, reason: 'tier_unavailable' };
  return { tier: null, reason: model.kind === 'embedding' ? 'no_embedding_factor' : 'model_parameters_unknown' };
}

/** The scope that each source measures. An estimate measures nothing. */
const telemetryScopes: Readonly<Record<Exclude<TelemetrySource, 'ecologits_impacts'>, TelemetryReading['scope']>> = {
  neuralwatt: 'total',
  greenpt: 'total',
  melious: 'total',
  energy_header: 'total',
  gpu_counters: 'accelerator',
};

/** Whether a deployment whose replies carry this shape can serve the telemetry tier in the boundary. */
export function servesTelemetry(source: string | null, boundary: Boundary): boolean {
  if (source === null || !Object.hasOwn(telemetryScopes, source)) return false;
  return boundary === 'comprehensive' || telemetryScopes[source as keyof typeof telemetryScopes] === 'accelerator';
}
