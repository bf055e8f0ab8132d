/**
 * What a lineage says of its call: which one it is, the facts that its numbers follow from, and who vouches for them.
 *
 * Invariant: the list of fields is closed. The facts are in the words of the methodology package, whose `assess` takes them.
 */
import { z } from 'zod';
import { boundaries, requestedTiers, temporalMatches } from './receipt.ts';

export const callSchema = z.strictObject({
  id: z.string().describe('Of the receipt, as the next five'),
  version: z.int().positive(),
  created_at: z.string(),
  model: z.string(),
  provider: z.string().nullable(),
  region: z.string().nullable(),
  project: z.string().optional().describe('What it is charged to; absent: nothing is named'),
  deployment: z.string().nullable().describe('Which deployment answered; null if that is not known'),
});

const rangeSchema = z.strictObject({ min: z.number(), max: z.number() }).nullable();
const evidenceShape = {
  kind: z.enum(['measured', 'reported', 'assumed']),
  source: z.string().describe('A text or an address'),
  period: z.string().nullable().describe('The interval that the figure is of; null: not stated'),
};
const evidenceSchema = z.strictObject(evidenceShape).nullable().optional();
const entrySchema = z
  .strictObject({ catalogueVersion: z.int(), changedAt: z.string(), changedBy: z.string() })
  .optional()
  .describe('The last change of the entry in the catalogue');

const modelFactsSchema = z.strictObject({
  kind: z.enum(['chat', 'embedding']),
  activeParametersB: rangeSchema,
  totalParametersB: rangeSchema,
  modelClass: z.string().nullable(),
  quantizationBits: z.number().nullable(),
  tokensPerS: z.number().nullable(),
  ttftS: z.number().nullable(),
  parametersSource: z.string().nullable().optional(),
  entry: entrySchema,
});
const siteFactsSchema = z.strictObject({
  id: z.string().optional().describe('The deployment'),
  pue: z.number(),
  wueOnsiteLPerKwh: z.number().nullable(),
  accelerators: z.strictObject({ model: z.string(), count: z.int().positive() }).nullable().optional(),
  pueEvidence: evidenceSchema,
  wueEvidence: evidenceSchema,
  entry: entrySchema,
  regionEntry: entrySchema,
});
const gridFactsSchema = z.strictObject({
  zone: z.string(),
  gPerKwh: z.number(),
  source: z.string(),
  signal: z.enum(['average', 'marginal', 'forecast', 'annual']),
  periodStart: z.string(),
  periodEnd: z.string(),
  observedAt: z.string(),
  temporalMatch: z.enum(temporalMatches).nullable(),
  waterLPerKwh: z.number().nullable(),
  basis: z.enum(['lifecycle', 'direct', 'unknown']).optional(),
  isEstimated: z.boolean().optional(),
  waterSource: z.string().optional(),
  fetchedAt: z.string().optional(),
  replySha256: z.string().optional(),
  edition: z.string().optional(),
});

/** The argument of `assess` in the methodology package, without what no number follows from. */
export const factsSchema = z
  .strictObject({
    requestedTier: z.enum(requestedTiers),
    boundary: z.enum(boundaries),
    requestedAt: z.string(),
    usage: z
      .strictObject({
        promptTokens: z.number(),
        cachedPromptTokens: z.number(),
        completionTokens: z.number(),
        estimated: z.enum(['prompt', 'completion', 'both']).optional(),
        outsideCounts: z.number().optional(),
      })
      .nullable(),
    upstreamLatencyS: z.number().nullable(),
    telemetry: z.looseObject({}).nullable().optional().describe('As `telemetry` below, in the words of the package'),
    telemetryFollows: z.boolean().optional(),
    isCutShort: z.literal(true).optional(),
    simulated: z.literal(true).optional(),
    model: modelFactsSchema,
    site: siteFactsSchema,
    grid: gridFactsSchema,
  })
  .describe('Everything that the numbers follow from, beside the methodology');

export const sourceSchema = z.strictObject({
  source: z.string().describe('As the inputs of the steps name it'),
  vouched_by: z.string().nullable().describe('Whose word it is; null: nobody is known'),
  since: z.string().nullable().describe('When it was entered or said'),
  catalogue_version: z.int().nullable().describe('In which the entry of the catalogue changed last'),
  evidence: z.array(z.strictObject({ of: z.string(), ...evidenceShape })),
  sha256: z.string().nullable().describe('SHA-256 of what the source said, in hexadecimal'),
});
