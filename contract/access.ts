/**
 * Who may do what: scopes, tiers and their limits, and the table of public routes.
 * Envoy's routes, the scope checks and the OpenAPI document are all made from this table.
 */

export const scopes = [
  'inference:read',
  'inference:write',
  'gw:read',
  'gw:lineage',
  'gw:export',
  'admin:keys',
] as const;
export type Scope = (typeof scopes)[number];

export const defaultScopes: readonly Scope[] = ['inference:read', 'inference:write', 'gw:read'];

export const accountTiers = ['audit', 'audit_plus', 'enterprise'] as const;
export type AccountTier = (typeof accountTiers)[number];

export interface Limits {
  /** Refill of the token bucket, requests per second. */
  readonly ratePerS: number;
  /** Size of the token bucket, requests. */
  readonly burst: number;
  /** Requests per UTC day. */
  readonly perDay: number;
  /** Streams that may be open at once. */
  readonly streams: number;
}

/** Specification part 8. Enterprise is negotiated, so its limits are stored with the account. */
export const tierLimits: Readonly<Record<'audit' | 'audit_plus', Limits>> = {
  audit: { ratePerS: 50, burst: 200, perDay: 100_000, streams: 25 },
  audit_plus: { ratePerS: 200, burst: 800, perDay: 400_000, streams: 100 },
};

/** Bytes of bodies, in KiB: a token bucket beside that of the calls. */
export interface BodyLimit {
  readonly kibPerS: number;
  readonly burstKib: number;
}

const mib = 1024;
/** Each lets in at once 30 bodies of 1 MiB and 8 of 10 MiB. */
export const bodyLimits: Readonly<Record<AccountTier, BodyLimit>> = {
  audit: { kibPerS: 16 * mib, burstKib: 256 * mib },
  audit_plus: { kibPerS: 64 * mib, burstKib: 1024 * mib },
  enterprise: { kibPerS: 256 * mib, burstKib: 4096 * mib },
};

/** Envoy takes in a body up to this size before it is refused by who answers it: a client that still writes reads no reply. */
export const heldBodyBytes = 18 * 1024 * 1024;

/** A smaller body costs nothing. */
export const freeBodyKib = 64;
/** What a body without a `Content-Length` costs: as much as it may have, since nobody knows its size before it was let in. */
export const unsizedBodyKib = 10 * mib;

/** Open streams of an Enterprise account with which no other number was agreed. */
export const enterpriseStreams = 100;

/** What one key of an Enterprise account may take of what the account has. Null: as much as the account. */
export interface KeyLimits {
  /** Both or neither. */
  readonly ratePerS: number | null;
  readonly burst: number | null;
  readonly perDay: number | null;
  readonly streams: number | null;
}

/** A limit in shadow mode is counted and reported, and refuses nothing. `rate` stands for rate and burst. */
export const shadowLimits = ['rate', 'day', 'streams'] as const;
export type ShadowLimit = (typeof shadowLimits)[number];

/** Reads of receipts, usage, audit log and keys: a rate of their own, outside the day budget. */
export const managementLimits = { ratePerS: 10, burst: 50 } as const;

/** Which limit a route draws on. */
export type LimitKind = 'calls' | 'management';
/** `sidecar`: goes to a provider, with a receipt. `control`: the control plane answers, or Envoy where no key is needed. */
export type Handler = 'sidecar' | 'control';

export interface Route {
  readonly method: 'GET' | 'POST';
  /** `{name}` stands for one path segment; `{model_id}` may hold slashes, raw or as %2F. */
  readonly path: string;
  readonly scope: Scope | null;
  readonly limit: LimitKind | null;
  readonly handler: Handler;
  /** Closed to a suspended account: what spends, and what opens a door. */
  readonly needsActive?: true;
  readonly summary: string;
}

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
    path: '/v1/gw/lineage/{receipt_id}',
    scope: 'gw:lineage',
    limit: 'management',
    handler: 'control',
    summary: 'Read how each number of a receipt was made',
  },
  {
    method: 'GET',
    path: '/v1/usage',
    scope: 'gw:read',
    limit: 'management',
    handler: 'control',
    summary: 'Requests, tokens, energy and carbon by day and model',
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
  { method: 'GET', path: '/openapi.json', scope: null, limit: null, handler: 'control', summary: 'This document' },
  {
    method: 'GET',
    path: '/healthz',
    scope: null,
    limit: null,
    handler: 'control',
    summary: 'Whether the gateway answers',
  },
];
