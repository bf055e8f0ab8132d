/**
 * A request to a configured address: a provider, Prometheus, a grid source, an identity provider.
 *
 * Invariant: it ends within `timeoutMs` and `maxBytes`. It never goes to an address that the guard refuses, since the guard judges the
 * resolved addresses that are connected to. Redirects are not followed.
 */
import { Agent as HttpAgent, type IncomingHttpHeaders, type IncomingMessage, request as overHttp } from 'node:http';
import { Agent as HttpsAgent, request as overHttps } from 'node:https';
import { isIP, type LookupFunction } from 'node:net';
import type { SecureContextOptions } from 'node:tls';
import { elementAt } from '@gw/contract/internal/defined';
import { errorText } from '@gw/contract/internal/error-text';
import { err, ok, type Result } from '@gw/contract/internal/result';
import { type AddressGuard, AddressRefused, targetOf } from './address-guard.ts';

export interface GuardedRequest {
  readonly method: 'GET' | 'POST';
  readonly url: string;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: string;
  /** PEM of the authorities to trust; default: those of Node. */
  readonly ca?: string;
  /** Takes the request in place of the host of `url`, by TLS if `url` is https. Its address comes from settings and is not judged. */
  readonly via?: Via;
  /** Limit for the whole reply, including the body. */
  readonly timeoutMs: number;
  readonly maxBytes: number;
  /** Whether to read the body; otherwise it is empty. Default: always. */
  readonly readsBody?: (status: number) => boolean;
}

/** A Unix socket, or a host that shows and asks for certificates. */
export type Via =
  | { readonly socketPath: string }
  | { readonly host: string; readonly port: number; readonly tls: SecureContextOptions };

export interface GuardedReply {
  readonly status: number;
  readonly headers: IncomingHttpHeaders;
  readonly body: string;
}

export interface GuardedFailure {
  readonly reason: 'refused' | 'timeout' | 'too_large' | 'unreachable';
  /** Part of a sentence, without headers or body. */
  readonly text: string;
  /** Error code of the system (`ECONNREFUSED`, `ENOTFOUND`, …), or empty. */
  readonly code: string;
}

/** Idle connections are closed before most servers would close them, which avoids a race. */
const idleMs = 4000;
/** Pooled connections are safe because each was opened with `lookup`. */
const pool = { keepAlive: true, timeout: idleMs, maxFreeSockets: 8 };
interface Agents {
  readonly http: HttpAgent;
  readonly https: HttpsAgent;
}
const agents = new WeakMap<AddressGuard, Agents>();

/** Guards do not share agents, because another guard might refuse the connections. */
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
    // Node does not call `lookup` for an IP address.
    if (isIP(hostname) !== 0 && given.via === undefined)
      await Promise.race([guard.admitted(hostname, port), aborted(signal)]);
    return await sent(guard, given, { port, signal });
  } catch (error) {
    if (error instanceof AddressRefused || signal.aborted) return err(failureOf(error, given));
    // An invalid header throws synchronously, and the message would contain it.
    return err({ reason: 'unreachable', text: 'its headers cannot be sent', code: '' });
  }
}

const aborted = (signal: AbortSignal): Promise<never> =>
  new Promise((_, reject) => {
    signal.addEventListener('abort', () => reject(signal.reason), { once: true });
  });

function sent(
  guard: AddressGuard,
  given: GuardedRequest,
  { port, signal }: { readonly port: number; readonly signal: AbortSignal },
): Promise<Result<GuardedReply, GuardedFailure>> {
  const { body, ca, headers, method, readsBody = () => true, url, via } = given;
  const { http, https } = agentsOf(guard);
  return new Promise((resolve) => {
    const failed = (cause: unknown) => resolve(err(failureOf(signal.aborted ? signal.reason : cause, given)));
    const options = {
      method,
      signal,
      ...(ca !== undefined && { ca }),
      ...(via === undefined ? { lookup: judgedLookup(guard, port) } : connectionTo(via)),
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
      ? overHttps(url, { agent: https, ...options }, take)
      : overHttp(url, { agent: http, ...options }, take);
    request.on('error', failed);
    request.end(body);
  });
}

/** A connection of its own: such requests are rare. Certificates of the private authority name no host. */
function connectionTo(via: Via): object {
  if ('socketPath' in via) return { agent: false, ...via };
  const { host, port, tls } = via;
  return { agent: false, host, port, ...tls, checkServerIdentity: () => undefined };
}

interface ReplyCallbacks {
  readonly done: (text: string) => void;
  readonly failed: (cause: unknown) => void;
}

class TooLarge extends Error {}

function collect(response: IncomingMessage, { maxBytes }: GuardedRequest, { done, failed }: ReplyCallbacks): void {
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
    return { reason: 'refused', text: `its address is not allowed (${cause.message})`, code: '' };
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
        if (all) return callback(null, [...addresses]);
        const { address, family } = elementAt(addresses, 0);
        callback(null, address, family);
      },
      (error: Error) => callback(error, ''),
    );
  };
