/**
 * The part of a lineage about its call: its identity, the facts that its numbers follow from, and the source of each fact.
 *
 * Invariant: the list of fields is closed. The facts have the names of the methodology package, whose `assess` takes them.
 */
import { z } from 'zod';
import { apiNames } from './api-names.ts';
import { boundaries, requestedTiers, temporalMatches } from './receipt.ts';

export const callSchema = z.strictObject({
  id: z.string().describe('Of the receipt, like the next five fields'),
  version: z.int().positive(),
  created_at: z.string(),
  model: z.string(),
  provider: z.string().nullable(),
  region: z.string().nullable(),
  pinned_region: z.string().optional().describe('Region that the request asked for; absent: none'),
  api: z.enum(apiNames).optional().describe('API that the call came by; absent in receipts by `ecologits-0.11.3`'),
  project: z.string().optional().describe('Project that it is charged to; absent: none'),
  deployment: z.string().nullable().describe('The deployment that answered; null: unknown'),
});

const rangeSchema = z.strictObject({ min: z.number(), max: z.number() }).nullable();
const evidenceShape = {
  kind: z.enum(['measured', 'reported', 'assumed']),
  source: z.string().describe('A text or an address'),
  period: z.string().nullable().describe('The interval that the figure covers; null: not stated'),
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
  typicalConcurrency: z
    .number()
    .nullable()
    .optional()
    .describe('Requests that a replica of the model works on at once, typically'),
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

/** The argument of `assess` in the methodology package, without fields that affect no number. */
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
        promptLeast: z.number().optional().describe('The fewest tokens that the count can stand for; absent: itself'),
        promptMost: z.number().optional(),
        completionLeast: z.number().optional(),
        completionMost: z.number().optional(),
        prompts: z.number().optional().describe('Sequences that the prompt tokens are of; absent: one'),
        answers: z.number().optional().describe('Sequences that the completion tokens are of; absent: one'),
        doubts: z.array(z.string()).optional().describe('Why the counts have such bounds'),
      })
      .nullable(),
    upstreamLatencyS: z.number().nullable(),
    telemetry: z.looseObject({}).nullable().optional().describe('As `telemetry` below, with the names of the package'),
    telemetryFollows: z.boolean().optional(),
    isCutShort: z.literal(true).optional(),
    failedAttemptsMostWh: z.number().nullable().optional().describe('Absent: nothing was computed; null: not known'),
    simulated: z.literal(true).optional(),
    model: modelFactsSchema,
    site: siteFactsSchema,
    grid: gridFactsSchema,
  })
  .describe('Everything, besides the methodology, that the numbers follow from');

export const sourceSchema = z.strictObject({
  source: z.string().describe('As the inputs of the steps name it'),
  vouched_by: z.string().nullable().describe('Who states it; null: unknown'),
  since: z.string().nullable().describe('When it was entered or stated'),
  catalogue_version: z.int().nullable().describe('Version in which the catalogue entry changed last'),
  evidence: z.array(z.strictObject({ of: z.string(), ...evidenceShape })),
  sha256: z.string().nullable().describe('SHA-256 of the source’s reply, in hexadecimal'),
});
