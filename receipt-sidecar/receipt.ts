/**
 * Puts a receipt together: the identity of the call from here, the numbers from the methodology package.
 *
 * Invariant: making a receipt never fails. Whatever is missing gives a degraded receipt with its reason.
 */
import { randomBytes } from 'node:crypto';
import type { DegradedReason, Receipt } from '@gw/contract/receipt';
import { assess, type CallFacts } from '@gw/methodology/assess';
import type { ParsedRequest } from './request/parse.ts';
import type { Candidate, Route } from './request/route.ts';

export interface Usage {
  readonly promptTokens: number;
  readonly cachedPromptTokens: number;
  readonly completionTokens: number;
}

/** What is known of a call before its provider answers. */
export interface CallIdentity {
  readonly receiptId: string;
  readonly createdAt: string;
  readonly requestId: string | null;
  readonly request: ParsedRequest;
  readonly route: Route;
}

/** How a call ended. */
export interface Outcome {
  readonly status: 'complete' | 'client_aborted' | 'upstream_error';
  /** Where it was served; null if nobody knows. */
  readonly servedBy: Candidate | null;
  readonly usage: Usage | null;
  readonly usageSource: 'provider' | 'estimated' | null;
  /** Time the provider took, seconds: caps the generation time. */
  readonly upstreamLatencyS: number | null;
  /** Set when there is nothing to measure by. */
  readonly unmeasured?: DegradedReason;
}

/** UUIDv7: the time in its first 48 bits is the receipt's `created_at`. */
export function newReceiptId(nowMs: number): string {
  const bytes = randomBytes(16);
  bytes.writeUIntBE(nowMs, 0, 6);
  bytes[6] = 0x70 | ((bytes[6] ?? 0) & 0x0f);
  bytes[8] = 0x80 | ((bytes[8] ?? 0) & 0x3f);
  const hex = bytes.toString('hex');
  return `rcpt_${hex.slice(0, 8)}-${hex.slice(8, 12)}-${hex.slice(12, 16)}-${hex.slice(16, 20)}-${hex.slice(20)}`;
}

const explanations: Partial<Record<DegradedReason, string>> = {
  sidecar_unavailable: 'The part that makes receipts did not finish. The completion is not affected.',
  client_aborted_unmeasured: 'The client went away before the provider had reported how much was generated.',
  upstream_error_unmeasured: 'The provider failed, so nothing is known of the energy that it spent.',
};

/** Degradations that a later look at stored facts can mend. */
const recalculable: ReadonlySet<DegradedReason> = new Set([
  'model_parameters_unknown',
  'no_embedding_factor',
  'grid_intensity_missing',
  'tier_unavailable',
  'calculator_fault',
]);

const unknownImpact = {
  energy_wh: null,
  energy_accelerator_wh: null,
  energy_host_wh: null,
  energy_idle_wh: null,
  energy_overhead_wh: null,
  energy_low_wh: null,
  energy_high_wh: null,
  energy_split: null,
  energy_failed_attempts_wh: null,
  carbon_g: null,
  carbon_operation_g: null,
  carbon_embodied_g: null,
  carbon_low_g: null,
  carbon_high_g: null,
  sci_g_per_request: null,
  water_ml: null,
  uncertainty_basis: null,
  pue: null,
  grid_intensity_g_per_kwh: null,
  grid_intensity_source: null,
  grid_intensity_observed_at: null,
  grid_intensity_requested_at: null,
  grid_intensity_age_minutes: null,
  grid_temporal_match: 'none',
  methodology: null,
  methodology_version: null,
  methodology_hash: null,
} as const;

/** The degraded receipt, in the order of the contract. Also the pending one, with `status: 'pending'`. */
export function degradedReceipt(
  call: CallIdentity,
  outcome: Pick<Outcome, 'servedBy' | 'usage' | 'usageSource'> & { status: Receipt['status'] },
  reason: DegradedReason,
  explanation = explanations[reason] ?? '',
): Receipt {
  const { servedBy, usage } = outcome;
  return {
    ...identity(call, outcome.status),
    tier: 'degraded',
    requested_tier: call.request.options.tier ?? 'auto',
    tier_reason: null,
    boundary: call.request.options.boundary ?? 'comprehensive',
    boundary_excludes: [],
    model: call.route.model.id,
    provider: servedBy?.deployment.provider ?? null,
    region: servedBy?.region.code ?? null,
    grid_zone: servedBy?.region.gridZone ?? null,
    prompt_tokens: usage?.promptTokens ?? null,
    completion_tokens: usage?.completionTokens ?? null,
    usage_source: outcome.usageSource,
    ...unknownImpact,
    degraded_reason: reason,
    explanation,
    recalculable: recalculable.has(reason) && usage !== null,
  };
}

