/**
 * The table of public routes.
 * Envoy's routes, the scope checks and the OpenAPI document are all made from it.
 */
import type { Scope } from './access.ts';
import { errorPagePath, errorPagesPath } from './errors.ts';

/** Which limit a route draws on. */
export type LimitKind = 'calls' | 'management';
/** `sidecar`: goes to a provider, mostly with a receipt. `control`: the control plane answers, or Envoy where no key is needed. */
export type Handler = 'sidecar' | 'control';

export interface Route {
  readonly method: 'DELETE' | 'GET' | 'POST';
  /** `{name}` stands for one path segment; `{model_id}` may hold slashes, raw or as %2F, `{methodology_hash}` a colon, raw or as %3A. */
  readonly path: string;
  readonly scope: Scope | null;
  readonly limit: LimitKind | null;
  readonly handler: Handler;
  /** The reply may take as long as its client reads; Envoy breaks it off only if it does not begin, or stalls. */
  readonly isLong?: true;
  /** Clients can ask for parts of the reply (`Range`). */
  readonly hasParts?: true;
  /** Nothing is generated, so there is no receipt. */
  readonly hasNoReceipt?: true;
  /** True if a suspended account may not call it, because it spends money or gives access. */
  readonly needsActive?: true;
  readonly summary: string;
}

const inference = {
  method: 'POST',
  scope: 'inference:write',
  limit: 'calls',
  handler: 'sidecar',
  needsActive: true,
} as const;
const catalogue = { method: 'GET', scope: 'inference:read', limit: 'calls', handler: 'control' } as const;
const ledger = { method: 'GET', scope: 'gw:read', limit: 'management', handler: 'control' } as const;
const evidence = { scope: 'gw:export', limit: 'management', handler: 'control' } as const;
const keys = { scope: 'admin:keys', limit: 'management', handler: 'control' } as const;
/** Needs no key; Envoy answers it itself. */
const open = { method: 'GET', scope: null, limit: null, handler: 'control' } as const;

export const routes: readonly Route[] = [
  { ...inference, path: '/v1/chat/completions', summary: 'Create a chat completion with a receipt' },
  { ...inference, path: '/v1/completions', summary: 'Create a text completion with a receipt' },
  { ...inference, path: '/v1/responses', summary: 'Create a response with a receipt' },
  { ...inference, path: '/v1/messages', summary: 'Create a message with a receipt, as in the API of Anthropic' },
  {
    ...inference,
    path: '/v1/messages/count_tokens',
    limit: 'management',
    hasNoReceipt: true,
    summary: 'Count the tokens of a message, without a receipt',
  },
  { ...inference, path: '/v1/embeddings', summary: 'Create embeddings with a receipt' },
  { ...catalogue, path: '/v1/models', summary: 'List models' },
  { ...catalogue, path: '/v1/models/{model_id}', summary: 'Read one model' },
  { ...catalogue, path: '/v1/regions', summary: 'List regions' },
  { ...catalogue, path: '/v1/regions/{region_code}', summary: 'Read one region' },
  { ...catalogue, path: '/v1/use-policy', summary: 'List the rules that requests are screened by' },
  { ...ledger, path: '/v1/gw/receipts', summary: 'List the ledger' },
  { ...ledger, path: '/v1/gw/receipts/{receipt_id}', summary: 'Read one receipt' },
  {
    ...ledger,
    path: '/v1/gw/receipts/{receipt_id}/routing',
    summary: 'Read how the region of a call was chosen',
  },
  {
    ...ledger,
    path: '/v1/gw/receipts/{receipt_id}/proof',
    summary: 'Prove that a receipt is in the log of the account',
  },
  {
    ...ledger,
    path: '/v1/gw/lineage/{receipt_id}',
    scope: 'gw:lineage',
    summary: 'Read how each number of a receipt was made',
  },
  // A public text; but Envoy answers what needs no key itself, so that nobody without one reaches a service.
  { ...ledger, path: '/v1/gw/methodology/{methodology_hash}', summary: 'Read the document whose hash is in a receipt' },
  {
    ...evidence,
    method: 'POST',
    path: '/v1/gw/evidence-pack',
    isLong: true,
    summary: 'Export receipts as a signed JSON-LD evidence pack; a long one is built by a job',
  },
  {
    ...evidence,
    method: 'GET',
    path: '/v1/gw/evidence-pack/{pack_id}',
    isLong: true,
    hasParts: true,
    summary: 'Read a long evidence pack, or how far its job is',
  },
  {
    ...evidence,
    method: 'DELETE',
    path: '/v1/gw/evidence-pack/{pack_id}',
    summary: 'Cancel the job of a long evidence pack, or give up the finished one',
  },
  {
    ...ledger,
    path: '/v1/usage',
    summary: 'Sums of requests, tokens, energy, carbon and water by day, model and more',
  },
  { ...ledger, path: '/v1/audit-log', summary: 'Who changed what in the account' },
  { ...keys, method: 'GET', path: '/v1/keys', summary: 'List the keys of the account' },
  {
    ...keys,
    method: 'POST',
    path: '/v1/keys',
    needsActive: true,
    summary: 'Issue a key; the reply is the only one that shows it',
  },
  { ...keys, method: 'GET', path: '/v1/keys/{key_id}', summary: 'Read one key' },
  {
    ...keys,
    method: 'POST',
    path: '/v1/keys/{key_id}/rotate',
    needsActive: true,
    summary: 'Issue a successor; the predecessor goes on working',
  },
  { ...keys, method: 'POST', path: '/v1/keys/{key_id}/revoke', summary: 'Revoke a key, within a second everywhere' },
  {
    ...keys,
    method: 'POST',
    path: '/v1/keys/{key_id}/restore',
    needsActive: true,
    summary: 'Take a revocation back, within 90 days',
  },
  { ...open, path: '/.well-known/jwks.json', summary: 'The keys that evidence packs are signed with' },
  { ...open, path: '/ns/gw', summary: 'What the terms of evidence packs mean' },
  { ...open, path: errorPagesPath, summary: 'All error codes, as a page for people' },
  { ...open, path: errorPagePath, summary: 'One error code, as a page for people: `doc_url` of an error leads there' },
  { ...open, path: '/openapi.json', summary: 'This document' },
  { ...open, path: '/healthz', summary: 'Whether the gateway answers' },
  { ...open, path: '/readyz', summary: 'Whether calls should be sent here: 503 while none could be served' },
];
