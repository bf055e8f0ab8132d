/**
 * Sends a reply at its pace, or breaks it as the faults request.
 *
 * Invariant: nothing continues after the client has disconnected; every timer ends with the response.
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

/** Headers that a provider might send and a gateway should not pass on. */
const PROVIDER_HEADERS = { 'x-sim-provider': 'simulator', 'set-cookie': 'sim_session=1' } as const;
/** Headers of a dishonest provider that imitate the gateway or affect browsers. */
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

/** How a reply ends. `cut` and `stall` send half a reply, or one that lacks only its end. */
type Ending = 'complete' | 'cut' | 'stall';

/** The pace of an unpaced stream that is held in its middle. */
const FASTEST_PER_SECOND = 1_000_000;

const stalls = ['stall-mid', 'stall-end', 'stall-energy'] as const;

function endingOf({ faults }: Directives): Ending {
  if (faults.has('cut')) return 'cut';
  return stalls.some((fault) => faults.has(fault)) ? 'stall' : 'complete';
}

/** Whether the reply is complete except perhaps for its end marker. */
const isWhole = (ending: Ending, { faults }: Directives): boolean =>
  ending === 'complete' || faults.has('stall-end') || faults.has('stall-energy');

const providerHeaders = ({ faults }: Directives): Readonly<Record<string, string>> =>
  faults.has('own-headers') ? { ...PROVIDER_HEADERS, ...FORGED_HEADERS } : PROVIDER_HEADERS;

/** Writes the last bytes, then ends the response, cuts its connection, or leaves it open. */
function finish(res: ServerResponse, last: string | Uint8Array, ending: Ending): void {
  if (ending === 'complete') res.end(last);
  else res.write(last, () => ending === 'cut' && res.socket?.destroy());
}

/** Writes pieces of 1 to 24 bytes, each in its own turn, so that characters and events are split anywhere. `end` writes the last. */
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
  // Between two events of a stream, because a gateway may give up on half an event.
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

/** Sends events one by one at their pace, or all in one write if the pace is 0 and the stream is not held in its middle. */
function sendEvents(res: ServerResponse, reply: StreamReply, directives: Directives, { holds, now }: Timing): void {
  const { head, tokens, tail } = reply;
  const perSecond = directives.tokensPerSecond ?? reply.tokensPerSecond;
  const ending = endingOf(directives);
  const whole = isWhole(ending, directives);
  const count = whole ? tokens.length : tokens.length >> 1;
  const halfEvent = slice(tokens, count, count + 1)
    .join('')
    .slice(0, 40);
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

/** `split` and `gzip` work on bytes, and send the whole stream without a pace. */
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

/** Sends the reply after its release and its delay. */
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
