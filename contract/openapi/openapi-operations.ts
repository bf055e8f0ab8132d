/** The requests and replies of each public operation: the handwritten part of the OpenAPI document. */
import type { z } from 'zod';
import { auditListSchema, auditQuerySchema } from '../audit.ts';
import { modelListSchema, modelSchema, receiptListSchema, regionListSchema, regionSchema } from '../catalogue.ts';
import { chatChunkSchema, chatRequestSchema, chatResponseSchema } from '../chat.ts';
import { completionChunkSchema, completionRequestSchema, completionResponseSchema } from '../completions.ts';
import { embeddingRequestSchema, embeddingResponseSchema } from '../embeddings.ts';
import {
  evidenceRequestSchema,
  keySetSchema,
  packJobSchema,
  proofQuerySchema,
  receiptProofSchema,
} from '../evidence.ts';
import { inferenceQuerySchema, modelsQuerySchema } from '../inference-query.ts';
import {
  issuedKeySchema,
  keyCreateSchema,
  keyListQuerySchema,
  keyListSchema,
  keyRotateSchema,
  keySchema,
} from '../keys.ts';
import { lineageSchema } from '../lineage.ts';
import { healthSchema, ledgerQuerySchema, receiptQuerySchema } from '../management.ts';
import {
  messageCountRequestSchema,
  messageCountSchema,
  messageEventSchema,
  messageRequestSchema,
  messageResponseSchema,
} from '../messages.ts';
import { methodologySchema } from '../methodology.ts';
import { evidencePackSchema } from '../pack/schema.ts';
import { receiptSchema } from '../receipt.ts';
import { responseEventSchema, responseRequestSchema, responseSchema } from '../responses.ts';
import { receiptRoutingSchema } from '../routing-trace.ts';
import { usageQuerySchema, usageSchema } from '../usage.ts';
import { usePolicySchema } from '../use-policy.ts';

export interface Operation {
  readonly id: string;
  readonly request?: z.ZodType;
  readonly requestOptional?: boolean;
  /** Schema of the 200 body, or null for one without. Every schema here has an `id`, which is its name in the document. */
  readonly response: z.ZodType | null;
  readonly query?: z.ZodObject;
  /** Media type of the 200 body; JSON by default. */
  readonly mediaType?: string;
  /** HTML for people, also for a 404. */
  readonly isPage?: true;
  /** The reply can also be a table, if the query asks for it. */
  readonly csv?: true;
  /** Schema of the data of one event, if the reply can be a stream. */
  readonly chunk?: z.ZodType;
  /** Describes the success of a stream; as of chat completions by default. */
  readonly streamText?: string;
  readonly mayBePending?: boolean;
  /** A job builds long replies; 202 shows its progress. */
  readonly mayBeJob?: true;
  /** The reply never changes, so clients may keep it. */
  readonly immutable?: true;
}

const rotateKey = { id: 'rotateKey', request: keyRotateSchema, requestOptional: true };

