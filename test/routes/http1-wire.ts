/**
 * HTTP/1.1 by hand: what a test writes is what Envoy reads, and every reply that comes back is seen.
 *
 * Invariant: behind what is tried goes an innocent request that closes the connection. Its reply is the proof that
 * whatever else was taken for a request before it has been answered too.
 */
import { connect } from 'node:net';

export interface WireReply {
  readonly status: number;
  /** Names in lower case; of a repeated header the last value. */
  readonly headers: Readonly<Record<string, string>>;
  readonly text: string;
}

export interface Exchange {
  readonly replies: readonly WireReply[];
  /** How it ended: by the innocent request's reply, by the gateway, or since nothing came any more. */
  readonly end: 'answered' | 'closed' | 'silent';
}

const innocent = 'GET /healthz HTTP/1.1\r\nHost: innocent\r\nConnection: close\r\n\r\n';
const isInnocent = ({ status, text }: WireReply) => status === 200 && text === '{"status":"ok"}';

/** Chunks of a chunked body, joined; null while it is not whole. `size`: the bytes that it takes on the wire. */
function readChunked(bytes: Buffer): { text: string; size: number } | null {
  const parts: Buffer[] = [];
  for (let at = 0; ; ) {
    const lineEnd = bytes.indexOf('\r\n', at);
    if (lineEnd < 0) return null;
    const length = Number.parseInt(bytes.toString('latin1', at, lineEnd), 16);
    const from = lineEnd + 2;
    if (bytes.length < from + length + 2) return null;
    if (length === 0) return { text: Buffer.concat(parts).toString(), size: from + 2 };
    parts.push(bytes.subarray(from, from + length));
    at = from + length + 2;
  }
}

/** The first reply in `bytes` and what it takes there; null while it is not whole. Passes over 100 Continue. */
function readReply(bytes: Buffer): { reply: WireReply; size: number } | null {
  const headEnd = bytes.indexOf('\r\n\r\n');
  if (headEnd < 0) return null;
  const [first = '', ...lines] = bytes.toString('latin1', 0, headEnd).split('\r\n');
  const status = Number(first.split(' ')[1]);
  const from = headEnd + 4;
  if (status < 200) {
    const next = readReply(bytes.subarray(from));
    return next && { ...next, size: from + next.size };
  }
  const headers = Object.fromEntries(
    lines.map((line) => [line.slice(0, line.indexOf(':')).toLowerCase(), line.slice(line.indexOf(':') + 1).trim()]),
  );
  if (headers['transfer-encoding'] === 'chunked') {
    const body = readChunked(bytes.subarray(from));
    return body && { reply: { status, headers, text: body.text }, size: from + body.size };
  }
  const size = from + Number(headers['content-length'] ?? 0);
  if (bytes.length < size) return null;
  return { reply: { status, headers, text: bytes.toString('utf8', from, size) }, size };
}

/** Writes `bytes` and the innocent request on a connection of their own, and reads until nothing more can come. */
export function exchange(port: number, bytes: string, patienceMs = 2000): Promise<Exchange> {
  return new Promise((resolve, reject) => {
    const socket = connect(port, '127.0.0.1');
    const replies: WireReply[] = [];
    let received = Buffer.alloc(0);
    const done = (end: Exchange['end']) => {
      socket.destroy();
      const last = replies.at(-1);
      if (last && isInnocent(last) && end === 'answered') replies.pop();
      resolve({ replies, end });
    };
    socket.setTimeout(patienceMs, () => done('silent'));
    socket.on('data', (data) => {
      received = Buffer.concat([received, data]);
      for (let next = readReply(received); next; next = readReply(received)) {
        replies.push(next.reply);
        received = received.subarray(next.size);
        if (next.reply.headers.connection === 'close') return done(isInnocent(next.reply) ? 'answered' : 'closed');
      }
    });
    socket.on('close', () => done('closed'));
    // A connection that the gateway resets has been refused; one that was never there is a fault of the test.
    socket.on('error', (error: NodeJS.ErrnoException) =>
      error.code === 'ECONNREFUSED' ? reject(error) : done('closed'),
    );
    socket.write(bytes + innocent, 'latin1');
  });
}
