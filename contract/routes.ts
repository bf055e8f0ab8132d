/**
 * The table of public routes.
 * Envoy's routes, the scope checks and the OpenAPI document are all made from it.
 */
import type { Scope } from './access.ts';
import { errorPagePath, errorPagesPath } from './errors.ts';

/** Which limit a route draws on. */
export type LimitKind = 'calls' | 'management';
/** `sidecar`: goes to a provider, with a receipt. `control`: the control plane answers, or Envoy where no key is needed. */
export type Handler = 'sidecar' | 'control';

export interface Route {
  readonly method: 'DELETE' | 'GET' | 'POST';
  /** `{name}` stands for one path segment; `{model_id}` may hold slashes, raw or as %2F, `{methodology_hash}` a colon, raw or as %3A. */
  readonly path: string;
  readonly scope: Scope | null;
  readonly limit: LimitKind | null;
  readonly handler: Handler;
  /** The reply may take as long as its client reads; Envoy breaks it off only if it does not begin, or stands still. */
  readonly isLong?: true;
  /** Parts of the reply can be asked for (`Range`). */
  readonly hasParts?: true;
  /** True if a suspended account may not call it, because it spends money or gives access. */
  readonly needsActive?: true;
  readonly summary: string;
}

/** Needs no key; Envoy answers it by itself. */
const open = { method: 'GET', scope: null, limit: null, handler: 'control' } as const;

export const routes: readonly Route[] = [
  {
    method: 'POST',
    path: '/v1/chat/completions',
    scope: 'inference:write',
    limit: 'calls',
    handler: 'sidecar',
    needsActive: true,
    summary: 'Create a chat completion with a receipt',
  },
  {
    method: 'POST',
    path: '/v1/completions',
    scope: 'inference:write',
    limit: 'calls',
    handler: 'sidecar',
    needsActive: true,
    summary: 'Create a text completion with a receipt',
  },
  {
    method: 'POST',
    path: '/v1/embeddings',
    scope: 'inference:write',
    limit: 'calls',
    handler: 'sidecar',
    needsActive: true,
    summary: 'Create embeddings with a receipt',
  },
  {
    method: 'GET',
    path: '/v1/models',
    scope: 'inference:read',
    limit: 'calls',
    handler: 'control',
    summary: 'List models',
  },
  {
    method: 'GET',
    path: '/v1/models/{model_id}',
    scope: 'inference:read',
    limit: 'calls',
    handler: 'control',
    summary: 'Read one model',
  },
  {
    method: 'GET',
    path: '/v1/regions',
    scope: 'inference:read',
    limit: 'calls',
    handler: 'control',
    summary: 'List regions',
  },
  {
    method: 'GET',
    path: '/v1/regions/{region_code}',
    scope: 'inference:read',
    limit: 'calls',
    handler: 'control',
    summary: 'Read one region',
  },
  {
    method: 'GET',
    path: '/v1/gw/receipts',
    scope: 'gw:read',
    limit: 'management',
    handler: 'control',
    summary: 'List the ledger',
  },
  {
    method: 'GET',
    path: '/v1/gw/receipts/{receipt_id}',
    scope: 'gw:read',
    limit: 'management',
    handler: 'control',
    summary: 'Read one receipt',
  },
  {
    method: 'GET',
    path: '/v1/gw/receipts/{receipt_id}/proof',
    scope: 'gw:read',
    limit: 'management',
    handler: 'control',
    summary: 'Prove that a receipt is in the log of the account',
  },
  {
    method: 'GET',
    path: '/v1/gw/lineage/{receipt_id}',
    scope: 'gw:lineage',
    limit: 'management',
    handler: 'control',
    summary: 'Read how each number of a receipt was made',
  },
  {
    method: 'GET',
    path: '/v1/gw/methodology/{methodology_hash}',
    // Public text; but what needs no key, Envoy answers by itself, so that nobody without one reaches a service.
    scope: 'gw:read',
    limit: 'management',
    handler: 'control',
    summary: 'Read the document whose hash is in a receipt',
  },
  {
    method: 'POST',
    path: '/v1/gw/evidence-pack',
    scope: 'gw:export',
    limit: 'management',
    handler: 'control',
    isLong: true,
    summary: 'Export receipts as a signed JSON-LD evidence pack; a long one is built by a job',
  },
  {
    method: 'GET',
    path: '/v1/gw/evidence-pack/{pack_id}',
    scope: 'gw:export',
    limit: 'management',
    handler: 'control',
    isLong: true,
    hasParts: true,
    summary: 'Read a long evidence pack, or how far its job is',
  },
  {
    method: 'DELETE',
    path: '/v1/gw/evidence-pack/{pack_id}',
    scope: 'gw:export',
    limit: 'management',
    handler: 'control',
    summary: 'Cancel the job of a long evidence pack, or give up the finished one',
  },
  {
    method: 'GET',
    path: '/v1/usage',
    scope: 'gw:read',
    limit: 'management',
    handler: 'control',
    summary: 'Sums of requests, tokens, energy, carbon and water by day, model and more',
  },
  {
    method: 'GET',
    path: '/v1/audit-log',
    scope: 'gw:read',
    limit: 'management',
    handler: 'control',
    summary: 'Who changed what in the account',
  },
  {
    method: 'GET',
    path: '/v1/keys',
    scope: 'admin:keys',
    limit: 'management',
    handler: 'control',
    summary: 'List the keys of the account',
  },
  {
    method: 'POST',
    path: '/v1/keys',
    scope: 'admin:keys',
    limit: 'management',
    handler: 'control',
    needsActive: true,
    summary: 'Issue a key; the reply is the only one that shows it',
  },
  {
    method: 'GET',
    path: '/v1/keys/{key_id}',
    scope: 'admin:keys',
    limit: 'management',
    handler: 'control',
    summary: 'Read one key',
  },
  {
    method: 'POST',
    path: '/v1/keys/{key_id}/rotate',
    scope: 'admin:keys',
    limit: 'management',
    handler: 'control',
    needsActive: true,
    summary: 'Issue a successor; the predecessor goes on working',
  },
  {
    method: 'POST',
    path: '/v1/keys/{key_id}/revoke',
    scope: 'admin:keys',
    limit: 'management',
    handler: 'control',
    summary: 'Revoke a key, within a second everywhere',
  },
  {
    method: 'POST',
    path: '/v1/keys/{key_id}/restore',
    scope: 'admin:keys',
    limit: 'management',
    handler: 'control',
    needsActive: true,
    summary: 'Take a revocation back, within 90 days',
  },
  { ...open, path: '/.well-known/jwks.json', summary: 'The keys that evidence packs are signed with' },
  { ...open, path: errorPagesPath, summary: 'All error codes, as a page for people' },
  { ...open, path: errorPagePath, summary: 'One error code, as a page for people: `doc_url` of an error leads there' },
  { ...open, path: '/openapi.json', summary: 'This document' },
  { ...open, path: '/healthz', summary: 'Whether the gateway answers' },
];
