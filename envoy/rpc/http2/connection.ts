/**
 * The server side of one HTTP/2 connection, as far as gRPC needs it (RFC 9113).
 *
 * Why our own: Node's http2 makes several objects, streams and event emitters for each request, which costs more than
 * everything a call of Envoy asks for. Here a stream is one small object, and all that one turn of the event loop
 * writes leaves in one system call.
 *
 * Invariants: a stream's `closed` is called exactly once, however it ends; bytes to a peer never exceed its flow-control
 * windows; what one peer may make us hold is bounded.
 */
import type { Socket } from 'node:net';
import {
  errorCode,
  flag,
  frame,
  frameType,
  goAway,
  headerBytes,
  preface,
  readSettings,
  reset,
  settingId,
  settings,
  windowUpdate,
  writeFrameHeader,
} from './frames.ts';
import { HpackDecoder } from './hpack.ts';

export interface StreamHandler {
  data(bytes: Buffer): void;
  /** The peer has sent all it will. */
  ended(): void;
  /** Nothing more can be sent or will come. Called once. */
  closed(): void;
}

export type OpenStream = (headers: ReadonlyMap<string, string>, stream: Http2Stream) => StreamHandler;

/** Room that we give: a message of 64 MiB arrives without waiting for us. */
const streamWindow = 80 * 1024 * 1024;
const connectionWindow = 0x7fffffff;
const initialWindow = 65_535;
const maxFrameSize = 1024 * 1024;
const maxHeaderBlock = 64 * 1024;
const maxStreams = 10_000;
/** Room is given back in portions of this size. */
const refillAt = 1024 * 1024;

const ourSettings = settings({
  3: maxStreams,
  [settingId.initialWindowSize]: streamWindow,
  [settingId.maxFrameSize]: maxFrameSize,
});

class ProtocolError extends Error {
  readonly code: number;
  constructor(code: number, message: string) {
    super(message);
    this.code = code;
  }
}

export class Http2Stream {
  readonly id: number;
  readonly #connection: Http2Connection;
  handler: StreamHandler | null = null;
  /** What the peer lets us send. */
  window: number;
  /** Received since room was last given back. */
  received = 0;
  remoteEnded = false;
  /** Waiting for room: frames in order; the last one may end the stream. */
  readonly queue: { bytes: Buffer; end: boolean; headers: boolean }[] = [];

  constructor(id: number, connection: Http2Connection, window: number) {
    this.id = id;
    this.#connection = connection;
    this.window = window;
  }

  /** `block` is an encoded header block. */
  sendHeaders(block: Buffer, end: boolean): void {
    this.#connection.send(this, { bytes: block, end, headers: true });
  }

  sendData(bytes: Buffer): void {
    this.#connection.send(this, { bytes, end: false, headers: false });
  }

  /** Breaks the stream off. */
  reset(code: number): void {
    this.#connection.resetStream(this, code);
  }
}

export class Http2Connection {
  readonly #socket: Socket;
  readonly #open: OpenStream;
  readonly #decoder = new HpackDecoder();
  readonly #streams = new Map<number, Http2Stream>();
  #rest: Buffer = Buffer.alloc(0);
  #sawPreface = false;
  #lastStream = 0;
  #window = initialWindow;
  #peerStreamWindow = initialWindow;
  #peerFrameSize = 16_384;
  #received = 0;
  /** A header block in several frames. */
  #block: { readonly id: number; readonly end: boolean; readonly parts: Buffer[]; size: number } | null = null;
  #out: Buffer[] = [];
  #flushing = false;
  #goingAway = false;

