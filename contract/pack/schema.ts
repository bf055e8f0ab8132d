/**
 * An evidence pack as JSON.
 *
 * Invariant: no object has members that are not named here, except what a lineage or a routing trace holds, which have schemas of their own.
 * The descriptions are the definitions of the terms of the vocabulary (vocabulary.ts).
 */
import { amounts } from '@gw/methodology/amounts';
import { z } from 'zod';
import { archivedMonthSchema, checkpointSchema, hash, logPath, sealSchema } from '../evidence.ts';
import { defined } from '../internal/defined.ts';
import { gridBases, receiptSchema } from '../receipt.ts';
import { summed } from './measures.ts';

export const packFormat = 'gw.evidence_pack/3';

/** One text for each number: plain digits, no zero in front or behind that says nothing. */
const decimal = z.string().regex(/^(?!-0$)-?(0|[1-9]\d*)(\.\d*[1-9])?$/);
const count = z.int().nonnegative();
const types = (first: string, ...others: readonly string[]) =>
  z.tuple([z.literal(first), ...others.map((name) => z.literal(name))]);

const { id: idOfReceipt, object: _, ...fields } = receiptSchema.shape;
const isAmount = (name: string): boolean => (amounts as readonly string[]).includes(name);

/** An amount of a receipt, as text. */
function asText(field: z.ZodType): z.ZodType {
  const text = decimal.nullable();
  const stated = field.safeParse(undefined).success ? text.optional() : text;
  return stated.describe(defined(field.description, 'The description of an amount'));
}

const place = { index: count.describe('Its index in the log, from 0 on'), path: logPath };

/** One version of a receipt: its fields, and what a pack says of it. */
export const packedReceiptSchema = z
  .strictObject({
    id: z.string().describe('`urn:gw:receipt:`, `receipt_id`, a colon and `version`'),
    type: types('prov:Entity', 'gw:Receipt'),
    receipt_id: idOfReceipt,
    ...Object.fromEntries(
      Object.entries(fields).map(([name, field]) => [name, isAmount(name) ? asText(field) : field]),
    ),
    wasRevisionOf: z.string().optional().describe('The version before; absent: it is the first'),
    wasGeneratedBy: z
      .strictObject({
        type: types('prov:Activity'),
        qualifiedAssociation: z.strictObject({
          type: types('prov:Association'),
          agent: z.string(),
          hadPlan: z.string(),
        }),
      })
      .optional()
      .describe('The calculation: the gateway made it by this methodology; absent: nothing was calculated'),
    lineage: z
      .unknown()
      .optional()
      .describe('How each number was made, as `GET /v1/gw/lineage/{receipt_id}` returns it'),
    routing: z.unknown().optional().describe('The routing trace of the call; null: there is none'),
    log: z
      .strictObject({
        index: place.index.nullable(),
        path: logPath.nullable(),
        replaced: z
          .array(z.strictObject({ ...place, leaf_hash: hash, receipt: receiptSchema.nullable() }))
          .optional()
          .describe('The entries of the receipt as it was before it was settled'),
      })
      .optional()
      .describe('The place in the log of the account, and the path from there to the root; absent: not in it yet'),
  })
  .meta({ id: 'PackedReceipt', description: 'One version of a receipt, in its pack' });

export const exclusionSchema = z.strictObject({
  type: types('gw:Exclusion'),
  receipt_id: z.string(),
  version: count.nullable(),
  code: z
    .enum(['contradiction', 'no_lineage', 'not_found', 'not_genuine', 'not_stored'])
    .describe('Why it is not in the pack'),
  reason: z.string().describe('Why it is not in the pack, in words'),
  log_index: count.optional().describe('The entry of the log, if the receipt is stored no more, or not as it was'),
});

const sumNames = [...summed, 'prompt_tokens', 'completion_tokens'] as const;
const each = <T>(names: readonly string[], value: T): Record<string, T> =>
  Object.fromEntries(names.map((name) => [name, value]));

export const aggregateSchema = z.strictObject({
  type: types('gw:Aggregate'),
  date: z.iso.date().describe('The day of the calls, UTC'),
  model: z.string().nullable(),
  provider: z.string().nullable(),
  region: z.string().nullable(),
  grid_basis: z.enum(gridBases).nullable(),
  simulated: z.boolean(),
  requests: count.describe('How many receipts are summed, each once, in its newest version'),
  requests_degraded: count.describe('How many of these are degraded'),
  ...each(sumNames, decimal.nullable()),
  carbon_saved_g: decimal
    .nullable()
    .optional()
    .describe('gCO2e. What carbon-aware routing has saved, as the routing traces state it'),
  missing: z
    .strictObject(each([...sumNames, 'carbon_saved_g'], count.optional()))
    .describe('For each number, how many of the receipts lack it; absent: none'),
});

const methodologySchema = z.strictObject({
  id: z.string().describe('`urn:gw:methodology:` and the digits of `hash`'),
  type: types('prov:Plan', 'prov:Entity'),
  name: z.string().nullable(),
  version: z.string().nullable(),
  hash: z.string().describe('`sha256:` and the SHA-256 of `document`'),
  document: z.string().nullable().describe('All formulas and constants, in the bytes that `hash` is over'),
});

