/** The requests and replies of each public operation: the handwritten part of the OpenAPI document. */
import type { z } from 'zod';
import { auditEntrySchema, auditListSchema, auditQuerySchema } from './audit.ts';
import { modelListSchema, modelSchema, receiptListSchema, regionListSchema, regionSchema } from './catalogue.ts';
import { chatChunkSchema, chatRequestSchema, chatResponseSchema } from './chat.ts';
import { completionChunkSchema, completionRequestSchema, completionResponseSchema } from './completions.ts';
import { embeddingRequestSchema, embeddingResponseSchema } from './embeddings.ts';
import {
  checkpointSchema,
  evidencePackSchema,
  evidenceRequestSchema,
  keySetSchema,
  packJobSchema,
  proofQuerySchema,
  receiptProofSchema,
} from './evidence.ts';
import { gwOptionsSchema } from './gw-options.ts';
import {
  issuedKeySchema,
  keyCreateSchema,
  keyListQuerySchema,
  keyListSchema,
  keyRotateSchema,
  keySchema,
} from './keys.ts';
import { lineageContentSchema, lineageSchema, lineageStepSchema, revisionSchema } from './lineage.ts';
import { healthSchema, ledgerQuerySchema, receiptQuerySchema } from './management.ts';
import { methodologySchema } from './methodology.ts';
import { receiptSchema } from './receipt.ts';
import { routingTraceSchema } from './routing-trace.ts';
import { usageQuerySchema, usageRowSchema, usageSchema, usageTotalSchema } from './usage.ts';

export interface Operation {
  readonly id: string;
  readonly request?: string;
  readonly requestOptional?: boolean;
  /** Component name of the 200 body, or null for a body without a schema. */
  readonly response: string | null;
  readonly query?: z.ZodObject;
  /** Media type of the 200 body; JSON by default. */
  readonly mediaType?: string;
  /** HTML for people, also for a 404. */
  readonly isPage?: true;
  /** The reply can also be a table, if the query asks for it. */
  readonly csv?: true;
  /** Component name of the data of one event, if the reply can be a stream. */
  readonly chunk?: string;
  readonly mayBePending?: boolean;
  /** A job builds long replies; 202 shows its progress. */
  readonly mayBeJob?: true;
  /** The reply never changes, so clients may keep it. */
  readonly immutable?: true;
}

const rotateKey = { id: 'rotateKey', request: 'KeyRotateRequest', requestOptional: true };

