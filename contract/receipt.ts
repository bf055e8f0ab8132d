/**
 * The environmental receipt: the flat `gw` block of every inference reply.
 *
 * Invariant: the list of fields is closed, no field is nested, units end the names, unknown is null and never 0.
 */
import { z } from 'zod';
import { apiNames } from './api-names.ts';

export const receiptTiers = ['proxy', 'parametric', 'telemetry', 'degraded'] as const;
export const requestedTiers = ['auto', 'proxy', 'parametric', 'telemetry'] as const;
export const boundaries = ['comprehensive', 'narrow'] as const;
export const receiptStatuses = ['pending', 'complete', 'client_aborted', 'upstream_error'] as const;
export const usageSources = ['provider', 'estimated'] as const;
export const energySplits = ['modelled', 'measured', 'unavailable'] as const;
export const energyMeters = ['counters', 'provider', 'provider_doubtful'] as const;
export const gridBases = ['lifecycle', 'combustion', 'unknown'] as const;
export const temporalMatches = ['live_window', 'fresh', 'forecast', 'prior_week', 'annual_fallback', 'none'] as const;

/** Why a receipt is degraded. The list is closed; degraded-reasons.ts says what each reason means. */
export const degradedReasons = [
  'usage_missing',
  'usage_implausible',
  'model_parameters_unknown',
  'no_embedding_factor',
  'grid_intensity_missing',
  'tier_unavailable',
  'telemetry_pending',
  'calculator_fault',
  'sidecar_unavailable',
  'receipt_not_stored',
  'client_aborted_unmeasured',
  'upstream_error_unmeasured',
] as const;
export type DegradedReason = (typeof degradedReasons)[number];

export const amount = (description: string) => z.number().nonnegative().nullable().describe(description);
/** A field that older receipts do not have. */
const newAmount = (description: string) => z.number().nonnegative().nullable().optional().describe(description);
export const text = (description: string) => z.string().nullable().describe(description);
export const time = (description: string) => z.iso.datetime({ precision: 3 }).nullable().describe(description);
const sha256 = z.string().regex(/^sha256:[0-9a-f]{64}$/);
/** A field that older receipts do not have. */
const saltedDigest = (description: string) => sha256.nullable().optional().describe(description);
const tokens = (description: string) => z.int().nonnegative().nullable().describe(description);

