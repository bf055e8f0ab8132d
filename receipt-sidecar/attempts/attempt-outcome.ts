/** Classifies how an attempt at a deployment ended, from its status, its headers or its entry in Envoy's access log. */
import { type OperatorFault, operatorFaultHeader, operatorFaults } from '@gw/contract/internal/operator-faults';
import { waitMs } from '@gw/contract/internal/retry-after';
import {
  atCapacityHeader,
  credentialMissingHeader,
  notReadyHeader,
  unhealthyHeader,
} from '@gw/contract/internal/snapshot';
import type { AccessLogEntry } from '@gw/envoy/shown-receipt';
import type { Headers } from '../wire/ext-proc.ts';

/** Why an attempt failed, as `routing_trace` shows it; `failed` if the reason is unknown. */
export const attemptOutcomes = [
  'no_connection',
  'connection_lost',
  'timed_out',
  'rate_limited',
  'server_error',
  ...operatorFaults,
  'no_credential',
  'at_capacity',
  'unhealthy',
  'not_ready',
  'failed',
] as const;
export type AttemptOutcome = (typeof attemptOutcomes)[number];

/**
 * An attempt tells this about the health of its deployment. `busy`: the provider is overloaded. `down`: it could not be reached, did not
 * answer in time, or returned 502 to 504. `failed`: any other failure, which the request itself may have caused. `full`: the deployment
 * has reached its own limit of concurrent requests and was not asked, so this says nothing about its health. `needs_operator`: it
 * answers no call until its operator acts.
 */
export const attemptResults = ['answered', 'busy', 'down', 'failed', 'full', 'needs_operator'] as const;
export type AttemptResult = (typeof attemptResults)[number];

export interface AttemptVerdict {
  readonly result: AttemptResult;
  /** When the provider wants to be asked again, ms; null if it did not say. */
  readonly retryAfterMs: number | null;
}

/** A reply in the name of a deployment, as far as it tells about its health. */
export interface JudgedReply {
  readonly status: number;
  /** Why the deployment needs its operator, as Envoy has found out; null if it does not. */
  readonly fault: OperatorFault | null;
  /** When the provider wants to be asked again, ms; null if it did not say, or if its status is of another kind. */
  readonly waitMs: number | null;
}

/** Anthropic's status for an overloaded provider. */
const overloaded = 529;

/** `now`: ms since 1970. */
export function judgedReply(
  header: (name: string) => string | undefined,
  status = Number(header(':status')),
  now = Date.now(),
): JudgedReply {
  const found = header(operatorFaultHeader);
  const fault = operatorFaults.find((each) => each === found) ?? null;
  const isTold = fault === null && (status === 429 || status === 503 || status === overloaded);
  return { status, fault, waitMs: isTold ? waitMs(header, now) : null };
}

/**
 * A 503 that does not say when to come back can have any cause, so it is not `busy`. A 403 does not always mean the credential: a
 * provider's firewall may have refused the client's text, so it counts as `failed`.
 */
export function verdictOf({ fault, status, waitMs: retryAfterMs }: JudgedReply): AttemptVerdict {
  if (fault !== null) return { result: status === 403 ? 'failed' : 'needs_operator', retryAfterMs };
  if (status < 500 && status !== 429) return { result: 'answered', retryAfterMs };
  if (status === 429 || status === overloaded || retryAfterMs !== null) return { result: 'busy', retryAfterMs };
  return { result: status >= 502 && status <= 504 ? 'down' : 'failed', retryAfterMs };
}

export function outcomeOf({ commonProperties, response }: AccessLogEntry): AttemptOutcome {
  const flags = commonProperties?.responseFlags;
  if (response?.responseHeaders?.[credentialMissingHeader]) return 'no_credential';
  if (response?.responseHeaders?.[atCapacityHeader]) return 'at_capacity';
  if (flags?.noHealthyUpstream) return 'unhealthy';
  if (flags?.upstreamConnectionFailure || flags?.dnsResolutionFailure || flags?.noClusterFound) return 'no_connection';
  if (flags?.upstreamConnectionTermination || flags?.upstreamRemoteReset || flags?.upstreamProtocolError)
    return 'connection_lost';
  return outcomeOfReply(repliedIn(response));
}

/** Returns the reply that an entry of the access log is about. Without a status, the main route cancelled the attempt when its time was up. */
export const repliedIn = (response: AccessLogEntry['response']): JudgedReply =>
  judgedReply((name) => response?.responseHeaders?.[name], response?.responseCode?.value || 504);

/** Takes a reply for which `verdictOf` reports a failure. */
export function outcomeOfReply({ fault, status }: JudgedReply): Exclude<AttemptOutcome, 'failed'> {
  if (fault !== null) return fault;
  if (status === 429) return 'rate_limited';
  return status === 504 ? 'timed_out' : 'server_error';
}

const outcomeByHeader = [
  [credentialMissingHeader, 'no_credential'],
  [atCapacityHeader, 'at_capacity'],
  [unhealthyHeader, 'unhealthy'],
  [notReadyHeader, 'not_ready'],
] as const;

/** Returns why Envoy replied in place of a provider; null if the reply is a provider's. */
export const ownOutcome = (headers: Headers): (typeof outcomeByHeader)[number][1] | null =>
  outcomeByHeader.find(([header]) => headers.has(header))?.[1] ?? null;