export const operations: Readonly<Record<string, Operation>> = {
  'POST /v1/chat/completions': {
    id: 'createChatCompletion',
    query: inferenceQuerySchema,
    request: chatRequestSchema,
    response: chatResponseSchema,
    chunk: chatChunkSchema,
  },
  'POST /v1/completions': {
    id: 'createCompletion',
    query: inferenceQuerySchema,
    request: completionRequestSchema,
    response: completionResponseSchema,
    chunk: completionChunkSchema,
  },
  'POST /v1/responses': {
    id: 'createResponse',
    query: inferenceQuerySchema,
    request: responseRequestSchema,
    response: responseSchema,
    chunk: responseEventSchema,
  },
  'POST /v1/messages': {
    id: 'createMessage',
    query: inferenceQuerySchema,
    request: messageRequestSchema,
    response: messageResponseSchema,
    chunk: messageEventSchema,
    streamText:
      'Success. With `stream: true` server-sent events, each with its `type` as its name: `message_delta` carries `gw` and `routing_trace`, and `message_stop` ends the stream; a provider that fails midway gives an event `error` instead',
  },
  'POST /v1/messages/count_tokens': {
    id: 'countMessageTokens',
    query: inferenceQuerySchema,
    request: messageCountRequestSchema,
    response: messageCountSchema,
  },
  'POST /v1/embeddings': {
    id: 'createEmbedding',
    query: inferenceQuerySchema,
    request: embeddingRequestSchema,
    response: embeddingResponseSchema,
  },
  'GET /v1/models': { id: 'listModels', query: modelsQuerySchema, response: modelListSchema },
  'GET /v1/models/{model_id}': { id: 'readModel', query: inferenceQuerySchema, response: modelSchema },
  'GET /v1/regions': { id: 'listRegions', response: regionListSchema },
  'GET /v1/regions/{region_code}': { id: 'readRegion', response: regionSchema },
  'GET /v1/use-policy': { id: 'listUsePolicy', response: usePolicySchema },
  'GET /v1/gw/receipts': { id: 'listReceipts', response: receiptListSchema, query: ledgerQuerySchema },
  'GET /v1/gw/receipts/{receipt_id}': {
    id: 'readReceipt',
    response: receiptSchema,
    query: receiptQuerySchema,
    mayBePending: true,
  },
  'GET /v1/gw/receipts/{receipt_id}/routing': {
    id: 'readReceiptRouting',
    response: receiptRoutingSchema,
    query: receiptQuerySchema,
    mayBePending: true,
  },
  'GET /v1/gw/receipts/{receipt_id}/proof': {
    id: 'readReceiptProof',
    response: receiptProofSchema,
    query: proofQuerySchema,
    mayBePending: true,
  },
  'GET /v1/gw/lineage/{receipt_id}': {
    id: 'readLineage',
    response: lineageSchema,
    query: receiptQuerySchema,
    mayBePending: true,
  },
  'GET /v1/gw/methodology/{methodology_hash}': { id: 'readMethodology', response: methodologySchema, immutable: true },
  'POST /v1/gw/evidence-pack': {
    id: 'createEvidencePack',
    request: evidenceRequestSchema,
    response: evidencePackSchema,
    mediaType: 'application/ld+json',
    mayBeJob: true,
  },
  'GET /v1/gw/evidence-pack/{pack_id}': {
    id: 'readEvidencePack',
    response: evidencePackSchema,
    mediaType: 'application/ld+json',
    mayBeJob: true,
  },
  'DELETE /v1/gw/evidence-pack/{pack_id}': { id: 'cancelEvidencePack', response: packJobSchema },
  'GET /v1/usage': { id: 'readUsage', response: usageSchema, query: usageQuerySchema, csv: true },
  'GET /v1/audit-log': { id: 'listAuditEntries', response: auditListSchema, query: auditQuerySchema },
  'GET /v1/keys': { id: 'listKeys', response: keyListSchema, query: keyListQuerySchema },
  'POST /v1/keys': { id: 'createKey', request: keyCreateSchema, response: issuedKeySchema },
  'GET /v1/keys/{key_id}': { id: 'readKey', response: keySchema },
  'POST /v1/keys/{key_id}/rotate': { ...rotateKey, response: issuedKeySchema },
  'POST /v1/keys/{key_id}/revoke': { id: 'revokeKey', response: keySchema },
  'POST /v1/keys/{key_id}/restore': { id: 'restoreKey', response: keySchema },
  'GET /.well-known/jwks.json': { id: 'readKeySet', response: keySetSchema },
  'GET /ns/gw': { id: 'readVocabulary', response: null, mediaType: 'application/ld+json' },
  'GET /errors': { id: 'listErrors', response: null, isPage: true },
  'GET /errors/{code}': { id: 'readError', response: null, isPage: true },
  'GET /openapi.json': { id: 'readOpenApi', response: null },
  'GET /healthz': { id: 'readHealth', response: healthSchema },
  'GET /readyz': { id: 'readReadiness', response: healthSchema },
};
