/** Scopes, and account tiers with their limits. */

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
  /** Concurrently open streams. */
  readonly streams: number;
}

/** How much slower or more expensive than the preferred region a cleaner one may be; null means without limit. */
export interface Tolerance {
  readonly addedLatencyMs: number | null;
  readonly addedCostPercent: number | null;
}
export const anyTolerance: Tolerance = { addedLatencyMs: null, addedCostPercent: null };

/** Specification part 8. Enterprise is negotiated, so its limits are stored with the account. */
export const tierLimits: Readonly<Record<'audit' | 'audit_plus', Limits>> = {
  audit: { ratePerS: 50, burst: 200, perDay: 100_000, streams: 25 },
  audit_plus: { ratePerS: 200, burst: 800, perDay: 400_000, streams: 100 },
};

/** Limits in tokens of prompts and answers; null means none. */
export interface TokenLimits {
  readonly perMinute: number | null;
  /** Per UTC day. */
  readonly perDay: number | null;
}

/** A token bucket for request bodies, in KiB, separate from the one for calls. */
export interface BodyLimit {
  readonly kibPerS: number;
  readonly burstKib: number;
}

const mib = 1024;
/** Every tier admits a burst of at least 30 bodies of 1 MiB and 8 bodies of 10 MiB. */
export const bodyLimits: Readonly<Record<AccountTier, BodyLimit>> = {
  audit: { kibPerS: 16 * mib, burstKib: 256 * mib },
  audit_plus: { kibPerS: 64 * mib, burstKib: 1024 * mib },
  enterprise: { kibPerS: 256 * mib, burstKib: 4096 * mib },
};

/** Envoy reads this much of a body before it refuses it, since a client that is still writing does not read the reply. */
export const heldBodyBytes = 18 * 1024 * 1024;

/** A body without a `Content-Length` costs the maximum, in KiB, since its size is not known in advance. */
export const unsizedBodyKib = 10 * mib;

/** Open streams of an Enterprise account, unless another number was agreed. */
export const enterpriseStreams = 100;

/** The part of its account's limits that a key of an Enterprise account may use. Null means all of it. */
export interface KeyLimits {
  /** Set together with `burst`, or not at all. */
  readonly ratePerS: number | null;
  readonly burst: number | null;
  readonly perDay: number | null;
  readonly streams: number | null;
  readonly tokensPerMinute: number | null;
  readonly tokensPerDay: number | null;
}

/** Limits that can be in shadow mode: counted and reported, but never refusing a call. `rate` covers rate and burst. */
export const shadowLimits = ['rate', 'day', 'streams', 'tokens'] as const;
export type ShadowLimit = (typeof shadowLimits)[number];

/** For receipts, usage, the audit log, keys and counts of tokens: requests per second and burst. They do not count towards the day budget. */
export const managementLimits = { ratePerS: 10, burst: 50 } as const;
