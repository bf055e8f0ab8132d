/**
 * Puts a reply on the wire, at its pace, or breaks it on the way as the faults ask.
 *
 * Invariant: nothing goes on after the client has gone; every timer ends with the response.
 */
import type { ServerResponse } from 'node:http';
import { gzipSync } from 'node:zlib';
import type { Directives } from './directives.ts';
import type { Holds } from './holds.ts';
import { delayMs, startPace } from './pace.ts';
import type { JsonReply, Reply, ReplyHeaders, StreamReply } from './reply.ts';
import { randomNumbers } from './seed.ts';
import { slice } from './text.ts';

export interface Timing {
  /** A monotonic clock in milliseconds. */
  readonly now: () => number;
  readonly holds: Holds;
}

/** Headers that a provider might send and a gateway has no reason to pass on. */
const PROVIDER_HEADERS = { 'x-sim-provider': 'simulator', 'set-cookie': 'sim_session=1' } as const;
/** What a dishonest provider could claim of the gateway, or make a browser do. */
const FORGED_HEADERS = {
  'x-gw-finished': '1',
  'x-gw-overhead-ms': '987654.32',
  'x-gw-request-us': '987654321',
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

/** Where a stream without a pace is held in its middle. */
const FASTEST_PER_SECOND = 1_000_000;

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

/** Pieces of 1 to 24 bytes, each in a turn of its own, so that characters and events are cut anywhere. The last is left to `end`. */
function writePieces(res: ServerResponse, bytes: Uint8Array, end: (last: Uint8Array) => void): void {
  const random = randomNumbers(bytes.length);
  let position = 0;
  const next = (): void => {
    if (res.destroyed) return;
    const piece = bytes.subarray(position, position + 1 + Math.floor(random() * 24));
    position += piece.length;
    if (position >= bytes.length) end(piece);
    else if (res.write(piece)) setImmediate(next);
    else res.once('drain', next);
  };
  next();
}

function sendBytes(
  res: ServerResponse,
  { headers, status }: { readonly status: number; readonly headers: ReplyHeaders },
  text: string,
  directives: Directives,
  { holds }: Timing,
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
  const write = (part: Uint8Array, end: (last: Uint8Array) => void) =>
    directives.faults.has('split') ? writePieces(res, part, end) : end(part);
  const writeRest = (from: number) => write(sent.subarray(from), (last) => finish(res, last, ending));
  if (directives.hold?.at !== 'middle') {
    writeRest(0);
    return;
  }
  // Between two events, if it is a stream: what holds half an event may make of it what it likes after a while.
  const boundary = sent.lastIndexOf('\n\n', sent.length >> 1);
  const half = boundary < 0 ? sent.length >> 1 : boundary + 2;
  write(sent.subarray(0, half), (last) => {
    res.write(last);
    holds.pass(res, directives.hold, 'middle', () => writeRest(half));
  });
}

function sendJson(res: ServerResponse, reply: JsonReply, directives: Directives, timing: Timing): void {
  const { faults, hold } = directives;
  const headers = {
    ...providerHeaders(directives),
    'content-type': reply.contentType,
    'content-length': String(Buffer.byteLength(reply.body)),
    ...reply.headers,
  };
  if (faults.size > 0 || hold !== null) {
    sendBytes(res, { status: reply.status, headers }, reply.body, directives, timing);
  } else {
    res.writeHead(reply.status, headers);
    // Node sends headers and body in one write if the body is a string.
    res.end(reply.body);
  }
}

/** Events one by one at their pace, or all in one write if the pace is 0 and nothing is to wait in their middle. */
function sendEvents(res: ServerResponse, reply: StreamReply, directives: Directives, { holds, now }: Timing): void {
  const { head, tokens, tail } = reply;
  const perSecond = directives.tokensPerSecond ?? reply.tokensPerSecond;
  const ending = endingOf(directives);
  const whole = isWhole(ending, directives);
  const count = whole ? tokens.length : tokens.length >> 1;
  const halfEvent = tokens.at(count)?.slice(0, 40) ?? '';
  const rest = whole ? tail.join('') : halfEvent;
  const isHeld = directives.hold?.at === 'middle';
  res.writeHead(200, { ...providerHeaders(directives), ...SSE_HEADERS, ...reply.headers });
  if ((perSecond === 0 && !isHeld) || count === 0) {
    finish(res, [...head, ...slice(tokens, 0, count), rest].join(''), ending);
    return;
  }
  if (head.length > 0) res.write(head.join(''));
  const paced = (from: number, to: number, done: () => void): void => {
    const emit = (first: number, end: number): void => {
      for (const event of slice(tokens, from + first, from + end)) res.write(event);
    };
    const stop = startPace({ count: to - from, perSecond: perSecond || FASTEST_PER_SECOND, emit, done }, now);
    res.once('close', stop);
  };
  const pacedRest = (from: number): void => paced(from, count, () => finish(res, rest, ending));
  const half = count >> 1;
  if (isHeld) paced(0, half, () => holds.pass(res, directives.hold, 'middle', () => pacedRest(half)));
  else pacedRest(0);
}

/** `split` and `gzip` are about bytes: they send the whole stream without a pace. */
function sendStream(res: ServerResponse, reply: StreamReply, directives: Directives, timing: Timing): void {
  const { faults } = directives;
  if (faults.has('split') || faults.has('gzip')) {
    const headers = { ...providerHeaders(directives), ...SSE_HEADERS, ...reply.headers };
    const text = [...reply.head, ...slice(reply.tokens), ...reply.tail].join('');
    sendBytes(res, { status: 200, headers }, text, directives, timing);
  } else {
    sendEvents(res, reply, directives, timing);
  }
}

/** Sends the reply once it is released, and after its delay. */
export function deliver(res: ServerResponse, reply: Reply, directives: Directives, timing: Timing): void {
  const { faults } = directives;
  if (faults.has('stall')) return;
  const send = (): void => {
    if (faults.has('reset')) res.socket?.resetAndDestroy();
    else if (reply.kind === 'json') sendJson(res, reply, directives, timing);
    else sendStream(res, reply, directives, timing);
  };
  const waitMs = delayMs(reply, directives);
  timing.holds.pass(res, directives.hold, 'start', () => {
    if (waitMs === 0) {
      send();
    } else {
      const timer = setTimeout(send, waitMs);
      res.once('close', () => clearTimeout(timer));
    }
  });
}
