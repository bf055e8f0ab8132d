/**
 * HTTP/2 by hand, frame by frame: no client library would send most of this.
 */
import { connect } from 'node:net';
import { flag, frame, frameType, preface, settings } from '@gw/grpc/internals/http2/frames';
import { HpackDecoder } from '@gw/grpc/internals/http2/hpack';
import type { WireReply } from './http1-wire.ts';

export type Field = readonly [name: string, value: string];

export interface Sent {
  /** Pseudo headers too, in the order in which they are sent, repeated ones as they stand. */
  readonly fields: readonly Field[];
  readonly data?: string;
  readonly trailers?: readonly Field[];
  /** Frames behind those of the request. */
  readonly more?: Buffer;
}

export interface Exchange {
  /** Null if the stream or the connection was ended without one. */
  readonly reply: WireReply | null;
  readonly end: 'answered' | 'reset' | 'closed' | 'silent';
}

/** The only stream. */
export const stream = 1;

function text(value: string): Buffer {
  const bytes = Buffer.from(value, 'latin1');
  const head = [];
  // An integer with a prefix of 7 bits (RFC 7541, section 5.1).
  if (bytes.length < 127) head.push(bytes.length);
  else {
    let rest = bytes.length - 127;
    head.push(127);
    for (; rest >= 128; rest = Math.floor(rest / 128)) head.push((rest % 128) + 128);
    head.push(rest);
  }
  return Buffer.concat([Buffer.from(head), bytes]);
}

/** Literals that enter no table, without Huffman coding: bytes as they are. */
export const headerBlock = (fields: readonly Field[]): Buffer =>
  Buffer.concat(fields.flatMap(([name, value]) => [Buffer.from([0]), text(name), text(value)]));

/** The peer's limits before it has stated others. */
const maxFrameSize = 16_384;

function headerFrames(fields: readonly Field[], flags: number): Buffer {
  const block = headerBlock(fields);
  const pieces = [];
  for (let at = 0; at < block.length || at === 0; at += maxFrameSize)
    pieces.push(block.subarray(at, at + maxFrameSize));
  const frames = pieces.map((piece, at) => {
    const isLast = at === pieces.length - 1 ? flag.endHeaders : 0;
    return at === 0
      ? frame(frameType.headers, flags | isLast, stream, piece)
      : frame(frameType.continuation, isLast, stream, piece);
  });
  return Buffer.concat(frames);
}

function framesOf({ fields, data, trailers, more }: Sent): Buffer {
  const ends = (isLast: boolean) => (isLast ? flag.endStream : 0);
  return Buffer.concat([
    preface,
    settings({}),
    headerFrames(fields, ends(data === undefined && !trailers)),
    ...(data === undefined ? [] : [frame(frameType.data, ends(!trailers), stream, Buffer.from(data, 'latin1'))]),
    ...(trailers ? [headerFrames(trailers, flag.endStream)] : []),
    ...(more ? [more] : []),
  ]);
}

/** Cuts frames out of what arrives; returns what is left. */
function eachFrame(bytes: Buffer, see: (type: number, flags: number, payload: Buffer) => void): Buffer {
  let rest = bytes;
  while (rest.length >= 9) {
    const length = rest.readUIntBE(0, 3);
    if (rest.length < 9 + length) break;
    see(rest[3] ?? 0, rest[4] ?? 0, rest.subarray(9, 9 + length));
    rest = rest.subarray(9 + length);
  }
  return rest;
}

/** On a connection of its own. */
export function exchange2(port: number, sent: Sent, patienceMs = 2000): Promise<Exchange> {
  return new Promise((resolve, reject) => {
    const socket = connect(port, '127.0.0.1');
    const decoder = new HpackDecoder();
    const body: Buffer[] = [];
    let head: Map<string, string> | null = null;
    let received: Buffer = Buffer.alloc(0);
    const done = (end: Exchange['end']) => {
      socket.destroy();
      const reply = head && {
        status: Number(head.get(':status')),
        headers: Object.fromEntries(head),
        text: Buffer.concat(body).toString(),
      };
      resolve({ reply: end === 'answered' ? reply : null, end });
    };
    const see = (type: number, flags: number, payload: Buffer) => {
      if (type === frameType.headers) {
        const decoded = decoder.decode(payload);
        if (Number(decoded.get(':status')) >= 200) head = decoded;
      }
      if (type === frameType.data) body.push(payload);
      if (type === frameType.reset) done('reset');
      else if (type === frameType.goAway) done('closed');
      else if (type === frameType.settings && !(flags & flag.ack)) socket.write(frame(frameType.settings, flag.ack, 0));
      else if ((type === frameType.headers || type === frameType.data) && flags & flag.endStream) done('answered');
    };
    socket.setTimeout(patienceMs, () => done('silent'));
    socket.on('data', (data) => {
      received = eachFrame(Buffer.concat([received, data]), see);
    });
    socket.on('close', () => done('closed'));
    socket.on('error', (error: NodeJS.ErrnoException) =>
      error.code === 'ECONNREFUSED' ? reject(error) : done('closed'),
    );
    socket.write(framesOf(sent));
  });
}
