/**
 * A stream of a connection, small because there is one for every call of Envoy, and the sender, which respects the windows of the peer
 * (RFC 9113, section 5.2).
 *
 * Invariant: bytes to a peer never exceed its flow-control windows, and no frame is larger than it allows.
 */
import {
  errorCode,
  flag,
  frameType,
  headerBytes,
  initialWindow,
  maxWindow,
  ProtocolError,
  settingId,
  smallestFrameLimit,
  writeFrameHeader,
} from './frames.ts';

export interface StreamHandler {
  data(bytes: Buffer): void;
  /** The peer has ended its side. */
  ended(): void;
  /** The stream is closed. Called once. */
  closed(): void;
}

/** A queued frame. */
interface Outgoing {
  bytes: Buffer;
  readonly end: boolean;
  readonly headers: boolean;
}

/** The part of a connection that its streams use. */
interface Carrier {
  readonly sender: Sender;
  resetStream(stream: Http2Stream, code: number): void;
  refill(stream: Http2Stream): void;
  widen(stream: Http2Stream): void;
  narrow(stream: Http2Stream): void;
}

export class Http2Stream {
  readonly id: number;
  readonly #connection: Carrier;
  handler: StreamHandler | null = null;
  isOpen = true;
  /** Bytes that the peer allows us to send. */
  window: number;
  /** Bytes received since the last refill. */
  received = 0;
  remoteEnded = false;
  /** Whether refills are suspended. */
  held = false;
  isWide = false;
  /** Bytes that are not refilled when they have come, since the window is to be narrow again. */
  excess = 0;
  readonly queue: Outgoing[] = [];

  constructor(id: number, connection: Carrier) {
    this.id = id;
    this.#connection = connection;
    this.window = connection.sender.streamWindow;
  }

  /** `block` is an encoded header block. */
  sendHeaders(block: Buffer, end: boolean): void {
    this.#send({ bytes: block, end, headers: true });
  }

  sendData(bytes: Buffer): void {
    this.#send({ bytes, end: false, headers: false });
  }

  #send(item: Outgoing): void {
    if (!this.isOpen) return;
    this.queue.push(item);
    this.#connection.sender.drain(this);
  }

  /** Suspends refills of the peer's window until `resume`. */
  hold(): void {
    this.held = true;
  }

  resume(): void {
    this.held = false;
    this.#connection.refill(this);
  }

  /** Lets the peer write more at once. */
  widen(): void {
    this.#connection.widen(this);
  }

  /** Takes that back, with the next bytes of the peer. */
  narrow(): void {
    this.#connection.narrow(this);
  }

  reset(code: number): void {
    this.#connection.resetStream(this, code);
  }
}

/** The most bytes of one stream in one turn of the event loop. */
const portionBytes = 512 * 1024;
/** Up to this size, copying a payload behind its frame header is cheaper than a separate write. */
const copiedBytes = 4096;

export class Sender {
  readonly #write: (bytes: Buffer) => void;
  readonly #finish: (stream: Http2Stream) => void;
  /** Streams with more to send than fits into one turn. */
  readonly #later = new Set<Http2Stream>();
  /** Bytes that the peer allows all streams together. */
  #window = initialWindow;
  #frameLimit = smallestFrameLimit;
  /** Initial window of new streams. */
  streamWindow = initialWindow;

  /** `finish` is called for each stream whose last frame was written. */
  constructor(write: (bytes: Buffer) => void, finish: (stream: Http2Stream) => void) {
    this.#write = write;
    this.#finish = finish;
  }

  /** Applies the peer's settings, also to open streams. */
  adjust(settings: ReadonlyMap<number, number>, open: Iterable<Http2Stream>): void {
    const window = settings.get(settingId.initialWindowSize) ?? this.streamWindow;
    const change = window - this.streamWindow;
    this.streamWindow = window;
    this.#frameLimit = settings.get(settingId.maxFrameSize) ?? this.#frameLimit;
    for (const stream of [...open]) {
      stream.window += change;
      if (stream.window > maxWindow) throw new ProtocolError(errorCode.flowControl, 'a window above its limit');
      this.drain(stream);
    }
  }

  widen(increment: number, open: Iterable<Http2Stream>): void {
    this.#window += increment;
    if (this.#window > maxWindow) throw new ProtocolError(errorCode.flowControl, 'a window above its limit');
    for (const stream of [...open]) this.drain(stream);
  }

  /** Sends as much of the queue as the windows allow, at most a portion per turn, so that other streams take turns. */
  drain(stream: Http2Stream): void {
    if (!stream.isOpen) return;
    let left = portionBytes;
    for (let item = stream.queue[0]; item; item = stream.queue[0]) {
      const { bytes, headers, end } = item;
      if (headers || bytes.length === 0) this.#writeFrame(stream.id, bytes, headers, end);
      else {
        const room = Math.min(stream.window, this.#window, this.#frameLimit);
        if (room <= 0) return;
        if (left <= 0) return this.#drainLater(stream);
        const part = room < bytes.length ? bytes.subarray(0, room) : bytes;
        left -= part.length;
        stream.window -= part.length;
        this.#window -= part.length;
        this.#writeFrame(stream.id, part, false, end && part === bytes);
        if (part !== bytes) {
          item.bytes = bytes.subarray(room);
          continue;
        }
      }
      stream.queue.shift();
      if (end) return this.#finish(stream);
    }
  }

  #drainLater(stream: Http2Stream): void {
    if (this.#later.size === 0)
      setImmediate(() => {
        const streams = [...this.#later];
        this.#later.clear();
        for (const each of streams) this.drain(each);
      });
    this.#later.add(stream);
  }

  #writeFrame(id: number, bytes: Buffer, headers: boolean, end: boolean): void {
    const isLarge = bytes.length > copiedBytes;
    const out = Buffer.allocUnsafe(headerBytes + (isLarge ? 0 : bytes.length));
    const flags = (end ? flag.endStream : 0) | (headers ? flag.endHeaders : 0);
    writeFrameHeader(out, 0, bytes.length, headers ? frameType.headers : frameType.data, flags, id);
    if (!isLarge) bytes.copy(out, headerBytes);
    this.#write(out);
    if (isLarge) this.#write(bytes);
  }
}
