/**
 * A lease lets Envoy admit further calls of a key without a check of each (docs/decisions/0052-leases.md).
 *
 * Envoy's Lua filter requests it (`envoy/lease.lua`) and has no codec, so the messages of this method are lines of text.
 */

export const leasePath = '/gw.lease.v1.Leases/Grant';

/** Validity of a lease, ms, from the request for it. */
export const leaseLifeMs = 200;

/** A key with a second call within this time, ms, is busy enough for a lease. */
export const leaseBusyMs = 200;

/** Pause, ms, after a refused lease. */
export const leasePauseMs = 1000;

export const mostLeasedCalls = 50;

/** A call with a larger body, KiB, is checked by itself: of such calls a lease would let in too many bytes before they are counted. */
export const mostLeasedBodyKib = 63;

/** Metadata field of a leased call with its limits at the time of the lease: `<header>=<value> …`. */
export const leasedLimitsField = 'leased_limits';

export interface LeaseQuestion {
  readonly scope: string;
  /** The header as the client sent it. */
  readonly authorization: string;
}

export interface Lease {
  readonly calls: number;
  readonly accountId: string;
  readonly keyId: string;
  /** The limit headers in the form of `leasedLimitsField`. */
  readonly limits: string;
  /** The caller for the sidecar, with the limits of its calls in `leased`. The same for all leases of a key. */
  readonly caller: string;
}

export function readLeaseQuestion(text: string): LeaseQuestion {
  const end = text.indexOf('\n');
  return { scope: text.slice(0, Math.max(end, 0)), authorization: text.slice(end + 1) };
}

/** Encodes a lease, or null for none: a line of words (later releases may add some), a line of headers, and the caller. */
export const leaseText = (lease: Lease | null): string =>
  lease === null ? '' : `${lease.calls} ${lease.accountId} ${lease.keyId}\n${lease.limits}\n${lease.caller}`;