const sourceSchema = z.strictObject({
  type: types('prov:Entity', 'dct:BibliographicResource'),
  name: z.string(),
  version: z.string().nullable(),
  licence: z.string().nullable().describe('An IRI: of SPDX, or of the vocabulary; null: the source states none'),
  locator: z.string().nullable(),
});

const kind = z.strictObject({ requests: count, energy_wh: decimal.nullable() });
const perList = <T extends z.ZodType>(each: T) =>
  z.strictObject({ simulated: each, degraded: each, restated: each, superseded: each });

/** All members but the receipts, the lists and the exclusions, which may be many. */
export const packHeadSchema = z.strictObject({
  '@context': z.record(z.string(), z.unknown()).describe('The whole context, so that nothing has to be fetched'),
  id: z.string(),
  type: types('dcat:Dataset', 'prov:Entity', 'gw:EvidencePack'),
  format: z.literal(packFormat).describe('The version of the form of packs'),
  title: z.string(),
  issued: z.iso.datetime(),
  publisher: z.strictObject({ id: z.string(), type: types('prov:SoftwareAgent', 'dct:Agent') }),
  account: z.string().describe('Whose receipts they are'),
  selection: z
    .strictObject({
      from: z.string(),
      to: z.string(),
      receipt_ids: z.array(z.string()),
      model: z.string(),
      region: z.string(),
      include_lineage: z.boolean(),
      include_routing: z.boolean(),
      format: z.literal('jsonld'),
      earlier_tree_size: count,
    })
    .partial()
    .describe('The selection that was requested'),
  temporal: z
    .strictObject({ type: types('dct:PeriodOfTime'), start: z.string(), end: z.string() })
    .optional()
    .describe('The period, half-open; absent: receipts were chosen by their ids alone'),
  quantities: z
    .array(
      z.strictObject({
        id: z.string(),
        type: types('owl:DatatypeProperty'),
        measured_in: z.string(),
        measures: z.string(),
      }),
    )
    .describe('What each number measures, and in what, said once for all receipts'),
  log: z
    .strictObject({
      checkpoint: checkpointSchema.nullable(),
      consistency: z.strictObject({ from: count, path: logPath }).nullable(),
      hours: z
        .strictObject({
          shown: z.array(
            z.strictObject({
              hour: z.iso.datetime(),
              ranges: z.array(z.tuple([count, count])),
              times_digest: hash,
              times: z.array(count).optional(),
            }),
          ),
          path: z.array(hash),
        })
        .optional()
        .describe('Which entries the hours of the period have; absent: the pack is not of all receipts of a period'),
      archived: z
        .array(z.strictObject({ ...place, month: archivedMonthSchema }))
        .optional()
        .describe('The entries of the log that say that a month is archived; absent: none'),
      fault: z.string().optional().describe('Why there are no proofs'),
    })
    .nullable()
    .describe('The signed checkpoint that the proofs of `receipts` lead to; null before the first one'),
  coverage: z
    .strictObject({
      receipts: count,
      versions: count,
      excluded: count,
      ...each(['measured', 'modelled', 'estimated', 'degraded'], kind),
      listed: perList(count),
    })
    .describe('Counts of receipts by kind, and of those that need attention'),
  aggregates: z
    .array(aggregateSchema)
    .describe('Sums by day, model, provider, region and grid basis, with simulated calls separate'),
  methodologies: z.array(methodologySchema).describe('Each methodology that made a receipt, with its document'),
  sources: z.array(sourceSchema),
  wasGeneratedBy: z
    .strictObject({
      type: types('prov:Activity'),
      wasAssociatedWith: z.string(),
      used: z.array(z.string()),
    })
    .describe('The making of the pack: by which gateway, and with which methodologies'),
  manifest: z
    .strictObject({
      digest: z.literal('SHA-256 over RFC 8785'),
      receipts_per_part: count,
      parts: z.array(z.strictObject({ part: z.string(), sha256: hash })),
    })
    .describe(
      'SHA-256 of each part in RFC 8785 form: of each receipt, or of each thousand in a pack of more than a thousand',
    ),
  signature: sealSchema.describe(
    'The signature over the manifest in RFC 8785 form, the public key, and a time-stamp if there is one',
  ),
});

export const evidencePackSchema = packHeadSchema
  .extend({
    receipts: z
      .array(packedReceiptSchema)
      .describe('Every version of each, by time, id and version; amounts are decimals as texts'),
    listed: perList(z.array(z.string())).describe('Which receipts are simulated, degraded, restated, superseded'),
    excluded: z
      .array(exclusionSchema)
      .describe('Receipts that were requested but are not in the pack, with the reason'),
  })
  .meta({ id: 'EvidencePack', description: 'JSON-LD 1.1 with PROV-O, QUDT, DCAT and Dublin Core' });

/** The objects of a pack whose members are terms of its own vocabulary, with their classes. */
export const packShapes = {
  'gw:EvidencePack': evidencePackSchema.shape,
  'gw:Receipt': packedReceiptSchema.shape,
  'gw:Aggregate': aggregateSchema.shape,
  'gw:Exclusion': exclusionSchema.shape,
  'prov:Plan': methodologySchema.shape,
} as const;
