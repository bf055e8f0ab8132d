/**
 * The server side of one HTTP/2 connection, as far as gRPC needs it (RFC 9113).
 *
 * Node's http2 creates several objects, streams and event emitters for each request, which costs more than handling a call of Envoy. Here
 * a stream is one small object, and all writes of one turn of the event loop leave in one system call.
 *
 * Invariants: a stream's `closed` is called exactly once in all cases, even if the peer vanishes; bytes to a peer never exceed its
 * flow-control windows; frames and header blocks are limited in size. Incomplete messages are not, since only Envoy, which has the
 * internal token, gets that far.
 */
import type { Socket } from 'node:net';
import {
  checkFrame,
  errorCode,
  type Frame,
  FrameReader,
  flag,
  frame,
  frameType,
  goAway,
  initialWindow,
  maxFrameSize,
  maxWindow,
  ProtocolError,
  readSettings,
  reset,
  settingId,
  settings,
  unpadded,
  windowUpdate,
} from './frames.ts';
import { type HeaderBlock, HeaderBlocks } from './header-blocks.ts';
import { destroyWhenSilent, Outbox } from './socket.ts';
import { Http2Stream, Sender, type StreamHandler } from './stream.ts';

export type OpenStream = (headers: ReadonlyMap<string, string>, stream: Http2Stream) => StreamHandler;

/**
 * Window of a stream. Envoy immediately writes as much as the window allows, ahead of the small messages of other streams: hundreds of bodies
 * that come at once are megabytes even so. A wide window saves round trips for a few large messages.
 */
const streamWindow = 16 * 1024;
export const wideWindow = 256 * 1024;
const maxStreams = 10_000;
/** The windows of the connection and of a stream are refilled in portions: of this size, and of a quarter of the window. */
const refillAt = 1024 * 1024;
const portionOf = (window: number): number => window / 4;

const ourSettings = settings({
  [settingId.maxStreams]: maxStreams,
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
  readonly sender: Sender;
  #lastStream = 0;
  #received = 0;
  #goingAway = false;
  #broken = false;

  constructor(socket: Socket, open: OpenStream) {
    this.#socket = socket;
    this.#open = open;
    this.#outbox = new Outbox(socket);
    this.sender = new Sender(
      (bytes) => this.#outbox.write(bytes),
      (stream) => this.#finish(stream),
    );
    socket.setNoDelay(true);
    socket.on('data', (bytes: Buffer) => this.#receive(bytes));
    socket.on('error', () => socket.destroy());
    socket.on('close', () => this.#closeAll());
    destroyWhenSilent(socket, () => this.#outbox.write(frame(frameType.ping, 0, 0, Buffer.alloc(8))));
    this.#outbox.write(ourSettings);
    this.#outbox.write(windowUpdate(0, maxWindow - initialWindow));
  }

  /** Accepts no new streams; the socket ends after the open ones. */
  goAway(): void {
    if (this.#goingAway) return;
    this.#goingAway = true;
    this.#outbox.write(goAway(this.#lastStream, errorCode.none));
    this.#endIfIdle();
  }

  destroy(): void {
    this.#socket.destroy();
  }

  /** Refills the window of a stream, unless it is held. */
  refill(stream: Http2Stream): void {
    if (stream.held || !stream.isOpen) return;
    const kept = Math.min(stream.excess, stream.received);
    const given = stream.received - kept;
    stream.excess -= kept;
    stream.received = 0;
    if (given > 0) this.#outbox.write(windowUpdate(stream.id, given));
  }

  /** Widens the window of a stream. */
  widen(stream: Http2Stream): void {
    if (stream.isWide || !stream.isOpen) return;
    stream.isWide = true;
    const given = wideWindow - streamWindow - stream.excess;
    stream.excess = 0;
    if (given > 0) this.#outbox.write(windowUpdate(stream.id, given));
  }

  /** Lets the window of a stream shrink again: a peer cannot be forbidden what it was allowed, only not be allowed more. */
  narrow(stream: Http2Stream): void {
    if (!stream.isWide) return;
    stream.isWide = false;
    stream.excess = wideWindow - streamWindow;
  }

  resetStream(stream: Http2Stream, code: number): void {
    if (!stream.isOpen) return;
    this.#outbox.write(reset(stream.id, code));
    this.#close(stream);
  }

  /** Closes a finished stream, and resets it if the peer has not ended it. */
  #finish(stream: Http2Stream): void {
    if (!stream.remoteEnded) this.#outbox.write(reset(stream.id, errorCode.none));
    this.#close(stream);
  }

  #close(stream: Http2Stream): void {
    if (!this.#streams.delete(stream.id)) return;
    stream.isOpen = false;
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
    } catch (error) {
      // A bug of ours ends the connection too, since its state cannot be trusted.
      this.#broken = true;
      const code = error instanceof ProtocolError ? error.code : errorCode.internal;
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
        const stream = this.#known(id);
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
        // GOAWAY (the peer closes the connection itself), PRIORITY, and unknown types.
        return;
    }
  }

  /** Returns an open stream, or null if it has ended, since frames may cross. Throws ProtocolError if it was never opened. */
  #known(id: number): Http2Stream | null {
    if (id > this.#lastStream) throw new ProtocolError(errorCode.protocol, 'a frame of a stream that was never opened');
    return this.#streams.get(id) ?? null;
  }

  #trailers(stream: Http2Stream, end: boolean): void {
    if (stream.remoteEnded) return this.resetStream(stream, errorCode.streamClosed);
    if (!end) return this.resetStream(stream, errorCode.protocol);
    this.#ended(stream);
  }

  #headers({ stream: id, end, headers }: HeaderBlock): void {
    const known = this.#streams.get(id);
    if (known) return this.#trailers(known, end);
    if (id <= this.#lastStream) return;
    if (id % 2 === 0) throw new ProtocolError(errorCode.protocol, 'an even stream id');
    this.#lastStream = id;
    if (this.#goingAway || this.#streams.size >= maxStreams) return this.#outbox.write(reset(id, errorCode.refused));
    const stream = new Http2Stream(id, this);
    this.#streams.set(id, stream);
    const handler = this.#open(headers, stream);
    // The handler may have closed it already.
    if (!stream.isOpen) return handler.closed();
    stream.handler = handler;
    if (end) this.#ended(stream);
  }

  #data(flags: number, id: number, payload: Buffer): void {
    const stream = this.#known(id);
    const data = unpadded(flags, payload);
    this.#received += payload.length;
    if (this.#received >= refillAt) {
      this.#outbox.write(windowUpdate(0, this.#received));
      this.#received = 0;
    }
    if (!stream) return;
    if (stream.remoteEnded) return this.resetStream(stream, errorCode.streamClosed);
    stream.received += payload.length;
    if (stream.received >= portionOf(stream.isWide ? wideWindow : streamWindow)) this.refill(stream);
    stream.handler?.data(data);
    if (flags & flag.endStream) this.#ended(stream);
  }

  #ended(stream: Http2Stream): void {
    stream.remoteEnded = true;
    stream.handler?.ended();
  }

  #settings(payload: Buffer): void {
    const values = readSettings(payload);
    this.#outbox.write(frame(frameType.settings, flag.ack, 0));
    this.sender.adjust(values, this.#streams.values());
  }

  #widen(id: number, increment: number): void {
    if (id === 0) return this.sender.widen(increment, this.#streams.values());
    const stream = this.#known(id);
    if (!stream) return;
    stream.window += increment;
    if (stream.window > maxWindow) return this.resetStream(stream, errorCode.flowControl);
    this.sender.drain(stream);
  }
}
