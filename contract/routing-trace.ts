/**
 * `routing_trace`: how the region of a call was chosen.
 *
 * Invariant: the list of fields is closed; unknown is null.
 */
import { z } from 'zod';
import { amount, gridBases, temporalMatches, text, time } from './receipt.ts';

const signalKinds = ['average', 'marginal'] as const;

export const routingTraceSchema = z
  .strictObject({
    policy: z.enum(['carbon_aware', 'pinned', 'provider_preference']),
    decision: z.string().describe('Why this region was chosen, in words'),
    fallback: z.boolean().describe('Whether carbon-aware routing fell back to the provider-preference order'),
    fallback_reason: text(
      'Why it fell back: no_live_grid_signal, too_few_live_signals, no_comparable_signals, none_within_tolerance, single_region',
    ),
    region: text('Region that served the call; null: unknown'),
    deployment: text('Deployment in the region'),
    attempts: z.strictObject({
      count: z.int().nonnegative(),
      failed: z.array(
        z.strictObject({
          deployment: z.string(),
          outcome: z
            .string()
            .describe(
              'no_connection, connection_lost, timed_out, rate_limited, server_error, auth_failed, quota_exhausted, model_missing, no_credential, at_capacity, unhealthy; failed: not known',
            ),
        }),
      ),
    }),
    operational_signal: z
      .strictObject({
        source: z.string(),
        kind: z.enum(signalKinds),
        basis: z.enum(gridBases),
        g_per_kwh: z.number().nonnegative(),
        observed_at: time('The time that the signal is for'),
        requested_at: z.iso.datetime({ precision: 3 }),
        age_minutes: amount('Minutes; null for a forecast'),
        temporal_match: z.enum(temporalMatches),
        live_eligible: z.boolean(),
      })
      .nullable(),
    candidates: z.array(
      z.strictObject({
        region: z.string(),
        g_per_kwh: amount('gCO2e/kWh'),
        age_minutes: amount('Minutes; null for a forecast'),
        kind: z.enum(signalKinds).nullable(),
        basis: z
          .enum(gridBases)
          .nullable()
          .describe('Whether the value counts the whole life cycle of the power stations'),
        eligible: z.boolean(),
        excluded_reason: text(
          'Why its carbon intensity could not decide: region_saturated, region_degraded, region_decommissioned, other_region_pinned, tier_not_served, carbon_above_ceiling, failing, latency_above_tolerance, cost_above_tolerance, no_live_signal, not_comparable',
        ),
      }),
    ),
    estimated_saving_g: z
      .number()
      .nullable()
      .describe(
        'gCO2e that the same energy would have caused in the region of `counterfactual`, minus what it caused in the chosen region; negative if that region is cleaner; null: unknown',
      ),
    counterfactual: z
      .strictObject({ region: z.string(), g_per_kwh: amount('gCO2e/kWh') })
      .nullable()
      .describe('Region that the provider preference alone would have chosen'),
  })
  .meta({ id: 'RoutingTrace', description: 'How the region was chosen' });

export type RoutingTrace = z.infer<typeof routingTraceSchema>;
