/** Requests for evidence packs, and the packs. `./gw verify` checks one without the gateway. */
import { z } from 'zod';
import { instantSchema, receiptIdPattern, receiptQuerySchema } from './management.ts';

export const hash = z.string().regex(/^[0-9a-f]{64}$/);

/** The most receipts in an immediate reply; a lineage is as long as ten receipts. A job builds larger packs. */
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
      .describe('Only these receipts, restricted to `from` and `to` if those are given'),
    model: z.string().min(1).max(256).optional(),
    region: z.string().min(1).max(64).optional(),
    include_lineage: z
      .boolean()
      .default(false)
      .describe(
        'Whether to add the lineage of each receipt, so that its numbers can be recomputed; needs `gw:lineage` too',
      ),
    include_routing: z
      .boolean()
      .default(false)
      .describe(
        'Whether to add the routing trace of each receipt, so that choices and savings can be recomputed (with `include_lineage` from the facts); columns `routing_…` and `estimated_saving_g` of a table',
      ),
    format: z
      .enum(packFormats)
      .default('jsonld')
      .describe(
        '`csv` and `parquet` are tables of the receipts, built by a job; its `statement` has their digest, signed',
      ),
    earlier_tree_size: z
      .int()
      .min(1)
      .optional()
      .describe(
        '`tree_size` of an earlier checkpoint; adds a proof that the log of the account is append-only since then',
      ),
  })
  .meta({ id: 'EvidencePackRequest' });
export type EvidenceRequest = z.infer<typeof evidenceRequestSchema>;

const publicJwkSchema = z.strictObject({
  kty: z.literal('OKP'),
  crv: z.literal('Ed25519'),
  x: z.string(),
  kid: z.string().describe('Thumbprint of the key (RFC 7638)'),
  use: z.literal('sig'),
  alg: z.literal('EdDSA'),
});
export const signatureSchema = z.strictObject({
  key: publicJwkSchema,
  jws: z.string().describe('Detached (RFC 7797), Ed25519'),
});
/** Packs, and statements on tables, are signed so. */
export const sealSchema = signatureSchema.extend({
  jws: z
    .string()
    .describe(
      'Detached (RFC 7797), Ed25519; its header has the certificates of the key (`x5c`), if the gateway names its organisation',
    ),
  timestamp: z
    .base64()
    .optional()
    .describe('A time-stamp (RFC 3161, DER) over `jws`; absent: no service is configured, or it did not answer'),
});

export const logPath = z.array(hash).describe('From the entry to the root');
export const checkpointSchema = z
  .strictObject({
    format: z.literal('gw.receipt_log_checkpoint/2'),
    account: z.string(),
    origin: z
      .string()
      .describe(
        'The name of the log in `note`: the base URL of the gateway without the scheme, `/receipts/` and the account',
      ),
    tree_size: z.int().positive().describe('Entries of the log'),
    root_hash: hash.describe('Root of the Merkle tree over the entries (RFC 6962)'),
    complete_until: z.iso
      .datetime()
      .describe('All receipts of calls before this time that were stored at the time of signing are in these entries'),
    hours_root: hash.describe('Root of the register that says which entries each hour has'),
    issued: z.iso.datetime(),
    key: publicJwkSchema,
    note: z
      .string()
      .describe(
        'The signed note (c2sp.org/tlog-checkpoint): what the members say as text, the signature of the log, and the cosignatures of its witnesses',
      ),
  })
  .meta({
    id: 'ReceiptLogCheckpoint',
    description: 'The state of the account’s log when it was signed. Keep it: it commits to all earlier entries',
  });

export const packStates = ['queued', 'building', 'ready', 'failed', 'cancelled', 'expired'] as const;
export type PackState = (typeof packStates)[number];

export const packJobSchema = z
  .strictObject({
    object: z.literal('gw.evidence_pack_job'),
    id: z.string().describe('`GET /v1/gw/evidence-pack/{id}` returns its progress, and the pack when it is ready'),
    state: z.enum(packStates),
    created_at: z.iso.datetime(),
    receipts_done: z
      .int()
      .nonnegative()
      .describe('Receipt versions in the pack so far; starts over if another instance takes over the job'),
    receipts_total: z.int().nonnegative().nullable().describe('Receipt versions in total; null: not counted yet'),
    format: z.enum(packFormats),
    bytes: z.int().nonnegative().nullable().describe('Length of the pack; null: not ready'),
    expires_at: z.iso.datetime().nullable().describe('When it is deleted; null: not ready'),
    reason: z.string().nullable().describe('Why it failed, or what it waits for, in words'),
    statement: z
      .looseObject({ format: z.literal('gw.evidence_table/1'), sha256: hash })
      .nullable()
      .describe(
        'For a finished table: its digest, account and selection, signed. `./gw verify FILE --statement` checks it',
      ),
  })
  .meta({ id: 'EvidencePackJob', description: 'A pack that a background job builds' });
