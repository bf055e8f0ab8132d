/**
 * A stream of a connection, small since there is one for every call of Envoy; and how what streams send leaves within the
 * windows that the peer gives (RFC 9113, section 5.2).
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
  /** The peer has sent all it will. */
  ended(): void;
  /** Nothing more can be sent or will come. Called once. */
  closed(): void;
}

/** What waits for room: frames in order; the last one may end the stream. */
interface Outgoing {
  bytes: Buffer;
  readonly end: boolean;
  readonly headers: boolean;
}

/** The connection as a stream sees it. */
interface Carrier {
  readonly sender: Sender;
  resetStream(stream: Http2Stream, code: number): void;
  refill(stream: Http2Stream): void;
}

export class Http2Stream {
  readonly id: number;
  readonly #connection: Carrier;
  handler: StreamHandler | null = null;
  isOpen = true;
  /** What the peer lets us send. */
  window: number;
  /** Received since room was last given back. */
  received = 0;
  remoteEnded = false;
  /** The peer gets no more room on this stream for now. */
  held = false;
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

  /** Leaves the peer what room it has on this stream, and no more until `resume`. */
  hold(): void {
    this.held = true;
  }

  resume(): void {
    this.held = false;
    this.#connection.refill(this);
  }

  /** Breaks the stream off. */
  reset(code: number): void {
    this.#connection.resetStream(this, code);
  }
}

/** What one stream sends in one turn of the event loop. */
const portionBytes = 512 * 1024;
/** What a frame holds is copied behind its header up to here: for less it costs more to write it by itself. */
const copiedBytes = 4096;

export class Sender {
  readonly #write: (bytes: Buffer) => void;
  readonly #finish: (stream: Http2Stream) => void;
  /** What has more to send than one turn takes. */
  readonly #later = new Set<Http2Stream>();
  /** What the peer lets all streams send together. */
  #window = initialWindow;
  #frameLimit = smallestFrameLimit;
  /** What the peer lets a new stream send. */
  streamWindow = initialWindow;

  /** `finish` is told of each stream whose last frame was written. */
  constructor(write: (bytes: Buffer) => void, finish: (stream: Http2Stream) => void) {
    this.#write = write;
    this.#finish = finish;
  }

  /** What the peer has set, which is true of streams that are open as well. */
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

  /** Sends as much of the queue as the windows allow; of many megabytes a portion in each turn, so that others go between. */
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