const identity = (call: CallIdentity, status: Receipt['status']) =>
  ({
    id: call.receiptId,
    object: 'gw.receipt',
    version: 1,
    supersedes: null,
    created_at: call.createdAt,
    request_id: call.requestId,
    status,
  }) as const;

/** Everything that the numbers depend on; stored with the receipt, so that they can be made again. */
export function callFacts(call: CallIdentity, outcome: Outcome): CallFacts | null {
  const { servedBy } = outcome;
  if (!servedBy) return null;
  const { model } = call.route;
  return {
    requestedTier: call.request.options.tier ?? 'auto',
    boundary: call.request.options.boundary ?? 'comprehensive',
    requestedAt: call.createdAt,
    usage: outcome.usage,
    upstreamLatencyS: outcome.upstreamLatencyS,
    model,
    site: servedBy.deployment,
    grid: servedBy.grid,
  };
}

/** The finished receipt and the facts behind it. */
export function makeReceipt(call: CallIdentity, outcome: Outcome): { receipt: Receipt; facts: CallFacts | null } {
  const facts = callFacts(call, outcome);
  if (outcome.unmeasured || !facts || !outcome.servedBy) {
    return { receipt: degradedReceipt(call, outcome, outcome.unmeasured ?? 'calculator_fault'), facts };
  }
  let assessment: ReturnType<typeof assess>;
  try {
    assessment = assess(facts);
  } catch {
    // Fail open: the completion is paid for, and its facts are stored for a recalculation.
    return { receipt: degradedReceipt(call, outcome, 'calculator_fault', 'The calculation failed.'), facts };
  }
  if (!assessment.ok)
    return { receipt: degradedReceipt(call, outcome, assessment.reason, assessment.explanation), facts };
  const { impact } = assessment;
  const { deployment, region } = outcome.servedBy;
  const receipt: Receipt = {
    ...identity(call, outcome.status),
    tier: impact.tier,
    requested_tier: facts.requestedTier,
    tier_reason: impact.tier_reason,
    boundary: impact.boundary,
    boundary_excludes: [...impact.boundary_excludes],
    model: call.route.model.id,
    provider: deployment.provider,
    region: region.code,
    grid_zone: region.gridZone,
    prompt_tokens: outcome.usage?.promptTokens ?? null,
    completion_tokens: outcome.usage?.completionTokens ?? null,
    usage_source: outcome.usageSource,
    energy_wh: impact.energy_wh,
    energy_accelerator_wh: impact.energy_accelerator_wh,
    energy_host_wh: impact.energy_host_wh,
    energy_idle_wh: impact.energy_idle_wh,
    energy_overhead_wh: impact.energy_overhead_wh,
    energy_low_wh: impact.energy_low_wh,
    energy_high_wh: impact.energy_high_wh,
    energy_split: impact.energy_split,
    energy_failed_attempts_wh: impact.energy_failed_attempts_wh,
    carbon_g: impact.carbon_g,
    carbon_operation_g: impact.carbon_operation_g,
    carbon_embodied_g: impact.carbon_embodied_g,
    carbon_low_g: impact.carbon_low_g,
    carbon_high_g: impact.carbon_high_g,
    sci_g_per_request: impact.sci_g_per_request,
    water_ml: impact.water_ml,
    uncertainty_basis: impact.uncertainty_basis,
    pue: impact.pue,
    grid_intensity_g_per_kwh: impact.grid_intensity_g_per_kwh,
    grid_intensity_source: impact.grid_intensity_source,
    grid_intensity_observed_at: impact.grid_intensity_observed_at,
    grid_intensity_requested_at: impact.grid_intensity_requested_at,
    grid_intensity_age_minutes: impact.grid_intensity_age_minutes,
    grid_temporal_match: impact.grid_temporal_match,
    methodology: impact.methodology,
    methodology_version: impact.methodology_version,
    methodology_hash: impact.methodology_hash,
  };
  return { receipt, facts };
}
