/**
 * The environmental receipt: the flat `gw` block of every inference reply.
 *
 * Invariant: the list of fields is closed, no field is nested, units end the names, unknown is null and never 0.
 */
import { z } from 'zod';

export const receiptTiers = ['proxy', 'parametric', 'telemetry', 'degraded'] as const;
export const requestedTiers = ['auto', 'proxy', 'parametric', 'telemetry'] as const;
export const boundaries = ['comprehensive', 'narrow'] as const;
export const receiptStatuses = ['pending', 'complete', 'client_aborted', 'upstream_error'] as const;
export const usageSources = ['provider', 'estimated'] as const;
export const energySplits = ['modelled', 'measured', 'unavailable'] as const;
export const temporalMatches = ['live_window', 'fresh', 'forecast', 'prior_week', 'annual_fallback', 'none'] as const;

/** Why a receipt is degraded. Closed list. */
export const degradedReasons = [
  'usage_missing',
  'model_parameters_unknown',
  'no_embedding_factor',
  'grid_intensity_missing',
  'tier_unavailable',
  'calculator_fault',
  'sidecar_unavailable',
  'client_aborted_unmeasured',
  'upstream_error_unmeasured',
] as const;
export type DegradedReason = (typeof degradedReasons)[number];

const amount = z.number().nonnegative().nullable();
const text = z.string().nullable();
const time = z.iso.datetime({ precision: 3 }).nullable();

export const receiptSchema = z
  .strictObject({
    id: z.string().regex(/^rcpt_[0-9a-f]{8}-[0-9a-f]{4}-7[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/),
    object: z.literal('gw.receipt'),
    version: z.int().positive(),
    supersedes: z.int().positive().nullable().describe('The version that this one replaces'),
    created_at: z.iso.datetime({ precision: 3 }),
    request_id: text,
    status: z.enum(receiptStatuses),
    tier: z.enum(receiptTiers),
    requested_tier: z.enum(requestedTiers),
    tier_reason: text,
    boundary: z.enum(boundaries),
    boundary_excludes: z.array(z.string()),
    model: z.string(),
    provider: text,
    region: text,
    grid_zone: text,
    prompt_tokens: z.int().nonnegative().nullable(),
    completion_tokens: z.int().nonnegative().nullable(),
    usage_source: z.enum(usageSources).nullable(),
    energy_wh: amount,
    energy_accelerator_wh: amount,
    energy_host_wh: amount,
    energy_idle_wh: amount,
    energy_overhead_wh: amount,
    energy_low_wh: amount,
    energy_high_wh: amount,
    energy_split: z.enum(energySplits).nullable(),
    energy_failed_attempts_wh: amount.describe('Energy of failed attempts, outside the sum'),
    carbon_g: amount.describe('carbon_operation_g + carbon_embodied_g'),
    carbon_operation_g: amount,
    carbon_embodied_g: amount,
    carbon_low_g: amount,
    carbon_high_g: amount,
    sci_g_per_request: amount.describe('Software Carbon Intensity, ISO/IEC 21031, with one API call as the unit'),
    water_ml: amount,
    uncertainty_basis: text,
    pue: z.number().min(1).nullable(),
    grid_intensity_g_per_kwh: amount,
    grid_intensity_source: text,
    grid_intensity_observed_at: time,
    grid_intensity_requested_at: time,
    grid_intensity_age_minutes: amount,
    grid_temporal_match: z.enum(temporalMatches),
    methodology: text,
    methodology_version: text,
    methodology_hash: text,
    degraded_reason: z.enum(degradedReasons).optional(),
    explanation: z.string().optional(),
    recalculable: z.boolean().optional(),
  })
  .meta({ id: 'Receipt', description: 'The environmental receipt of one call' });

export type Receipt = z.infer<typeof receiptSchema>;

export const routingTraceSchema = z
  .strictObject({
    policy: z.enum(['carbon_aware', 'pinned', 'provider_preference']),
    decision: z.string().describe('Why this region was chosen, in words'),
    fallback: z.boolean().describe('Whether carbon-aware routing fell back to the provider-preference order'),
    fallback_reason: text,
    region: text,
    deployment: text,
    attempts: z.strictObject({
      count: z.int().nonnegative(),
      failed: z.array(z.strictObject({ deployment: z.string(), outcome: z.string() })),
    }),
    operational_signal: z
      .strictObject({
        source: z.string(),
        kind: z.enum(['average', 'marginal']),
        g_per_kwh: z.number().nonnegative(),
        observed_at: time,
        requested_at: z.iso.datetime({ precision: 3 }),
        age_minutes: amount,
        temporal_match: z.enum(temporalMatches),
        live_eligible: z.boolean(),
      })
      .nullable(),
    candidates: z.array(
      z.strictObject({
        region: z.string(),
        g_per_kwh: amount,
        age_minutes: amount,
        eligible: z.boolean(),
        excluded_reason: text,
      }),
    ),
    estimated_saving_g: z
      .number()
      .nullable()
      .describe('Against the provider-preference choice; negative if it would have been cleaner'),
  })
  .meta({ id: 'RoutingTrace', description: 'How the region was chosen' });

export type RoutingTrace = z.infer<typeof routingTraceSchema>;