export const operations: Readonly<Record<string, Operation>> = {
  'POST /v1/chat/completions': {
    id: 'createChatCompletion',
    request: 'ChatCompletionRequest',
    response: 'ChatCompletion',
    chunk: 'ChatCompletionChunk',
  },
  'POST /v1/completions': {
    id: 'createCompletion',
    request: 'CompletionRequest',
    response: 'Completion',
    chunk: 'CompletionChunk',
  },
  'POST /v1/embeddings': { id: 'createEmbedding', request: 'EmbeddingRequest', response: 'EmbeddingList' },
  'GET /v1/models': { id: 'listModels', response: 'ModelList' },
  'GET /v1/models/{model_id}': { id: 'readModel', response: 'Model' },
  'GET /v1/regions': { id: 'listRegions', response: 'RegionList' },
  'GET /v1/regions/{region_code}': { id: 'readRegion', response: 'Region' },
  'GET /v1/gw/receipts': { id: 'listReceipts', response: 'ReceiptList', query: ledgerQuerySchema },
  'GET /v1/gw/receipts/{receipt_id}': {
    id: 'readReceipt',
    response: 'Receipt',
    query: receiptQuerySchema,
    mayBePending: true,
  },
  'GET /v1/gw/receipts/{receipt_id}/proof': {
    id: 'readReceiptProof',
    response: 'ReceiptProof',
    query: proofQuerySchema,
    mayBePending: true,
  },
  'GET /v1/gw/lineage/{receipt_id}': {
    id: 'readLineage',
    response: 'ReceiptLineage',
    query: receiptQuerySchema,
    mayBePending: true,
  },
  'GET /v1/gw/methodology/{methodology_hash}': { id: 'readMethodology', response: 'Methodology', immutable: true },
  'POST /v1/gw/evidence-pack': {
    id: 'createEvidencePack',
    request: 'EvidencePackRequest',
    response: 'EvidencePack',
    mediaType: 'application/ld+json',
    mayBeJob: true,
  },
  'GET /v1/gw/evidence-pack/{pack_id}': {
    id: 'readEvidencePack',
    response: 'EvidencePack',
    mediaType: 'application/ld+json',
    mayBeJob: true,
  },
  'DELETE /v1/gw/evidence-pack/{pack_id}': { id: 'cancelEvidencePack', response: 'EvidencePackJob' },
  'GET /v1/usage': { id: 'readUsage', response: 'Usage', query: usageQuerySchema, csv: true },
  'GET /v1/audit-log': { id: 'listAuditEntries', response: 'AuditList', query: auditQuerySchema },
  'GET /v1/keys': { id: 'listKeys', response: 'KeyList', query: keyListQuerySchema },
  'POST /v1/keys': { id: 'createKey', request: 'KeyCreateRequest', response: 'IssuedKey' },
  'GET /v1/keys/{key_id}': { id: 'readKey', response: 'Key' },
  'POST /v1/keys/{key_id}/rotate': { ...rotateKey, response: 'IssuedKey' },
  'POST /v1/keys/{key_id}/revoke': { id: 'revokeKey', response: 'Key' },
  'POST /v1/keys/{key_id}/restore': { id: 'restoreKey', response: 'Key' },
  'GET /.well-known/jwks.json': { id: 'readKeySet', response: 'KeySet' },
  'GET /errors': { id: 'listErrors', response: null, isPage: true },
  'GET /errors/{code}': { id: 'readError', response: null, isPage: true },
  'GET /openapi.json': { id: 'readOpenApi', response: null },
  'GET /healthz': { id: 'readHealth', response: 'Health' },
};

/** Unknown fields are allowed, defaults may be absent. */
export const requestSchemas = {
  GwOptions: gwOptionsSchema,
  ChatCompletionRequest: chatRequestSchema,
  CompletionRequest: completionRequestSchema,
  EmbeddingRequest: embeddingRequestSchema,
  KeyCreateRequest: keyCreateSchema,
  KeyRotateRequest: keyRotateSchema,
  EvidencePackRequest: evidenceRequestSchema,
};
export const responseSchemas = {
  Receipt: receiptSchema,
  RoutingTrace: routingTraceSchema,
  ChatCompletion: chatResponseSchema,
  ChatCompletionChunk: chatChunkSchema,
  Completion: completionResponseSchema,
  CompletionChunk: completionChunkSchema,
  EmbeddingList: embeddingResponseSchema,
  Model: modelSchema,
  ModelList: modelListSchema,
  Region: regionSchema,
  RegionList: regionListSchema,
  ReceiptList: receiptListSchema,
  ReceiptLineage: lineageSchema,
  Lineage: lineageContentSchema,
  LineageStep: lineageStepSchema,
  Revision: revisionSchema,
  Methodology: methodologySchema,
  ReceiptProof: receiptProofSchema,
  ReceiptLogCheckpoint: checkpointSchema,
  EvidencePack: evidencePackSchema,
  EvidencePackJob: packJobSchema,
  KeySet: keySetSchema,
  Usage: usageSchema,
  UsageRow: usageRowSchema,
  UsageTotal: usageTotalSchema,
  Key: keySchema,
  IssuedKey: issuedKeySchema,
  KeyList: keyListSchema,
  AuditEntry: auditEntrySchema,
  AuditList: auditListSchema,
  Health: healthSchema,
};
