/**
 * How a verified identity is passed on behind Envoy.
 *
 * Invariant: only ext-authz makes it. Envoy strips every `x-gw-*` header of a client first, and each internal
 * listener requires the internal token, so that a direct call with forged headers is refused.
 */
import type { AccountTier, Scope } from '../access.ts';

/** Dynamic metadata namespace that ext-authz fills for the rate limit and the sidecar. */
export const identityNamespace = 'envoy.filters.http.ext_authz';

/** The field for the sidecar, a JSON object of strings. */
export const callerField = 'caller';

/**
 * The CEL attribute by which Envoy sends that field to the sidecar, only with the first message of a call. Envoy copies forwarded
 * metadata twice for each message, so for each event of a stream.
 */
export const callerAttribute = `metadata.filter_metadata['${identityNamespace}']['${callerField}']`;

/** Envoy sends this in a rate limit request if ext-authz set no identity. No account has this name. */
export const missingIdentity = 'missing';

/** Tells Envoy that ext-authz has decided the limits together with the key. A client's own header is stripped. */
export const limitsDecidedHeader = 'x-gw-limits-decided';

export interface Identity {
  readonly accountId: string;
  readonly keyId: string;
  readonly tier: AccountTier;
  readonly scopes: readonly Scope[];
  /** Allowed models, or null for all. */
  readonly models: readonly string[] | null;
}

/** Headers from ext-authz to the control plane. */
export const identityHeaders = {
  accountId: 'x-gw-account-id',
  keyId: 'x-gw-key-id',
  tier: 'x-gw-tier',
  scopes: 'x-gw-scopes',
  /** JSON array, or absent for all models. */
  models: 'x-gw-models',
} as const;

/** Carries the internal token: `Bearer <token>`, to the control plane and on every gRPC call of Envoy. */
export const internalTokenHeader = 'x-gw-internal-token';
