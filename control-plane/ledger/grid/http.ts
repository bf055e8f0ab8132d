/**
 * One GET to a grid source.
 *
 * Invariant: it ends, within `timeoutMs` and `maxBytes`; whatever goes wrong is a refusal, never an exception; and no
 * refusal repeats a url or header, since both may hold a key. Redirects are not followed: they would carry it away.
 */
import { dayMs } from '@gw/contract/internal/durations';
import type { GridRefusal } from './reading.ts';

export interface Http {
  readonly fetch: typeof fetch;
  readonly now: () => Date;
  /** The limit for the whole reply, body included. */
  readonly timeoutMs: number;
  readonly maxBytes: number;
}

export interface HttpReply {
  readonly status: number;
  readonly body: string;
  readonly fetchedAt: Date;
}

/** Never rejects. `also` lists statuses other than 200 whose body the caller wants to read. */
export async function get(
  http: Http,
  url: string,
  headers: Readonly<Record<string, string>> = {},
  also: readonly number[] = [],
): Promise<HttpReply | GridRefusal> {
  try {
    const response = await http.fetch(url, {
      headers: { accept: 'application/json, application/xml;q=0.9', ...headers },
      redirect: 'manual',
      signal: AbortSignal.timeout(http.timeoutMs),
    });
    if (response.status !== 200 && !also.includes(response.status)) {
      await response.body?.cancel();
      return refusalOf(response, http.now());
    }
    const body = await textWithin(response, http.maxBytes);
    if (body === null) return { refused: 'too_large', detail: `more than ${http.maxBytes} bytes` };
    return { status: response.status, body, fetchedAt: http.now() };
  } catch (error) {
    const timedOut = error instanceof Error && error.name === 'TimeoutError';
    return timedOut
      ? { refused: 'timeout', detail: `no whole reply within ${http.timeoutMs} ms` }
      : { refused: 'unreachable', detail: 'the connection failed' };
  }
}

/** Returns null if the body is longer than `maxBytes`. */
async function textWithin(response: Response, maxBytes: number): Promise<string | null> {
  const parts: Uint8Array[] = [];
  let bytes = 0;
  if (response.body === null) return '';
  for await (const part of response.body) {
    bytes += part.byteLength;
    if (bytes > maxBytes) return null;
    parts.push(part);
  }
  return Buffer.concat(parts).toString('utf8');
}

function refusalOf(response: Response, now: Date): GridRefusal {
  const { status } = response;
  const detail = `status ${status}`;
  const retryAfterMs = retryAfter(response.headers.get('retry-after'), now);
  const wait = retryAfterMs === null ? {} : { retryAfterMs };
  if (status === 401 || status === 403) return { refused: 'unauthorized', detail };
  if (status === 429) return { refused: 'rate_limited', detail, ...wait };
  if (status >= 500) return { refused: 'source_fault', detail, ...wait };
  return { refused: 'unexpected_status', detail };
}

const longestWaitMs = dayMs;

/** Reads `Retry-After` (seconds or an HTTP date) as ms from `now`, a day at most; null if it is absent or malformed. */
export function retryAfter(text: string | null, now: Date): number | null {
  if (text === null) return null;
  const ms = /^\s*\d+\s*$/.test(text) ? Number(text) * 1000 : Date.parse(text) - now.getTime();
  return Number.isNaN(ms) ? null : Math.min(Math.max(ms, 0), longestWaitMs);
}
