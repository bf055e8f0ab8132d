/** One stream of a connection: small, since there is one for every call of Envoy. */

export interface StreamHandler {
  data(bytes: Buffer): void;
  /** The peer has sent all it will. */
  ended(): void;
  /** Nothing more can be sent or will come. Called once. */
  closed(): void;
}

/** What waits for room: frames in order; the last one may end the stream. */
export interface Outgoing {
  bytes: Buffer;
  readonly end: boolean;
  readonly headers: boolean;
}

/** The connection as a stream sees it. */
interface Carrier {
  send(stream: Http2Stream, item: Outgoing): void;
  resetStream(stream: Http2Stream, code: number): void;
  refill(stream: Http2Stream): void;
}

export class Http2Stream {
  readonly id: number;
  readonly #connection: Carrier;
  handler: StreamHandler | null = null;
  /** What the peer lets us send. */
  window: number;
  /** Received since room was last given back. */
  received = 0;
  remoteEnded = false;
  /** The peer gets no more room on this stream for now. */
  held = false;
  readonly queue: Outgoing[] = [];

  constructor(id: number, connection: Carrier, window: number) {
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
