/**
 * The server side of one HTTP/2 connection, as far as gRPC needs it (RFC 9113).
 *
 * Why our own: Node's http2 makes several objects, streams and event emitters for each request, which costs more than
 * everything a call of Envoy asks for. Here a stream is one small object, and all that one turn of the event loop
 * writes leaves in one system call.
 *
 * Invariants: a stream's `closed` is called exactly once, however it ends, also if the peer is gone without a word; bytes
 * to a peer never exceed its flow-control windows; frames and header blocks are bounded. How much of messages a peer may leave half
 * sent is not: only Envoy, behind the internal token, gets that far.
 */
import type { Socket } from 'node:net';
import { checkFrame } from './frame-check.ts';
import { type Frame, FrameReader } from './frame-reader.ts';
import {
  errorCode,
  flag,
  frame,
  frameType,
  goAway,
  headerBytes,
  maxFrameSize,
  maxWindow,
  readSettings,
  reset,
  settingId,
  settings,
  unpadded,
  windowUpdate,
  writeFrameHeader,
} from './frames.ts';
import { type HeaderBlock, HeaderBlocks } from './header-blocks.ts';
import { destroyWhenSilent } from './liveness.ts';
import { Outbox } from './outbox.ts';
import { ProtocolError } from './protocol-error.ts';
import { Http2Stream, type Outgoing, type StreamHandler } from './stream.ts';

export type OpenStream = (headers: ReadonlyMap<string, string>, stream: Http2Stream) => StreamHandler;

/**
 * Room that we give to one stream: Envoy writes at once what there is room for, and what other streams send comes behind it.
 * With much more, some bodies of megabytes hold up the small messages of everybody else.
 */
const streamWindow = 256 * 1024;
const initialWindow = 65_535;
const maxStreams = 10_000;
/** What one stream sends in one turn of the event loop. */
const portionBytes = 512 * 1024;
/** What a frame holds is copied behind its header up to here: for less it costs more to write it by itself. */
const copiedBytes = 4096;
/** Room is given back in portions of this size: for the connection, whose room is never used up, and for a stream. */
const refillAt = 1024 * 1024;
const refillStreamAt = streamWindow / 4;

const ourSettings = settings({
  3: maxStreams,
  [settingId.initialWindowSize]: streamWindow,
  [settingId.maxFrameSize]: maxFrameSize,
});

export class Http2Connection {
  readonly #socket: Socket;
  readonly #open: OpenStream;
  readonly #outbox: Outbox;
  readonly #reader = new FrameReader();
  readonly #headerBlocks = new HeaderBlocks();
  readonly #streams = new Map<number, Http2Stream>();
  /** What has more to send than one turn takes. */
  readonly #later = new Set<Http2Stream>();
  #lastStream = 0;
  #window = initialWindow;
  #peerStreamWindow = initialWindow;
  #peerFrameSize = 16_384;
  #received = 0;
  #goingAway = false;
  #broken = false;