export type PackJob = z.infer<typeof packJobSchema>;

export const proofQuerySchema = receiptQuerySchema.extend({
  earlier_tree_size: z.coerce
    .number()
    .int()
    .min(1)
    .max(Number.MAX_SAFE_INTEGER)
    .optional()
    .describe('`tree_size` of an earlier checkpoint; adds a proof that the log is append-only since then'),
});

const batchSchema = z
  .strictObject({
    number: z.int().positive().describe('Of the batch in the chain of batches'),
    kind: z.enum(['added', 'settled']),
    at: z.iso.datetime({ precision: 3 }).describe('When the receipt came into the ledger, or was settled'),
    count: z.int().positive().describe('Entries of the batch'),
    total: z.int().positive().describe('Entries of the chain so far'),
    previous: hash.describe('The head of the batch before; zeros for the first'),
    rest_sha256: hash.describe(
      'Digest of the rest of the row. SHA-256 over `leaf_hash`, a line feed and this is the digest of the row',
    ),
    replaces: hash.nullable().describe('The digest of the row before it was settled'),
    index: z.int().nonnegative(),
    path: logPath.describe(
      'From the leaf to the root of the batch (RFC 6962). The entry is id, version, digest of the row and, if it is given, `replaces`, with spaces between',
    ),
    signed: z
      .strictObject({
        head: z.looseObject({
          format: z.literal('gw.receipt_batches/1'),
          first: z.int().positive().describe('The number of the first batch that it signs'),
          last: z.int().positive(),
          head: hash.describe('Of the last batch'),
          root_hash: hash.describe('Root of a Merkle tree over the heads'),
          issued: z.iso.datetime(),
        }),
        path: logPath.describe('From the head of the batch to `root_hash`'),
      })
      .nullable()
      .describe('The signature over the heads of a minute; null: in a minute'),
  })
  .meta({ id: 'ReceiptBatch', description: 'Proof that a receipt is in the chain of batches of the ledger' });

export const receiptProofSchema = z
  .strictObject({
    object: z.literal('gw.receipt_proof'),
    receipt_id: z.string(),
    version: z.int().positive(),
    leaf_hash: hash.describe('SHA-256 over a zero byte and the receipt as JSON by RFC 8785'),
    index: z.int().nonnegative().nullable().describe('Its position in the log; null: it is not in the checkpoint yet'),
    path: logPath.nullable().describe('From the leaf to the root of the checkpoint'),
    checkpoint: checkpointSchema.nullable().describe('The newest; null before the first'),
    consistency: z
      .strictObject({ from: z.int().positive(), path: logPath })
      .nullable()
      .describe(
        'Proof that the log still begins with the first `from` entries; null if not requested, or if the log is shorter',
      ),
    batch: batchSchema
      .nullable()
      .describe('The batch that it came into the ledger with; null: it is not stored yet, or see `batch_fault`'),
    batch_fault: z.string().nullable().describe('Why a stored receipt has no `batch`: the ledger was altered'),
  })
  .meta({ id: 'ReceiptProof', description: 'Proof that a receipt is in the append-only log of its account' });

export const archivedMonthSchema = z
  .strictObject({
    format: z.literal('gw.archived_month/1'),
    account: z.string(),
    month: z.string().describe('UTC, as `2025-01`'),
    receipts: z.int().nonnegative().describe('Versions of receipts of the account in that month'),
    files_sha256: hash.describe('Digest of `files.txt` of the archive'),
    note_sha256: hash.describe('Digest of `note.json` of the archive without `signature`, in RFC 8785 form'),
    at: z.iso.datetime(),
  })
  .meta({ id: 'ArchivedMonth', description: 'An entry of the log that is no receipt: the month has left Postgres' });

export const keySetSchema = z
  .strictObject({
    keys: z.array(publicJwkSchema),
  })
  .meta({ id: 'KeySet', description: 'The keys that evidence packs are signed with, including former ones' });
