/**
 * The lineage of a receipt as it is served. It is complete: a client can check one with nothing but this schema and the formulas
 * in it.
 *
 * Invariant: the list of fields is closed. Unknown is null; every number has its unit beside it, or at the end of its name.
 */
import { z } from 'zod';
import { callSchema, factsSchema, sourceSchema } from './lineage-facts.ts';
import { receiptIdPattern } from './management.ts';
import { boundaries, energySplits, gridBases, temporalMatches } from './receipt.ts';

const value = z.number().nullable().describe('Null: unknown, and every operation on it is unknown too');
const unit = z.string();
const digest = z.string().regex(/^sha256:[0-9a-f]{64}$/);

export const lineageStepSchema = z
  .strictObject({
    id: z
      .string()
      .describe(
        'A field of the receipt, or an intermediate step. `@low` and `@high` are bounds, `@min` and `@max` the ends of a range of parameter counts, `@modelled` what a measured figure is compared with',
      ),
    formula: z.string().describe('The formula as the methodology publishes it'),
    evaluated_as: z
      .string()
      .optional()
      .describe('The formula to evaluate, where the published one is written for readers; absent: it is that'),
    origin: z.string().describe('Whose formula it is'),
    inputs: z
      .array(z.string())
      .describe(
        'What each name in the formula stands for, in the order in which it has them first: the id of a step, or the name of one of `inputs` or `factors`',
      ),
    output: z.strictObject({ value, unit }),
    uncertainty: z
      .strictObject({ low: value, high: value, basis: z.string() })
      .optional()
      .describe('Bounds; `basis` says how they were found, as `uncertainty_basis` of the receipt does'),
  })
  .meta({ id: 'LineageStep', description: 'One formula with its inputs and its result' });

const inputSchema = z
  .strictObject({
    name: z.string().describe('As formulas have it, with `@min` or `@max` behind it if it is an end of a range'),
    value,
    unit,
    source: z.string().describe('Whose fact it is (`sources`)'),
    fact: z.string().nullable().describe('Its path in `facts`; null: it follows from several facts'),
  })
  .meta({ id: 'LineageInput', description: 'A fact that goes into the steps' });

const factorSchema = z
  .strictObject({
    name: z.string(),
    value,
    unit,
    source: z.string(),
    version: z.string().nullable(),
    licence: z.string().nullable().describe('Null: the source does not state one'),
    date: z.string().nullable().describe('When the source was published: year, month or day; null: not stated'),
    locator: z.string().nullable().describe('Where it is published; null: nowhere public'),
    uncertainty: z
      .string()
      .nullable()
      .describe('The factors of the bounds that express its uncertainty; null: it is taken as exact'),
  })
  .meta({ id: 'LineageFactor', description: 'A factor of the methodology or of the grid that goes into the steps' });

const calculationSchema = z.strictObject({
  tier: z.enum(['proxy', 'parametric', 'telemetry']),
  boundary: z.enum(boundaries),
  model_kind: z.enum(['chat', 'embedding']),
  modelled_by: z
    .enum(['parametric', 'proxy'])
    .nullable()
    .describe('What gives the parts that were not measured, and what a measured figure is compared with'),
  parameter_range: z.boolean().describe('Whether the parameter counts are a range, computed at both ends'),
  model_class: z.string().nullable(),
  serving: z
    .string()
    .nullable()
    .describe(
      'Which measurements the bounds of what is modelled are taken from: accelerators, architecture, and what is stated of bits and requests at once; null by `ecologits-0.11.3`',
    ),
  measured: z
    .strictObject({
      scope: z.enum(['total', 'accelerator']),
      unit: z.string().nullable().describe('Unit of the stated figure; null if it came in Wh'),
      bounds: z.enum(['measurement', 'estimate', 'stated']),
      includes_pue: z.boolean().nullable(),
    })
    .nullable(),
  estimated_counts: z
    .enum(['prompt', 'completion', 'both'])
    .optional()
    .describe('The token counts that were estimated from text and widen the bounds; absent: none'),
  cut_short: z
    .literal(true)
    .optional()
    .describe('The reply broke off: what was generated without being delivered is not counted; absent: it was whole'),
});

const telemetrySchema = z.strictObject({
  used: z.boolean().describe("Whether the receipt's energy is this figure"),
  energy_source: z.enum(['provider_reported', 'provider_estimated', 'own_counters', 'simulated']),
  source: z.string(),
  refused: z.string().nullable().describe('Why the figure was rejected'),
  scope: z.string().nullable(),
  includes_pue: z.boolean().nullable(),
  duration_s: z.number().nullable(),
  attribution: z.string().nullable(),
  interval_s: z.number().nullable(),
  stated: z
    .strictObject({
      field: z.string(),
      value: z.number(),
      unit: z.string(),
      tokens: z.strictObject({ call: z.number(), all: z.number() }).nullable(),
      range: z.strictObject({ min: z.number(), max: z.number() }).nullable(),
    })
    .nullable(),
  raw: z.unknown().describe('The source’s statement, bounded in size'),
});