  constructor(socket: Socket, open: OpenStream) {
    this.#socket = socket;
    this.#open = open;
    this.#outbox = new Outbox(socket);
    socket.setNoDelay(true);
    socket.on('data', (bytes: Buffer) => this.#receive(bytes));
    socket.on('error', () => socket.destroy());
    socket.on('close', () => this.#closeAll());
    destroyWhenSilent(socket, () => this.#outbox.write(frame(frameType.ping, 0, 0, Buffer.alloc(8))));
    this.#outbox.write(ourSettings);
    this.#outbox.write(windowUpdate(0, maxWindow - initialWindow));
  }

  /** No new streams; the socket ends when the open ones have. */
  goAway(): void {
    if (this.#goingAway) return;
    this.#goingAway = true;
    this.#outbox.write(goAway(this.#lastStream, errorCode.none));
    this.#endIfIdle();
  }

  destroy(): void {
    this.#socket.destroy();
  }

  send(stream: Http2Stream, item: Outgoing): void {
    if (!this.#streams.has(stream.id)) return;
    stream.queue.push(item);
    this.#drain(stream);
  }

  /** Gives back the room that was used up on a stream, unless it is held. */
  refill(stream: Http2Stream): void {
    if (stream.held || stream.received === 0 || !this.#streams.has(stream.id)) return;
    this.#outbox.write(windowUpdate(stream.id, stream.received));
    stream.received = 0;
  }

  resetStream(stream: Http2Stream, code: number): void {
    if (!this.#streams.has(stream.id)) return;
    this.#outbox.write(reset(stream.id, code));
    this.#close(stream);
  }

  /** Sends as much of the queue as the windows allow; of many megabytes a portion in each turn, so that others go between. */
  #drain(stream: Http2Stream): void {
    let left = portionBytes;
    for (let item = stream.queue[0]; item; item = stream.queue[0]) {
      if (!item.headers && item.bytes.length > 0) {
        const room = Math.min(stream.window, this.#window, this.#peerFrameSize);
        if (room <= 0) return;
        if (left <= 0) return this.#drainLater(stream);
        left -= room;
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
        if (!stream.remoteEnded) this.#outbox.write(reset(stream.id, errorCode.none));
        this.#close(stream);
        return;
      }
    }
  }

  #drainLater(stream: Http2Stream): void {
    if (this.#later.size === 0)
      setImmediate(() => {
        const streams = [...this.#later];
        this.#later.clear();
        for (const each of streams) if (this.#streams.has(each.id)) this.#drain(each);
      });
    this.#later.add(stream);
  }

  #writeFrame(id: number, bytes: Buffer, headers: boolean, end: boolean): void {
    const isLarge = bytes.length > copiedBytes;
    const out = Buffer.allocUnsafe(headerBytes + (isLarge ? 0 : bytes.length));
    const flags = (end ? flag.endStream : 0) | (headers ? flag.endHeaders : 0);
    writeFrameHeader(out, 0, bytes.length, headers ? frameType.headers : frameType.data, flags, id);
    if (!isLarge) bytes.copy(out, headerBytes);
    this.#outbox.write(out);
    if (isLarge) this.#outbox.write(bytes);
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
    if (this.#broken) return;
    try {
      this.#reader.push(bytes, (frame_) => this.#frame(frame_));
    } catch (fault) {
      // Our own fault ends the connection too: its state can not be trusted.
      this.#broken = true;
      const code = fault instanceof ProtocolError ? fault.code : errorCode.internal;
      this.#socket.end(goAway(this.#lastStream, code));
      this.#closeAll();
      this.#socket.destroySoon();
    }
  }

  #frame(received: Frame): void {
    const { type, flags, stream: id, payload } = received;
    checkFrame(received);
    this.#headerBlocks.admit(received);
    switch (type) {
      case frameType.data:
        return this.#data(flags, id, payload);
      case frameType.headers:
      case frameType.continuation: {
        const block = this.#headerBlocks.push(received);
        if (block) this.#headers(block);
        return;
      }
      case frameType.reset: {
        const stream = this.#streams.get(id);
        if (stream) this.#close(stream);
        return;
      }
      case frameType.settings:
        if ((flags & flag.ack) === 0) this.#settings(payload);
        return;
      case frameType.ping:
        if ((flags & flag.ack) === 0) this.#outbox.write(frame(frameType.ping, flag.ack, 0, payload));
        return;
      case frameType.windowUpdate:
        return this.#widen(id, payload.readUInt32BE(0) & 0x7fffffff);
      default:
        // GOAWAY (the peer closes by itself), PRIORITY, and what later versions add.
        return;
    }
  }

  #headers({ stream: id, end, headers }: HeaderBlock): void {
    const known = this.#streams.get(id);
    if (known) return end ? this.#ended(known) : undefined; // trailers
    if (id <= this.#lastStream) return;
    if (id % 2 === 0) throw new ProtocolError(errorCode.protocol, 'an even stream id');
    this.#lastStream = id;
    if (this.#goingAway || this.#streams.size >= maxStreams) return this.#outbox.write(reset(id, errorCode.refused));
    const stream = new Http2Stream(id, this, this.#peerStreamWindow);
    this.#streams.set(id, stream);
    const handler = this.#open(headers, stream);
    // It may have been answered and closed already.
    if (!this.#streams.has(id)) return handler.closed();
    stream.handler = handler;
    if (end) this.#ended(stream);
  }

  #data(flags: number, id: number, payload: Buffer): void {
    if (id > this.#lastStream) throw new ProtocolError(errorCode.protocol, 'data of a stream that was never opened');
    const stream = this.#streams.get(id);
    this.#received += payload.length;
    if (this.#received >= refillAt) {
      this.#outbox.write(windowUpdate(0, this.#received));
      this.#received = 0;
    }
    if (!stream || stream.remoteEnded) return;
    stream.received += payload.length;
    if (stream.received >= refillStreamAt) this.refill(stream);
    stream.handler?.data(unpadded(flags, payload));
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
    this.#outbox.write(frame(frameType.settings, flag.ack, 0));
    for (const stream of [...this.#streams.values()]) this.#drain(stream);
  }

  #widen(id: number, increment: number): void {
    if (id === 0) {
      this.#window += increment;
      if (this.#window > maxWindow) throw new ProtocolError(errorCode.flowControl, 'a window above its limit');
      for (const stream of [...this.#streams.values()]) if (stream.queue.length > 0) this.#drain(stream);
      return;
    }
    const stream = this.#streams.get(id);
    if (!stream) return;
    stream.window += increment;
    if (stream.window > maxWindow) return this.resetStream(stream, errorCode.flowControl);
    this.#drain(stream);
  }
}
