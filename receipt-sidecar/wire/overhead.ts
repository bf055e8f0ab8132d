/**
 * Measures the gateway's share of a call's duration: from the last byte of the request until it was sent to the provider, and from the last
 * byte of a JSON reply until the sidecar has finished with it. It excludes the provider's time and that of a client that sends slowly.
 */
import { overheadHeader, requestTimeHeader } from '@gw/contract/internal/overhead';
import { Histogram, type Registry } from 'prom-client';
import { type Headers, setHeader } from './ext-proc.ts';

export interface Overhead {
  /** Returns the header of the reply; none if Envoy's part is unknown. `repliedAt`: when the reply was complete; null for a stream. */
  headers(repliedAt: number | null): readonly ReturnType<typeof setHeader>[];
}

export interface OverheadMetrics {
  /** Reads Envoy's part of a reply. */
  of(headers: Headers, attempts: number): Overhead;
  register(registry: Registry): void;
}

/** `onTook` gets the gateway's share of each call, ms. */
export function createOverheadMetrics(
  now: () => number,
  onTook: (ms: number) => void = () => undefined,
): OverheadMetrics {
  const seconds = new Histogram({
    name: 'gw_overhead_seconds',
    help: 'Time that the gateway took of a call: before the provider was asked, and behind its whole JSON reply',
    labelNames: ['phase'],
    buckets: [0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 1, 5],
    registers: [],
  });
  return {
    of(headers, attempts) {
      const requestMs = requestMsOf(headers, attempts);
      if (requestMs !== null) seconds.observe({ phase: 'request' }, requestMs / 1000);
      return {
        headers(repliedAt) {
          const replyMs = repliedAt === null ? 0 : now() - repliedAt;
          if (repliedAt !== null) seconds.observe({ phase: 'reply' }, replyMs / 1000);
          if (requestMs === null) return [];
          onTook(requestMs + replyMs);
          return [setHeader(overheadHeader, (requestMs + replyMs).toFixed(2))];
        },
      };
    },
    register: (registry) => registry.registerMetric(seconds),
  };
}

/** Returns null if Envoy did not report it, or if it includes failed attempts at other providers. */
function requestMsOf(headers: Headers, attempts: number): number | null {
  const told = headers.get(requestTimeHeader) ?? '';
  return attempts === 1 && /^\d{1,12}$/.test(told) ? Number(told) / 1000 : null;
}