  constructor(socket: Socket, open: OpenStream) {
    this.#socket = socket;
    this.#open = open;
    socket.setNoDelay(true);
    socket.on('data', (bytes: Buffer) => this.#receive(bytes));
    socket.on('error', () => socket.destroy());
    socket.on('close', () => this.#closeAll());
    this.#write(ourSettings);
    this.#write(windowUpdate(0, connectionWindow - initialWindow));
  }

  /** No new streams; the socket ends when the open ones have. */
  goAway(): void {
    if (this.#goingAway) return;
    this.#goingAway = true;
    this.#write(goAway(this.#lastStream, errorCode.none));
    this.#endIfIdle();
  }

  destroy(): void {
    this.#socket.destroy();
  }

  send(stream: Http2Stream, item: { bytes: Buffer; end: boolean; headers: boolean }): void {
    if (!this.#streams.has(stream.id)) return;
    stream.queue.push(item);
    this.#drain(stream);
  }

  resetStream(stream: Http2Stream, code: number): void {
    if (!this.#streams.has(stream.id)) return;
    this.#write(reset(stream.id, code));
    this.#close(stream);
  }

  #write(bytes: Buffer): void {
    this.#out.push(bytes);
    if (this.#flushing) return;
    this.#flushing = true;
    // All that this turn of the loop writes leaves at once.
    setImmediate(() => {
      this.#flushing = false;
      const out = this.#out;
      this.#out = [];
      if (!this.#socket.destroyed) this.#socket.write(out.length === 1 ? (out[0] as Buffer) : Buffer.concat(out));
    });
  }

  /** Sends as much of the queue as the windows allow. */
  #drain(stream: Http2Stream): void {
    for (let item = stream.queue[0]; item; item = stream.queue[0]) {
      if (!item.headers && item.bytes.length > 0) {
        const room = Math.min(stream.window, this.#window, this.#peerFrameSize);
        if (room <= 0) return;
        const part = item.bytes.subarray(0, room);
        stream.window -= part.length;
        this.#window -= part.length;
        this.#writeFrame(stream.id, part, false, item.end && part.length === item.bytes.length);
        if (part.length < item.bytes.length) {
          item.bytes = item.bytes.subarray(part.length);
          continue;
        }
      } else {
        this.#writeFrame(stream.id, item.bytes, item.headers, item.end);
      }
      stream.queue.shift();
      if (item.end) {
        // We are done with it; a peer that is not is told to stop.
        if (!stream.remoteEnded) this.#write(reset(stream.id, errorCode.none));
        this.#close(stream);
        return;
      }
    }
  }

  #writeFrame(id: number, bytes: Buffer, headers: boolean, end: boolean): void {
    const out = Buffer.allocUnsafe(headerBytes + bytes.length);
    const flags = (end ? flag.endStream : 0) | (headers ? flag.endHeaders : 0);
    writeFrameHeader(out, 0, bytes.length, headers ? frameType.headers : frameType.data, flags, id);
    bytes.copy(out, headerBytes);
    this.#write(out);
  }

  #close(stream: Http2Stream): void {
    if (!this.#streams.delete(stream.id)) return;
    const { handler } = stream;
    stream.handler = null;
    handler?.closed();
    this.#endIfIdle();
  }

  #closeAll(): void {
    for (const stream of [...this.#streams.values()]) this.#close(stream);
  }

  #endIfIdle(): void {
    if (this.#goingAway && this.#streams.size === 0) setImmediate(() => this.#socket.end());
  }

  #receive(bytes: Buffer): void {
    try {
      this.#parse(this.#rest.length > 0 ? Buffer.concat([this.#rest, bytes]) : bytes);
    } catch (fault) {
      const code = fault instanceof ProtocolError ? fault.code : errorCode.compression;
      this.#socket.end(goAway(this.#lastStream, code));
      this.#closeAll();
      this.#socket.destroySoon();
    }
  }

  #parse(bytes: Buffer): void {
    let at = 0;
    if (!this.#sawPreface) {
      const seen = Math.min(preface.length, bytes.length);
      if (!bytes.subarray(0, seen).equals(preface.subarray(0, seen)))
        throw new ProtocolError(errorCode.protocol, 'not HTTP/2');
      if (seen === preface.length) {
        this.#sawPreface = true;
        at = preface.length;
      }
    }
    while (this.#sawPreface && bytes.length - at >= headerBytes) {
      const length = bytes.readUIntBE(at, 3);
      if (length > maxFrameSize) throw new ProtocolError(errorCode.frameSize, 'frame too large');
      const end = at + headerBytes + length;
      if (bytes.length < end) break;
      const id = bytes.readUInt32BE(at + 5) & 0x7fffffff;
      this.#frame(bytes[at + 3] as number, bytes[at + 4] as number, id, bytes.subarray(at + headerBytes, end));
      at = end;
    }
    // A copy: the rest must not keep the whole buffer alive.
    this.#rest = at === bytes.length ? Buffer.alloc(0) : at === 0 ? bytes : Buffer.from(bytes.subarray(at));
  }

  #frame(type: number, flags: number, id: number, payload: Buffer): void {
    if (this.#block && type !== frameType.continuation)
      throw new ProtocolError(errorCode.protocol, 'a header block was interrupted');
    switch (type) {
      case frameType.data:
        return this.#data(flags, id, payload);
      case frameType.headers: {
        const from = (flags & flag.padded ? 1 : 0) + (flags & flag.priority ? 5 : 0);
        const block = unpadded(flags, payload, from);
        this.#block = { id, end: (flags & flag.endStream) !== 0, parts: [block], size: block.length };
        return this.#headers(flags);
      }
      case frameType.continuation:
        if (!this.#block || this.#block.id !== id)
          throw new ProtocolError(errorCode.protocol, 'a continuation of nothing');
        this.#block.parts.push(payload);
        this.#block.size += payload.length;
        return this.#headers(flags);
      case frameType.reset: {
        const stream = this.#streams.get(id);
        if (stream) this.#close(stream);
        return;
      }
      case frameType.settings:
        if ((flags & flag.ack) === 0) this.#settings(payload);
        return;
      case frameType.ping:
        if ((flags & flag.ack) === 0) this.#write(frame(frameType.ping, flag.ack, 0, payload));
        return;
      case frameType.windowUpdate:
        if (payload.length !== 4) throw new ProtocolError(errorCode.frameSize, 'a window update of another size');
        return this.#widen(id, payload.readUInt32BE(0) & 0x7fffffff);
      default:
        // GOAWAY (the peer closes by itself), PRIORITY, and what later versions add.
        return;
    }
  }

  #headers(flags: number): void {
    const block = this.#block;
    if (!block) return;
    if (block.size > maxHeaderBlock) throw new ProtocolError(errorCode.calm, 'too many headers');
    if ((flags & flag.endHeaders) === 0) return;
    this.#block = null;
    const headers = this.#decoder.decode(
      block.parts.length === 1 ? (block.parts[0] as Buffer) : Buffer.concat(block.parts),
    );
    const known = this.#streams.get(block.id);
    if (known) return block.end ? this.#ended(known) : undefined; // trailers
    if (block.id <= this.#lastStream) return;
    if (block.id % 2 === 0) throw new ProtocolError(errorCode.protocol, 'an even stream id');
    this.#lastStream = block.id;
    if (this.#goingAway || this.#streams.size >= maxStreams) return this.#write(reset(block.id, errorCode.refused));
    const stream = new Http2Stream(block.id, this, this.#peerStreamWindow);
    this.#streams.set(block.id, stream);
    const handler = this.#open(headers, stream);
    // It may have been answered and closed already.
    if (!this.#streams.has(block.id)) return handler.closed();
    stream.handler = handler;
    if (block.end) this.#ended(stream);
  }

  #data(flags: number, id: number, payload: Buffer): void {
    const stream = this.#streams.get(id);
    this.#received += payload.length;
    if (this.#received >= refillAt) {
      this.#write(windowUpdate(0, this.#received));
      this.#received = 0;
    }
    if (!stream || stream.remoteEnded) return;
    stream.received += payload.length;
    if (stream.received >= refillAt) {
      this.#write(windowUpdate(id, stream.received));
      stream.received = 0;
    }
    stream.handler?.data(unpadded(flags, payload, flags & flag.padded ? 1 : 0));
    if (flags & flag.endStream) this.#ended(stream);
  }

  #ended(stream: Http2Stream): void {
    stream.remoteEnded = true;
    stream.handler?.ended();
  }

  #settings(payload: Buffer): void {
    const values = readSettings(payload);
    const window = values.get(settingId.initialWindowSize);
    if (window !== undefined) {
      for (const stream of this.#streams.values()) stream.window += window - this.#peerStreamWindow;
      this.#peerStreamWindow = window;
    }
    this.#peerFrameSize = values.get(settingId.maxFrameSize) ?? this.#peerFrameSize;
    this.#write(frame(frameType.settings, flag.ack, 0));
    for (const stream of [...this.#streams.values()]) this.#drain(stream);
  }

  #widen(id: number, increment: number): void {
    if (id === 0) {
      this.#window += increment;
      for (const stream of [...this.#streams.values()]) if (stream.queue.length > 0) this.#drain(stream);
      return;
    }
    const stream = this.#streams.get(id);
    if (!stream) return;
    stream.window += increment;
    this.#drain(stream);
  }
}

/** The payload without padding; `from` is where it begins. */
function unpadded(flags: number, payload: Buffer, from: number): Buffer {
  const padding = flags & flag.padded ? (payload[0] ?? 0) : 0;
  if (from + padding > payload.length) throw new ProtocolError(errorCode.protocol, 'more padding than payload');
  return from === 0 && padding === 0 ? payload : payload.subarray(from, payload.length - padding);
}