/** The description of each field is its row in docs/receipts.md and its text in the OpenAPI document. */
export const receiptSchema = z
  .strictObject({
    id: z
      .string()
      .regex(/^rcpt_[0-9a-f]{8}-[0-9a-f]{4}-7[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/)
      .describe('Names the receipt in all its versions: `rcpt_` and a UUIDv7, whose time is `created_at`'),
    object: z.literal('gw.receipt').describe('Type of this object'),
    version: z.int().positive().describe('1 as issued; a recalculated or restated receipt is a new version'),
    supersedes: z.int().positive().nullable().describe('The version that this one replaces; null for the first'),
    created_at: z.iso.datetime({ precision: 3 }).describe('When the call was accepted, UTC'),
    request_id: text('The `x-request-id` of the reply'),
    status: z
      .enum(receiptStatuses)
      .describe('How the call ended; `pending` while it runs. `client_aborted`: the client left before the end'),
    tier: z.enum(receiptTiers).describe('How the energy was determined; `degraded`: it was not'),
    requested_tier: z.enum(requestedTiers).describe('What the request asked for in `gw.tier`'),
    tier_reason: text('Why this tier, and the assumptions behind it, in words'),
    boundary: z.enum(boundaries).describe('What is counted'),
    boundary_excludes: z
      .array(z.string())
      .describe(
        'What is not counted, because it is outside the boundary or unknown. Each name is a part without a number. `undelivered_output`: the reply broke off, so the amounts are lower bounds. `uncounted_input`: the prompt has pictures, sound or files that nobody counted. `hosted_tools`: the provider may have run tools of its own. `media_encoding`: pictures, sound or files count as the text tokens that they become, without the networks that encode and decode them',
      ),
    model: z.string().describe('The requested model; for an alias, the model that answered'),
    provider: text('Who served the call'),
    region: text('Region that served the call, a code of `GET /v1/regions`'),
    pinned_region: text('Region that the request asked for in `gw.region`; null: none, so the gateway chose'),
    api: z
      .enum(apiNames)
      .describe('API that the call came by, whichever its provider speaks (`routing_trace.translation`)'),
    grid_zone: text('The electricity grid of that region'),
    prompt_tokens: tokens('Tokens read, including cached ones; null: not counted, or not all of the prompt was'),
    completion_tokens: tokens('Tokens written, including reasoning'),
    simulated: z
      .literal(true)
      .optional()
      .describe(
        'Simulated calls only: the provider is a simulator, so nothing was computed, and the numbers describe no real energy',
      ),
    project: z
      .string()
      .nullable()
      .optional()
      .describe(
        'Project that the call is charged to: that of its key, otherwise `metadata.project` of the request; null: none. Absent in receipts from before projects existed',
      ),
    request_digest: saltedDigest(
      'SHA-256 over the `salt` of the reply, a line feed and the body of the request as it was sent; null: no whole answer was sent, or the gateway could not read it. Absent in receipts from before calls were bound',
    ),
    answer_digest: saltedDigest(
      'The same over the content of the answer as it was sent; null and absent as `request_digest`',
    ),
    usage_source: z
      .enum(usageSources)
      .nullable()
      .describe(
        'Who counted the tokens: the provider, or the gateway, which estimated at least one of the counts from text',
      ),
    energy_wh: amount('Wh. The energy of the call: the sum of the four parts below that are not null'),
    energy_accelerator_wh: amount('Wh. GPUs, reading the prompt and writing the answer'),
    energy_host_wh: amount('Wh. The rest of the servers: processors, memory, fans'),
    energy_idle_wh: amount('Wh. The share of idle machines'),
    energy_overhead_wh: amount('Wh. Cooling and power distribution of the data centre'),
    energy_low_wh: amount('Wh. Lower bound of `energy_wh`, by `uncertainty_basis`'),
    energy_high_wh: amount('Wh. Upper bound of `energy_wh`, by `uncertainty_basis`'),
    energy_split: z
      .enum(energySplits)
      .nullable()
      .describe('Where the accelerator part comes from; `unavailable`: the source gives only a total'),
    energy_failed_attempts_wh: amount(
      'Wh. Earlier attempts that failed, not part of the sum. 0 if there was none, or none in which a provider can have generated anything (no connection, a 4xx); otherwise null, since no provider reports it. `routing_trace.attempts` names the attempts',
    ),
    energy_failed_attempts_high_wh: newAmount(
      'Wh. Upper bound of `energy_failed_attempts_wh`: each attempt as if it had written all that the request or the context window allows; null: not known. Not in receipts by `ecologits-0.11.3`',
    ),
    modelled_energy_wh: z
      .number()
      .nonnegative()
      .optional()
      .describe(
        'Wh. Measured energy only: the modelled value of what was measured, the accelerators or the total (without overhead, if the figure is)',
      ),
    measured_by: z
      .enum(energyMeters)
      .optional()
      .describe(
        'Measured energy only: `counters` of the accelerators, which the gateway read; `provider`, in whose reply the figure was; `provider_doubtful`, if that is further from every model that it can be than 5 times',
      ),
    carbon_g: amount('gCO2e. `carbon_operation_g` + `carbon_embodied_g`'),
    carbon_operation_g: amount('gCO2e. `energy_wh` / 1000 × `grid_intensity_g_per_kwh`'),
    carbon_embodied_g: amount('gCO2e. The share of manufacturing the hardware, by time used'),
    carbon_low_g: amount('gCO2e. Lower bound of `carbon_g`'),
    carbon_high_g: amount('gCO2e. Upper bound of `carbon_g`'),
    sci_g_per_request: amount(
      'gCO2e per call. Software Carbon Intensity, ISO/IEC 21031, with one API call as the unit; null if narrow',
    ),
    water_ml: amount('mL. Water evaporated on site and by power stations, without manufacturing the hardware'),
    water_low_ml: newAmount('mL. Lower bound of `water_ml`; not in receipts by `ecologits-0.11.3`'),
    water_high_ml: newAmount('mL. Upper bound of `water_ml`; not in receipts by `ecologits-0.11.3`'),
    uncertainty_basis: text(
      'What the bounds are: `combined` from the sources that the lineage names; by `ecologits-0.11.3` `parameter_range` (of the model) or `literature_default` (of the tier), which are scenarios',
    ),
    pue: z
      .number()
      .min(1)
      .nullable()
      .describe(
        'Power usage effectiveness of the data centre: all its energy per energy of its computers. Always that of the site; it plays no part in a measured total (`energy_split`: `unavailable`)',
      ),
    grid_intensity_g_per_kwh: amount('gCO2e/kWh. Average, location-based intensity of the grid zone'),
    grid_intensity_source: text('Source of the value, with the year if it is a yearly one'),
    grid_intensity_observed_at: time('The time that the value is for, according to its source, UTC'),
    grid_intensity_requested_at: time('The time that the value is used for, that of the call, UTC'),
    grid_intensity_age_minutes: amount(
      'Minutes between the two, one decimal; 0 within the interval of the value, null for a forecast (not for an estimate)',
    ),
    grid_temporal_match: z
      .enum(temporalMatches)
      .describe(
        'How well the value fits the time of the call. `forecast` includes values that the source calls estimates',
      ),
    grid_basis: z
      .enum(gridBases)
      .optional()
      .describe(
        'What the intensity counts: `lifecycle`, the whole life cycle of the power stations; `combustion`, only what they burn, which is lower. Absent without numbers, and by `ecologits-0.11.3`',
      ),
    grid_vintage: z
      .int()
      .nullable()
      .optional()
      .describe('The year of a yearly intensity; null for any other, absent as above'),
    methodology: text('Name of the formulas and constants'),
    methodology_version: text('Their version'),
    methodology_hash: text('SHA-256 over all formulas and constants'),
    lineage_digest: sha256
      .optional()
      .describe(
        'SHA-256 over the call, the facts that all numbers follow from, and `methodology_hash`; `digest` of the lineage. Absent where there are no numbers; receipts by `ecologits-0.11.3` may lack it',
      ),
    degraded_reason: z.enum(degradedReasons).optional().describe('Degraded receipts only: why there are no numbers'),
    explanation: z.string().optional().describe('Degraded receipts only: the same in words'),
    recalculable: z
      .boolean()
      .optional()
      .describe('Degraded receipts only: whether a new version follows when the reason is gone'),
  })
  .meta({ id: 'Receipt', description: 'The environmental receipt of one call' });

export type Receipt = z.infer<typeof receiptSchema>;

/** The receipt in a reply. The salt is there alone: whoever has it can try out answers, so no store and no other reply has it. */
export const shownReceiptSchema = receiptSchema
  .extend({
    salt: z
      .string()
      .regex(/^[0-9a-f]{32}$/)
      .optional()
      .describe(
        'Of `request_digest` and `answer_digest`; absent where these are null. Only the reply has it, and it is no field of the receipt: the receipt is `gw` without `salt`',
      ),
  })
  .meta({ id: 'ShownReceipt', description: 'The receipt of a call, as its reply has it' });

/** `usage.gw`: a part of the receipt next to the token counts, since many frameworks keep only those of a reply. */
export const usageReceiptSchema = receiptSchema
  .pick({ energy_wh: true, carbon_g: true })
  .extend({ receipt_id: receiptSchema.shape.id });
export type UsageReceipt = z.infer<typeof usageReceiptSchema>;

/** The first fields of a receipt: the call and how it ended. They are the same in all versions except for `version`. */
export type ReceiptHead = Pick<
  Receipt,
  | 'id'
  | 'object'
  | 'version'
  | 'supersedes'
  | 'created_at'
  | 'request_id'
  | 'status'
  | 'requested_tier'
  | 'model'
  | 'provider'
  | 'region'
  | 'pinned_region'
  | 'api'
  | 'usage_source'
  | 'simulated'
  | 'project'
  | 'request_digest'
  | 'answer_digest'
>;
/** The numbers of a receipt, or why there are none. */
export type ReceiptNumbers = Omit<Receipt, keyof ReceiptHead>;
