/**
 * One GET to a grid source.
 *
 * Invariant: it ends, within `timeoutMs` and `maxBytes`; whatever goes wrong is a refusal, never an exception; and no
 * refusal repeats a url or header, since both may hold a key. Redirects are not followed: they would carry it away.
 */
import type { IncomingHttpHeaders } from 'node:http';
import { retryAfter } from '@gw/contract/internal/retry-after';
import type { AddressGuard } from '@gw/service/address-guard';
import { type GuardedFailure, guardedRequest } from '@gw/service/guarded-request';
import type { GridRefusal } from './reading.ts';

export interface Http {
  readonly guard: AddressGuard;
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
  const isWanted = (status: number) => status === 200 || also.includes(status);
  const outcome = await guardedRequest(http.guard, {
    method: 'GET',
    url,
    timeoutMs: http.timeoutMs,
    maxBytes: http.maxBytes,
    readsBody: isWanted,
    headers: { accept: 'application/json, application/xml;q=0.9', ...headers },
  });
  if (!outcome.ok) return failed(outcome.error, http);
  const { body, headers: replied, status } = outcome.value;
  return isWanted(status) ? { status, body, fetchedAt: http.now() } : refusalOf(status, replied, http.now());
}

function failed({ reason, text }: GuardedFailure, { maxBytes, timeoutMs }: Http): GridRefusal {
  if (reason === 'timeout') return { refused: 'timeout', detail: `no whole reply within ${timeoutMs} ms` };
  if (reason === 'too_large') return { refused: 'too_large', detail: `more than ${maxBytes} bytes` };
  // The error of a connection can contain the address.
  return { refused: 'unreachable', detail: reason === 'refused' ? text : 'the connection failed' };
}

function refusalOf(status: number, headers: IncomingHttpHeaders, now: Date): GridRefusal {
  const detail = `status ${status}`;
  const retryAfterMs = retryAfter(headers['retry-after'], now.getTime());
  const wait = retryAfterMs === null ? {} : { retryAfterMs };
  if (status === 401 || status === 403) return { refused: 'unauthorized', detail };
  if (status === 429) return { refused: 'rate_limited', detail, ...wait };
  if (status >= 500) return { refused: 'source_fault', detail, ...wait };
  return { refused: 'unexpected_status', detail };
}
