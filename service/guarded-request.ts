/**
 * One request to an address that somebody has named: a provider, Prometheus, a grid source, an identity provider.
 *
 * Invariant: it ends, within `timeoutMs` and `maxBytes`; it never goes to an address that the guard refuses, whatever DNS says
 * of the name, since what was resolved is judged and then connected to; redirects are not followed.
 */
import { Agent as HttpAgent, type IncomingHttpHeaders, type IncomingMessage, request as overHttp } from 'node:http';
import { Agent as HttpsAgent, request as overHttps } from 'node:https';
import { isIP, type LookupFunction } from 'node:net';
import { errorText } from '@gw/contract/internal/error-text';
import { err, ok, type Result } from '@gw/contract/internal/result';
import { type AddressGuard, AddressRefused, targetOf } from './address-guard.ts';

export interface GuardedRequest {
  readonly method: 'GET' | 'POST';
  readonly url: string;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: string;
  /** The limit for the whole reply, body included. */
  readonly timeoutMs: number;
  readonly maxBytes: number;
  /** Of which replies the body is read; of all, unless given. Of the others it is empty. */
  readonly readsBody?: (status: number) => boolean;
}

export interface GuardedReply {
  readonly status: number;
  readonly headers: IncomingHttpHeaders;
  readonly body: string;
}

export interface GuardedFailure {
  readonly reason: 'refused' | 'timeout' | 'too_large' | 'unreachable';
  /** Part of a sentence, without header or body. */
  readonly text: string;
  /** What the system calls it: `ECONNREFUSED`, `ENOTFOUND`, …; empty if it has no name for it. */
  readonly code: string;
}

/** Connections without a request are closed after this. Then a server that closes its own is seldom met in the act. */
const idleMs = 4000;
/** Each connection was judged when it was opened: all that use these agents bring `lookup`. */
const pool = { keepAlive: true, timeout: idleMs, maxFreeSockets: 8 };
interface Agents {
  readonly http: HttpAgent;
  readonly https: HttpsAgent;
}
const agents = new WeakMap<AddressGuard, Agents>();

/** What one guard has admitted, another might not. */
function agentsOf(guard: AddressGuard): Agents {
  const known = agents.get(guard) ?? { http: new HttpAgent(pool), https: new HttpsAgent(pool) };
  agents.set(guard, known);
  return known;
}

/** Never rejects. */
export async function guardedRequest(
  guard: AddressGuard,
  given: GuardedRequest,
): Promise<Result<GuardedReply, GuardedFailure>> {
  const { hostname, port } = targetOf(given.url);
  const signal = AbortSignal.timeout(given.timeoutMs);
  try {
    // A number is connected to without any look-up.
    if (isIP(hostname) !== 0) await Promise.race([guard.admitted(hostname, port), aborted(signal)]);
    return await sent(guard, given, { port, signal });
  } catch (error) {
    if (error instanceof AddressRefused || signal.aborted) return err(failureOf(error, given));
    // A header that cannot be sent throws at once; the message would repeat it.
    return err({ reason: 'unreachable', text: 'its headers cannot be sent', code: '' });
  }
}

/** Rejects once the time is over. */
const aborted = (signal: AbortSignal): Promise<never> =>
  new Promise((_, reject) => {
    signal.addEventListener('abort', () => reject(signal.reason), { once: true });
  });

function sent(
  guard: AddressGuard,
  given: GuardedRequest,
  { port, signal }: { readonly port: number; readonly signal: AbortSignal },
): Promise<Result<GuardedReply, GuardedFailure>> {
  const { body, headers, method, readsBody = () => true, url } = given;
  const { http, https } = agentsOf(guard);
  return new Promise((resolve) => {
    const failed = (cause: unknown) => resolve(err(failureOf(signal.aborted ? signal.reason : cause, given)));
    const options = {
      ...{ method, signal, lookup: judgedLookup(guard, port) },
      headers: { 'user-agent': 'gw', 'accept-encoding': 'identity', ...headers },
    };
    const take = (response: IncomingMessage) => {
      const { headers: replied, statusCode: status = 0 } = response;
      const done = (text: string) => resolve(ok({ status, headers: replied, body: text }));
      if (readsBody(status)) return collect(response, given, { done, failed });
      done('');
      return response.destroy();
    };
    const request = url.startsWith('https:')
      ? overHttps(url, { ...options, agent: https }, take)
      : overHttp(url, { ...options, agent: http }, take);
    request.on('error', failed);
    request.end(body);
  });
}

interface Ends {
  readonly done: (text: string) => void;
  readonly failed: (cause: unknown) => void;
}

class TooLarge extends Error {}

function collect(response: IncomingMessage, { maxBytes }: GuardedRequest, { done, failed }: Ends): void {
  const parts: Buffer[] = [];
  let bytes = 0;
  response.on('data', (part: Buffer) => {
    bytes += part.length;
    if (bytes > maxBytes) {
      failed(new TooLarge());
      response.destroy();
    } else parts.push(part);
  });
  response.on('error', failed);
  response.once('end', () => done(Buffer.concat(parts).toString('utf8')));
}

function failureOf(cause: unknown, { maxBytes, timeoutMs }: GuardedRequest): GuardedFailure {
  if (cause instanceof AddressRefused)
    return { reason: 'refused', text: `its address is never asked (${cause.message})`, code: '' };
  if (cause instanceof TooLarge)
    return { reason: 'too_large', text: `it answers with more than ${maxBytes} bytes`, code: '' };
  if (cause instanceof DOMException && cause.name === 'TimeoutError')
    return { reason: 'timeout', text: `there was no whole reply within ${timeoutMs / 1000} s`, code: '' };
  const code = cause instanceof Error && 'code' in cause ? String(cause.code) : '';
  return { reason: 'unreachable', text: errorText(cause), code };
}

const judgedLookup =
  (guard: AddressGuard, port: number): LookupFunction =>
  (hostname, { all }, callback) => {
    guard.admitted(hostname, port).then(
      (addresses) => {
        const [first] = addresses;
        if (all) callback(null, [...addresses]);
        else callback(null, first?.address ?? '', first?.family);
      },
      (error: Error) => callback(error, ''),
    );
  };
