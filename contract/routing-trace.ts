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
    fallback: z
      .boolean()
      .describe('Whether the call went by provider preference, or was answered by another region than carbon chose'),
    fallback_reason: text(
      'Why it fell back: no_live_grid_signal, too_few_live_signals, no_comparable_signals, none_within_tolerance, single_region; failed_over: what carbon chose did not answer',
    ),
    region: text('Region that served the call; null: unknown'),
    deployment: text('Deployment in the region'),
    attempts: z.strictObject({
      count: z.int().nonnegative(),
      failed: z.array(
        z.strictObject({
          deployment: z.string(),
          region: z.string(),
          outcome: z
            .string()
            .describe(
              'no_connection, connection_lost, timed_out, rate_limited, server_error, auth_failed, quota_exhausted, model_missing, no_credential, at_capacity, unhealthy, not_ready; failed: not known',
            ),
        }),
      ),
    }),
    estimated_tokens: z
      .strictObject({ prompt: z.int().nonnegative(), completion: z.int().nonnegative() })
      .nullable()
      .describe('Tokens that the estimates of `candidates` assume; null: nothing was compared'),
    answer_bound: z
      .strictObject({
        tokens: z.int().positive().describe('Of each answer; one that reaches it ends with `finish_reason` `length`'),
        set_by: z
          .enum(['hard_budget', 'max_carbon_g'])
          .describe(
            'hard_budget: what a budget has left allows no more; max_carbon_g: the ceiling of the call does not',
          ),
      })
      .optional()
      .describe('The limit of the length that the gateway has set, since the client allowed more; absent: it set none'),
    translation: z
      .strictObject({
        api: z.string().describe('The API that the provider was called by'),
        left_out: z
          .array(z.string())
          .describe('Fields of the request that this API has no counterpart for, and that no answer depends on'),
      })
      .optional()
      .describe('Set if the provider that answered does not speak the API of the call; absent: it does'),
    deployment_choice: z
      .strictObject({
        by: z
          .enum(['affinity', 'load'])
          .describe(
            'affinity: calls with this affinity go there; load: by weight and the calls under way, also where the deployment of the affinity has too much to do',
          ),
        affinity: text(
          'Field of the request that says which calls belong together: prompt_cache_key, user, …; null: it names none',
        ),
        among: z
          .array(
            z.strictObject({
              deployment: z.string(),
              weight: z.number().nonnegative(),
              calls_under_way: z.int().nonnegative().describe('As this instance of the gateway counts them'),
            }),
          )
          .describe('The deployments of the region that the call could begin at'),
        affinity_saving: z
          .strictObject({
            cached_tokens: z.int().nonnegative().describe('Tokens of the prompt that the provider had in its cache'),
            energy_wh: amount('Wh that reading these tokens anew would have taken, by the formulas of the receipt'),
            carbon_g: amount('gCO2e of that energy and hardware'),
          })
          .nullable()
          .describe('Null: the affinity has not decided, another deployment answered, or the counts are unknown'),
      })
      .optional()
      .describe('Why the call began at its first deployment; absent: only one of the region could take it'),
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
          'Why its carbon could not decide: region_saturated, region_degraded, region_decommissioned, other_region_pinned, api_not_spoken, tier_not_served, carbon_above_ceiling, failing, latency_above_tolerance, cost_above_tolerance, no_live_signal, not_comparable',
        ),
        estimate: z
          .strictObject({
            carbon_g: z
              .number()
              .nonnegative()
              .describe('gCO2e of the call as estimated before it was sent; the lowest is chosen'),
            pue: z.number().min(1).describe('Power usage effectiveness of the data centre'),
            accelerators: z
              .strictObject({ model: z.string(), count: z.int().positive() })
              .optional()
              .describe('Hardware, where the operator states it'),
            typical_concurrency: z
              .number()
              .min(1)
              .optional()
              .describe('Requests that a replica typically works on at once, where the operator states it'),
          })
          .nullable()
          .describe('What was compared, and the facts of the site behind it; null: it was not compared'),
      }),
    ),
    estimated_saving_g: z
      .number()
      .nullable()
      .describe(
        'gCO2e: `carbon_g` of `counterfactual` minus its `served_carbon_g`; negative if the call caused more where it was served; 0 if that region served it; null: unknown',
      ),
    counterfactual: z
      .strictObject({
        region: z.string(),
        g_per_kwh: amount('gCO2e/kWh'),
        carbon_g: amount(
          'gCO2e that the call would have caused there, by the formulas of its receipt and the value above; null: not compared',
        ),
        served_carbon_g: amount(
          'gCO2e that it caused where it was served, by the same formulas and the value compared: `carbon_g` of the receipt unless energy was measured or the value is not the one of the receipt',
        ),
      })
      .nullable()
      .describe('Region that the provider preference alone would have chosen'),
  })
  .meta({ id: 'RoutingTrace', description: 'How the region was chosen' });

export type RoutingTrace = z.infer<typeof routingTraceSchema>;
export type AnswerBound = NonNullable<RoutingTrace['answer_bound']>;

export const receiptRoutingSchema = z
  .strictObject({
    object: z.literal('gw.receipt_routing'),
    receipt_id: z.string(),
    version: z.int().positive(),
    pinned_region: text('Region that the request asked for; null: none'),
    routing_trace: routingTraceSchema
      .nullable()
      .describe('As in the reply, the same for all versions of a receipt; null: none was made'),
  })
  .meta({ id: 'ReceiptRouting', description: 'How the region of a call was chosen, as it is stored with its receipt' });
