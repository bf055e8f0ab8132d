/** Evidence packs: what is asked for, and what comes. `./gw verify` checks one without the gateway. */
import { z } from 'zod';
import { instantSchema, receiptIdPattern, receiptQuerySchema } from './management.ts';

const hash = z.string().regex(/^[0-9a-f]{64}$/);

/** Receipts in a pack that is the reply; with their lineages, each of which is as long as ten receipts. What is more, a job builds. */
export const mostReceipts = { plain: 1000, withLineage: 100 } as const;

export const packFormats = ['jsonld', 'csv', 'parquet'] as const;
export type PackFormat = (typeof packFormats)[number];

export const evidenceRequestSchema = z
  .strictObject({
    from: instantSchema.optional().describe('Inclusive, by the time of the call; a UTC date or an RFC 3339 time'),
    to: instantSchema.optional().describe('Exclusive'),
    receipt_ids: z
      .array(z.string().regex(receiptIdPattern, 'is not a receipt id'))
      .min(1)
      .max(mostReceipts.plain)
      .optional()
      .describe('These alone, and of them those from `from` to `to` if that is given'),
    model: z.string().min(1).max(256).optional(),
    region: z.string().min(1).max(64).optional(),
    include_lineage: z
      .boolean()
      .default(false)
      .describe('With the lineage of each receipt, so that its numbers can be made again; needs `gw:lineage` too'),
    format: z
      .enum(packFormats)
      .default('jsonld')
      .describe(
        '`csv` and `parquet` are tables of the receipts alone, which a job makes; its `statement` has their digest, signed',
      ),
    earlier_tree_size: z
      .int()
      .min(1)
      .optional()
      .describe('`tree_size` of a checkpoint that was kept: with a proof that the log of the account goes on from it'),
  })
  .meta({ id: 'EvidencePackRequest' });
export type EvidenceRequest = z.infer<typeof evidenceRequestSchema>;

const path = z.array(hash);
export const checkpointSchema = z
  .strictObject({
    format: z.literal('gw.receipt_log_checkpoint/1'),
    account: z.string(),
    tree_size: z.int().positive().describe('Entries of the log'),
    root_hash: hash.describe('Of the Merkle tree over them, as RFC 6962 has it'),
    complete_until: z.iso
      .datetime()
      .describe('Of calls before it, all receipts that were stored when it was signed are in these entries'),
    issued: z.iso.datetime(),
    signature: z.strictObject({
      key: z.record(z.string(), z.string()),
      jws: z.string().describe('Detached (RFC 7797), Ed25519, over all the rest of the checkpoint by RFC 8785'),
    }),
  })
  .meta({
    id: 'ReceiptLogCheckpoint',
    description: 'So far was the log of the account. Keep it: it binds all before it',
  });

export const packStates = ['queued', 'building', 'ready', 'failed', 'cancelled', 'expired'] as const;
export type PackState = (typeof packStates)[number];

export const packJobSchema = z
  .strictObject({
    object: z.literal('gw.evidence_pack_job'),
    id: z.string().describe('`GET /v1/gw/evidence-pack/{id}` says how far it is, and gives the pack when it is ready'),
    state: z.enum(packStates),
    created_at: z.iso.datetime(),
    receipts_done: z
      .int()
      .nonnegative()
      .describe('Versions of receipts that are in the pack; begins anew if another instance takes the job up'),
    receipts_total: z.int().nonnegative().nullable().describe('Of how many; null: not counted yet'),
    format: z.enum(packFormats),
    bytes: z.int().nonnegative().nullable().describe('Length of the pack; null: not ready'),
    expires_at: z.iso.datetime().nullable().describe('Until then it can be had; null: not ready'),
    reason: z.string().nullable().describe('Why it failed, in words'),
    statement: z
      .looseObject({ format: z.literal('gw.evidence_table/1'), sha256: hash })
      .nullable()
      .describe(
        'Of a table that is ready: its digest, whose it is and what of, signed. `./gw verify FILE --statement` checks it',
      ),
  })
  .meta({ id: 'EvidencePackJob', description: 'A pack that is built beside the call that asked for it' });
export type PackJob = z.infer<typeof packJobSchema>;

export const proofQuerySchema = receiptQuerySchema.extend({
  earlier_tree_size: z.coerce
    .number()
    .int()
    .min(1)
    .max(Number.MAX_SAFE_INTEGER)
    .optional()
    .describe('`tree_size` of a checkpoint that was kept: with a proof that the log goes on from it'),
});

export const receiptProofSchema = z
  .strictObject({
    object: z.literal('gw.receipt_proof'),
    receipt_id: z.string(),
    version: z.int().positive(),
    leaf_hash: hash.describe('SHA-256 over a zero byte and the receipt as JSON by RFC 8785'),
    index: z.int().nonnegative().nullable().describe('Its place in the log; null: it is not in the checkpoint yet'),
    path: path.nullable().describe('From the leaf to the root of the checkpoint'),
    checkpoint: checkpointSchema.nullable().describe('The newest; null before the first'),
    consistency: z
      .strictObject({ from: z.int().positive(), path })
      .nullable()
      .describe(
        'That the log goes on from the first `from` entries; null if that was not asked for, or is more than there are',
      ),
  })
  .meta({ id: 'ReceiptProof', description: 'That a receipt is in the append-only log of its account' });

const node = z.looseObject({ type: z.array(z.string()) });

export const evidencePackSchema = z
  .looseObject({
    '@context': z.record(z.string(), z.unknown()).describe('The whole context: nothing is fetched'),
    id: z.string(),
    type: z.array(z.string()),
    format: z
      .enum(['gw.evidence_pack/1', 'gw.evidence_pack/2'])
      .describe('The second is that of a pack which a job has built'),
    issued: z.iso.datetime(),
    account: z.string(),
    selection: z.record(z.string(), z.unknown()).describe('What was asked for'),
    coverage: z.record(z.string(), z.unknown()).describe('How many receipts of each kind, and which need a look'),
    aggregates: z.array(node).describe('Sums by day, model, provider, region, grid basis, and simulated calls apart'),
    methodologies: z.array(node).describe('With the documents that their hashes are over'),
    sources: z.array(node),
    excluded: z.array(node).describe('What was asked for and is not in the pack, with the reason'),
    log: z
      .looseObject({ checkpoint: checkpointSchema.nullable() })
      .nullable()
      .describe(
        'The signed checkpoint of the log of the account that the proofs of `receipts` lead to; null before the first',
      ),
    receipts: z.array(node).describe('Every version of each; amounts are decimals as texts'),
    listed: z
      .record(z.string(), z.array(z.string()))
      .optional()
      .describe('Of `gw.evidence_pack/2`: which receipts are simulated, degraded, restated, superseded'),
    manifest: z.record(z.string(), z.unknown()).describe('SHA-256 of each part, over RFC 8785'),
    signature: z.strictObject({
      key: z.record(z.string(), z.string()),
      jws: z.string().describe('Detached (RFC 7797), Ed25519, over the manifest'),
    }),
  })
  .meta({ id: 'EvidencePack', description: 'JSON-LD 1.1 with PROV-O, QUDT and DCAT' });

export const keySetSchema = z
  .strictObject({
    keys: z.array(
      z.strictObject({
        kty: z.literal('OKP'),
        crv: z.literal('Ed25519'),
        x: z.string(),
        kid: z.string().describe('Thumbprint of the key (RFC 7638)'),
        use: z.literal('sig'),
        alg: z.literal('EdDSA'),
      }),
    ),
  })
  .meta({ id: 'KeySet', description: 'The keys that evidence packs are signed with, those of before included' });
