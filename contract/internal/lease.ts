/**
 * A lease: ext-authz lets some more calls of a key in without being asked about each of them (docs/decisions/0052-leases.md).
 *
 * Envoy's Lua filter asks for it (`envoy/lease.lua`) and has no codec, so the messages of this method are lines of text.
 */

/** The method of gRPC. */
export const leasePath = '/gw.lease.v1.Leases/Grant';

/** How long a lease is good for, ms, from when it was asked for. */
export const leaseLifeMs = 200;

/** A key that asks again within this time, ms, is busy enough to be given one. */
export const leaseBusyMs = 200;

/** Where there was no lease, the next one is asked for after this time, ms. */
export const leasePauseMs = 1000;

/** Calls of one lease, at most. */
export const mostLeasedCalls = 50;

/** The metadata of a leased call in which Envoy has its limits as they were when the lease was given: `<header>=<value> …`. */
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
  /** The headers of the limits, as `leasedLimitsField` has them. */
  readonly limits: string;
  /** What the sidecar learns of the caller, with what the calls draw on in `leased`. One text for all leases of a key. */
  readonly caller: string;
}

export function readLeaseQuestion(text: string): LeaseQuestion {
  const end = text.indexOf('\n');
  return { scope: text.slice(0, Math.max(end, 0)), authorization: text.slice(end + 1) };
}

/** Null: none. A first line of words, of which a later release may have more; a line of headers; the rest is the caller. */
export const leaseText = (lease: Lease | null): string =>
  lease === null ? '' : `${lease.calls} ${lease.accountId} ${lease.keyId}\n${lease.limits}\n${lease.caller}`;
