/**
 * How a verified identity travels behind Envoy.
 *
 * Invariant: only ext-authz makes it. Envoy strips every `x-gw-*` header of a client first, and each internal
 * listener demands the internal token, so that a direct call with forged headers is refused.
 */
import type { AccountTier, Scope } from '../access.ts';

/** Dynamic-metadata namespace that ext-authz fills; the rate limit and the sidecar read it. */
export const identityNamespace = 'envoy.filters.http.ext_authz';

/** The field in which ext-authz has what the sidecar reads of it, as a JSON object of strings. */
export const callerField = 'caller';

/**
 * The attribute by which Envoy gives the sidecar that field, with the first message of a call alone: metadata that it forwards it copies
 * twice for each message, so for each event of a stream. An expression in CEL.
 */
export const callerAttribute = `metadata.filter_metadata['${identityNamespace}']['${callerField}']`;

/** Envoy sends this in a question about limits if ext-authz has said nothing. No account has this name. */
export const missingIdentity = 'missing';

/** Of a call whose limits ext-authz has decided with its key, so that Envoy does not ask about them. A client's own is stripped. */
export const limitsDecidedHeader = 'x-gw-limits-decided';

export interface Identity {
  readonly accountId: string;
  readonly keyId: string;
  readonly tier: AccountTier;
  readonly scopes: readonly Scope[];
  /** Allow-list of models, or null for all. */
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
