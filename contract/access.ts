/** Who may do what: scopes, and tiers with their limits. */

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

/** How much slower or dearer a region may be than the preferred one, to be chosen for its carbon intensity; null: any. */
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

/** Bytes of bodies, in KiB: a token bucket beside that of the calls. */
export interface BodyLimit {
  readonly kibPerS: number;
  readonly burstKib: number;
}

const mib = 1024;
/** Each tier lets in at least 30 bodies of 1 MiB and 8 bodies of 10 MiB at once. */
export const bodyLimits: Readonly<Record<AccountTier, BodyLimit>> = {
  audit: { kibPerS: 16 * mib, burstKib: 256 * mib },
  audit_plus: { kibPerS: 64 * mib, burstKib: 1024 * mib },
  enterprise: { kibPerS: 256 * mib, burstKib: 4096 * mib },
};

/** How many bytes of a body Envoy takes in before it is refused: a client that is still writing reads no reply. */
export const heldBodyBytes = 18 * 1024 * 1024;

/** A body below this many KiB costs nothing. */
export const freeBodyKib = 64;
/** What a body without a `Content-Length` costs, KiB: the most that it can have, since its size is not known beforehand. */
export const unsizedBodyKib = 10 * mib;

/** How many streams an Enterprise account may have open if no other number was agreed. */
export const enterpriseStreams = 100;

/** How much of the account's limits one key of an Enterprise account may use. Null means as much as the account. */
export interface KeyLimits {
  /** Both or neither. */
  readonly ratePerS: number | null;
  readonly burst: number | null;
  readonly perDay: number | null;
  readonly streams: number | null;
}

/** The limits that can be in shadow mode: counted and reported, refusing nothing. `rate` stands for rate and burst. */
export const shadowLimits = ['rate', 'day', 'streams'] as const;
export type ShadowLimit = (typeof shadowLimits)[number];

/** The limit of reads of receipts, usage, audit log and keys: requests per second and burst, outside the day budget. */
export const managementLimits = { ratePerS: 10, burst: 50 } as const;
