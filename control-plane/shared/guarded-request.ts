/**
 * One request to an address that an operator has named.
 *
 * Invariant: it ends, within `timeoutMs` and `maxBytes`; it never goes to an address that is refused, whatever DNS says of
 * the name, since what was resolved is judged and then connected to; redirects are not followed.
 */
import dns, { type LookupAddress } from 'node:dns';
import { request as overHttp } from 'node:http';
import { request as overHttps } from 'node:https';
import type { LookupFunction } from 'node:net';
import { errorText } from '@gw/contract/internal/error-text';
import { refusedHost } from '@gw/contract/internal/refused-host';
import { err, ok, type Result } from '@gw/contract/internal/result';

export interface GuardedRequest {
  readonly method: 'GET' | 'POST';
  readonly url: string;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: string;
  /** The limit for the whole reply, body included. */
  readonly timeoutMs: number;
  readonly maxBytes: number;
}

export interface GuardedReply {
  readonly status: number;
  readonly body: string;
}

/** Never rejects; the error is a sentence without header or body. */
export function guardedRequest({
  body,
  headers = {},
  maxBytes,
  method,
  timeoutMs,
  url,
}: GuardedRequest): Promise<Result<GuardedReply, string>> {
  const refused = refusedHost(url);
  if (refused !== null) return Promise.resolve(err(`its address is never asked: ${refused}`));
  return new Promise<Result<GuardedReply, string>>((resolve) => {
    const signal = AbortSignal.timeout(timeoutMs);
    const send = url.startsWith('https:') ? overHttps : overHttp;
    const failed = (cause: unknown) =>
      resolve(err(signal.aborted ? `there was no whole reply within ${timeoutMs / 1000} s` : errorText(cause)));
    // `agent: false`: a connection of its own, so that what was judged is what is connected to.
    const sent = send(url, { method, headers, signal, agent: false, lookup: judgedLookup }, (response) => {
      const parts: Buffer[] = [];
      let bytes = 0;
      response.on('data', (part: Buffer) => {
        bytes += part.length;
        parts.push(part);
        if (bytes <= maxBytes) return;
        failed(`it answers with more than ${maxBytes} bytes`);
        sent.destroy();
      });
      response.once('error', failed);
      response.once('end', () =>
        resolve(ok({ status: response.statusCode ?? 0, body: Buffer.concat(parts).toString('utf8') })),
      );
    });
    sent.once('error', failed);
    sent.end(body);
    // A header that cannot be sent throws at once; the message would repeat it.
  }).catch(() => err('its headers cannot be sent'));
}

const isRefused = ({ address, family }: LookupAddress): boolean =>
  refusedHost(`http://${family === 6 ? `[${address}]` : address}/`) !== null;

const judgedLookup: LookupFunction = (hostname, options, callback) => {
  dns.lookup(hostname, { ...options, all: true }, (error, addresses) => {
    if (error !== null) return callback(error, '');
    // One bad address is enough: which of them is taken, is not ours to say.
    if (addresses.some(isRefused))
      return callback(new Error(`${hostname} leads to an address that is never asked`), '');
    if (options.all) return callback(null, addresses);
    const [first] = addresses;
    return callback(null, first?.address ?? '', first?.family);
  });
};