export const lineageContentSchema = z
  .strictObject({
    object: z.literal('gw.lineage'),
    methodology: z.string(),
    methodology_version: z.string(),
    methodology_hash: digest,
    call: callSchema.optional().describe('The call that it belongs to'),
    facts: factsSchema,
    sources: z.array(sourceSchema).describe('Who vouches for the facts'),
    calculation: calculationSchema.describe('What kind of calculation it is; it determines the steps'),
    tier_reason: z.string(),
    boundary_excludes: z.array(z.string()),
    prompt_tokens: z.int().nonnegative().nullable().describe('Null if the tokens of a measured call were not counted'),
    completion_tokens: z.int().nonnegative().nullable(),
    energy_split: z.enum(energySplits),
    uncertainty_basis: z.string(),
    grid: z
      .strictObject({
        zone: z.string(),
        source: z.string(),
        signal: z.enum(['average', 'forecast', 'annual']),
        stated_match: z.enum(temporalMatches).nullable().describe('The match as the source itself states it'),
        period: z.string().describe('The interval that the value is for: start and end, the end exclusive'),
        water_source: z
          .string()
          .describe('Source of the water factor; the global one where there is none for the zone'),
        basis: z
          .enum(gridBases)
          .optional()
          .describe('What the intensity counts; absent by `ecologits-0.11.3`, like the next two fields'),
        vintage: z.int().nullable().optional().describe('The year of a yearly value; null for any other'),
        is_estimated: z.boolean().optional().describe('Whether the source itself calls the value an estimate'),
      })
      .describe('Which grid value was used'),
    telemetry: telemetrySchema.nullable().describe('Measured energy of this call, used or refused'),
    accelerators: z
      .strictObject({ model: z.string(), count: z.int().positive() })
      .optional()
      .describe('As the deployment states it; the model is fitted to H100 and B200'),
    modelled_energy_wh: z
      .number()
      .nonnegative()
      .optional()
      .describe('Wh. The modelled energy of what was measured; absent: nothing was, or nothing of it can be modelled'),
    ecologits: z
      .strictObject({
        methodology_version: z.string(),
        methodology_hash: digest,
        energy_wh: z.number().nonnegative().describe('Wh'),
        carbon_g: z.number().nonnegative().describe('gCO2e'),
        water_ml: z.number().nonnegative().nullable().describe('mL'),
      })
      .optional()
      .describe(
        'What EcoLogits’ own methodology, `ecologits-0.11.3`, gives for the same facts, to hold the two against each other; absent: the parameters of the model are not known, or the energy was measured',
      ),
    simulated: z
      .literal(true)
      .optional()
      .describe('The provider was a simulator, which made up the facts behind the numbers; absent: it was not'),
    inputs: z.array(inputSchema),
    factors: z.array(factorSchema),
    steps: z.array(lineageStepSchema).describe('In an order in which each can be evaluated'),
    digest: digest.describe(
      'SHA-256 over `call`, `facts` and `methodology_hash` as JSON by RFC 8785, from which all of the above follows; `lineage_digest` of the receipt',
    ),
  })
  .meta({ id: 'Lineage', description: 'Enough to compute a receipt again' });

const gridReplacementSchema = z.strictObject({
  replaced_source: z.string(),
  replaced_g_per_kwh: z.number().nonnegative(),
  replaced_period: z.string().describe('The interval that the replaced value was for'),
  replaced_signal: z.enum(['average', 'forecast', 'annual', 'marginal']),
  revision: z.int().positive().describe('Which revision of the settled value replaced it'),
  reply_sha256: z.string().describe("SHA-256 of the source's reply with the settled value"),
});
export type GridReplacement = z.infer<typeof gridReplacementSchema>;

export const revisionSchema = z
  .strictObject({
    reason: z
      .enum(['recalculated', 'restated', 'measured', 'not_measured'])
      .describe('not_measured: the energy counters had nothing for this call, so no measurement will follow'),
    at: z.iso.datetime({ precision: 3 }),
    completed: z.array(z.string()).describe('Facts that were missing or unusable and were taken from the catalogue'),
    catalogue_version: z.int().positive().nullable().describe('The version of that catalogue'),
    grid: gridReplacementSchema.nullable().describe('For a restated receipt: which grid value was replaced'),
  })
  .meta({ id: 'Revision', description: 'Why this version of the receipt was made' });
export type Revision = z.infer<typeof revisionSchema>;

export const lineageSchema = z
  .strictObject({
    object: z.literal('gw.receipt_lineage'),
    receipt_id: z.string().regex(receiptIdPattern),
    receipt_version: z.int().positive(),
    lineage: lineageContentSchema
      .nullable()
      .describe('Enough to compute the receipt again; null for a receipt that could not be calculated'),
    explanation: z.string().nullable().describe('Why there is no lineage'),
    revision: revisionSchema.nullable().describe('Null for the first version'),
  })
  .meta({ id: 'ReceiptLineage', description: 'How each number of a receipt was made' });
