/**
 * A log of requests in memory, so that tests can check what reached a provider.
 *
 * Invariant: the counter includes every request to the provider's API, also failed ones. Only the hash of a body is kept.
 */
import { headerList } from './echo.ts';

const KEPT = 4096;

export type RequestOutcome = 'open' | 'complete' | 'broken_by_simulator' | 'closed_by_client';

export interface LogEntry {
  readonly sequence: number;
  readonly method: string;
  readonly path: string;
  readonly rawHeaders: readonly string[];
  bodyBytes: number;
  bodySha256: string | null;
  outcome: RequestOutcome;
  /** Null before the response headers are sent. */
  status: number | null;
}

export interface RequestLog {
  add(method: string, path: string, rawHeaders: readonly string[]): LogEntry;
  /** Returns the last `limit` requests in order, as JSON-ready objects. */
  last(limit: number, marker: string | null): object[];
  /** Counts all requests since the start, or those among the last 4,096 with this `x-sim-marker`. */
  count(marker: string | null): { count: number; open: number };
}

function isMarked(entry: LogEntry, marker: string): boolean {
  const { rawHeaders } = entry;
  for (let i = 0; i < rawHeaders.length; i += 2) {
    if (rawHeaders[i]?.toLowerCase() === 'x-sim-marker' && rawHeaders[i + 1] === marker) return true;
  }
  return false;
}

function show(entry: LogEntry): object {
  const { sequence, method, path, bodyBytes, bodySha256, outcome, status } = entry;
  return {
    sequence,
    method,
    path,
    headers: headerList(entry.rawHeaders),
    body_bytes: bodyBytes,
    body_sha256: bodySha256,
    outcome,
    status,
  };
}

export function createRequestLog(): RequestLog {
  /** A ring buffer: entry n is at n modulo its size. */
  const ring: LogEntry[] = [];
  let total = 0;
  const kept = (marker: string | null): LogEntry[] => {
    const inOrder = total <= KEPT ? ring : [...ring.slice(total % KEPT), ...ring.slice(0, total % KEPT)];
    return marker === null ? [...inOrder] : inOrder.filter((entry) => isMarked(entry, marker));
  };
  return {
    add(method, path, rawHeaders) {
      const entry: LogEntry = {
        sequence: total,
        method,
        path,
        rawHeaders,
        bodyBytes: 0,
        bodySha256: null,
        outcome: 'open',
        status: null,
      };
      ring[total % KEPT] = entry;
      total++;
      return entry;
    },
    last: (limit, marker) => (limit > 0 ? kept(marker).slice(-limit).map(show) : []),
    count(marker) {
      const entries = kept(marker);
      return {
        count: marker === null ? total : entries.length,
        open: entries.filter((entry) => entry.outcome === 'open').length,
      };
    },
  };
}
