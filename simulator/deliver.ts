/**
 * Puts a reply on the wire, at its pace, or breaks it on the way as the faults ask.
 *
 * Invariant: nothing goes on after the client has gone; every timer ends with the response.
 */
import type { ServerResponse } from 'node:http';
import { gzipSync } from 'node:zlib';
import type { Directives } from './directives.ts';
import { delayMs, startPace } from './pace.ts';
import type { JsonReply, Reply, ReplyHeaders, StreamReply } from './reply.ts';
import { randomNumbers } from './seed.ts';
import { slice } from './text.ts';

/** Headers that a provider might send and a gateway has no reason to pass on. */
const PROVIDER_HEADERS = { 'x-sim-provider': 'simulator', 'set-cookie': 'sim_session=1' } as const;
/** What a dishonest provider could claim of the gateway, or make a browser do. */
const FORGED_HEADERS = {
  'x-gw-receipt-id': 'rcpt_forged',
  'x-gw-deployment': 'forged',
  'x-gw-cluster': 'forged',
  'x-request-id': 'forged',
  'x-envoy-upstream-service-time': '1',
  'x-ratelimit-remaining-requests': '0',
  'idempotent-replayed': 'true',
  'www-authenticate': 'Basic realm="forged"',
  location: 'https://forged.example.com/',
  server: 'forged',
} as const;
const SSE_HEADERS = {
  'content-type': 'text/event-stream; charset=utf-8',
  'cache-control': 'no-cache',
} as const;

/** How a reply ends: broken off and left hanging are for half a reply, or one that lacks only its end. */
type Ending = 'complete' | 'cut' | 'stall';

const stalls = ['stall-mid', 'stall-end', 'stall-energy'] as const;

function endingOf({ faults }: Directives): Ending {
  if (faults.has('cut')) return 'cut';
  return stalls.some((fault) => faults.has(fault)) ? 'stall' : 'complete';
}

/** Whether all that the reply has to say is said, even if its end is never marked. */
const isWhole = (ending: Ending, { faults }: Directives): boolean =>
  ending === 'complete' || faults.has('stall-end') || faults.has('stall-energy');

const providerHeaders = ({ faults }: Directives): Readonly<Record<string, string>> =>
  faults.has('own-headers') ? { ...PROVIDER_HEADERS, ...FORGED_HEADERS } : PROVIDER_HEADERS;

/** Writes the last bytes, then ends the response, breaks its connection off, or leaves it open. */
function finish(res: ServerResponse, last: string | Uint8Array, ending: Ending): void {
  if (ending === 'complete') res.end(last);
  else res.write(last, () => ending === 'cut' && res.socket?.destroy());
}

/** Pieces of 1 to 24 bytes, each in a turn of its own, so that characters and events are cut anywhere. */
function writePieces(res: ServerResponse, bytes: Uint8Array, ending: Ending): void {
  const random = randomNumbers(bytes.length);
  let position = 0;
  const next = (): void => {
    if (res.destroyed) return;
    const end = position + 1 + Math.floor(random() * 24);
    const piece = bytes.subarray(position, end);
    position = end;
    if (position >= bytes.length) finish(res, piece, ending);
    else if (res.write(piece)) setImmediate(next);
    else res.once('drain', next);
  };
  next();
}

function sendBytes(
  res: ServerResponse,
  status: number,
  headers: ReplyHeaders,
  text: string,
  directives: Directives,
): void {
  const zipped = directives.faults.has('gzip');
  const bytes = zipped ? gzipSync(text) : Buffer.from(text);
  const ending = endingOf(directives);
  const sent = isWhole(ending, directives) ? bytes : bytes.subarray(0, bytes.length >> 1);
  const isJson = 'content-length' in headers;
  res.writeHead(status, {
    ...headers,
    ...(isJson && { 'content-length': String(bytes.length) }),
    ...(zipped && { 'content-encoding': 'gzip' }),
  });
  if (directives.faults.has('split')) writePieces(res, sent, ending);
  else finish(res, sent, ending);
}

function sendJson(res: ServerResponse, reply: JsonReply, directives: Directives): void {
  const { faults } = directives;
  const headers = {
    ...providerHeaders(directives),
    'content-type': reply.contentType,
    'content-length': String(Buffer.byteLength(reply.body)),
    ...reply.headers,
  };
  if (faults.size > 0) {
    sendBytes(res, reply.status, headers, reply.body, directives);
  } else {
    res.writeHead(reply.status, headers);
    // Node sends headers and body in one write if the body is a string.
    res.end(reply.body);
  }
}

/** Events one by one at their pace, or all in one write if the pace is 0. */
function sendEvents(res: ServerResponse, reply: StreamReply, directives: Directives, now: () => number): void {
  const { head, tokens, tail } = reply;
  const perSecond = directives.tokensPerSecond ?? reply.tokensPerSecond;
  const ending = endingOf(directives);
  const whole = isWhole(ending, directives);
  const count = whole ? tokens.length : tokens.length >> 1;
  const halfEvent = tokens.at(count)?.slice(0, 40) ?? '';
  const rest = whole ? tail.join('') : halfEvent;
  res.writeHead(200, { ...providerHeaders(directives), ...SSE_HEADERS, ...reply.headers });
  if (perSecond === 0 || count === 0) {
    finish(res, [...head, ...slice(tokens, 0, count), rest].join(''), ending);
    return;
  }
  if (head.length > 0) res.write(head.join(''));
  const emit = (from: number, to: number): void => {
    for (const event of slice(tokens, from, to)) res.write(event);
  };
  const stop = startPace({ count, perSecond, emit, done: () => finish(res, rest, ending) }, now);
  res.once('close', stop);
}

/** `split` and `gzip` are about bytes: they send the whole stream without a pace. */
function sendStream(res: ServerResponse, reply: StreamReply, directives: Directives, now: () => number): void {
  const { faults } = directives;
  if (faults.has('split') || faults.has('gzip')) {
    sendBytes(
      res,
      200,
      { ...providerHeaders(directives), ...SSE_HEADERS, ...reply.headers },
      [...reply.head, ...slice(reply.tokens), ...reply.tail].join(''),
      directives,
    );
  } else {
    sendEvents(res, reply, directives, now);
  }
}

/** Sends the reply after its delay. `now` is a monotonic clock in milliseconds. */
export function deliver(res: ServerResponse, reply: Reply, directives: Directives, now: () => number): void {
  const { faults } = directives;
  if (faults.has('stall')) return;
  const send = (): void => {
    if (faults.has('reset')) res.socket?.resetAndDestroy();
    else if (reply.kind === 'json') sendJson(res, reply, directives);
    else sendStream(res, reply, directives, now);
  };
  const waitMs = delayMs(reply, directives);
  if (waitMs === 0) {
    send();
  } else {
    const timer = setTimeout(send, waitMs);
    res.once('close', () => clearTimeout(timer));
  }
}
