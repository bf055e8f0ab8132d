/** Classifies how an attempt at a deployment ended, from its status, its headers or its entry in Envoy's access log. */
import { atCapacityHeader, credentialMissingHeader, unhealthyHeader } from '@gw/contract/internal/snapshot';
import type { AccessLogEntry } from '@gw/envoy/shown-receipt';
import type { Headers } from '../wire/ext-proc.ts';

/** Why an attempt failed, as `routing_trace` shows it; `failed` if the reason is unknown. */
export const attemptOutcomes = [
  'no_connection',
  'connection_lost',
  'timed_out',
  'rate_limited',
  'server_error',
  'no_credential',
  'at_capacity',
  'unhealthy',
  'failed',
] as const;
export type AttemptOutcome = (typeof attemptOutcomes)[number];

/**
 * An attempt tells this about the health of its deployment. `busy`: the provider is overloaded. `down`: it could not be reached, did not
 * answer in time, or returned 502 to 504. `failed`: any other failure, which the request itself may have caused. `full`: the deployment
 * has reached its own limit of concurrent requests and was not asked, so this says nothing about its health.
 */
export const attemptResults = ['answered', 'busy', 'down', 'failed', 'full'] as const;
export type AttemptResult = (typeof attemptResults)[number];

export interface AttemptVerdict {
  readonly result: AttemptResult;
  /** The provider's `Retry-After`, ms; null if it sent none. */
  readonly retryAfterMs: number | null;
}

/** Anthropic's status for an overloaded provider. */
const overloaded = 529;

/** Only a `Retry-After` in seconds counts. A 503 without one can have any cause, so it is not `busy`. */
export function verdictOf(status: number, retryAfter: string | undefined): AttemptVerdict {
  if (status < 500 && status !== 429) return { result: 'answered', retryAfterMs: null };
  const isBusy = status === 429 || status === overloaded;
  const seconds = isBusy || status === 503 ? Number(retryAfter ?? Number.NaN) : Number.NaN;
  const retryAfterMs = seconds > 0 ? seconds * 1000 : null;
  if (isBusy || retryAfterMs !== null) return { result: 'busy', retryAfterMs };
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
  return outcomeOfStatus(response?.responseCode?.value || 504);
}

/** Takes a status for which `verdictOf` reports a failure. */
export function outcomeOfStatus(status: number): Exclude<AttemptOutcome, 'failed'> {
  if (status === 429) return 'rate_limited';
  return status === 504 ? 'timed_out' : 'server_error';
}

const outcomeByHeader = [
  [credentialMissingHeader, 'no_credential'],
  [atCapacityHeader, 'at_capacity'],
  [unhealthyHeader, 'unhealthy'],
] as const;

/** Returns why Envoy replied in place of a provider; null if the reply is a provider's. */
export const ownOutcome = (headers: Headers): (typeof outcomeByHeader)[number][1] | null =>
  outcomeByHeader.find(([header]) => headers.has(header))?.[1] ?? null;
