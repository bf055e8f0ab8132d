/**
 * gRPC messages in the data of a stream, each with a prefix of five bytes that contains its length.
 *
 * The memory of a large message is allocated when its length is known. To limit their total memory, large messages take turns in a
 * MessageRoom.
 */
const prefixBytes = 5;
/** A 64 MiB reply and its frame. */
export const maxMessageBytes = 72 * 1024 * 1024;
/** The memory of a larger message is allocated as soon as its length is known. */
const largeMessage = 64 * 1024;
/** Below this it is cheaper to concatenate the parts of a message than to send each in its own frame. */
const largeParts = 16 * 1024;

/** Frames a small message. */
export function framedWhole(message: Uint8Array): Buffer {
  const bytes = Buffer.allocUnsafe(prefixBytes + message.length);
  bytes[0] = 0;
  bytes.writeUInt32BE(message.length, 1);
  bytes.set(message, prefixBytes);
  return bytes;
}

/** Frames a message without copying the parts of a large one, except for the first. */
export function framed(parts: readonly Uint8Array[]): readonly Buffer[] {
  const [first, ...others] = parts;
  if (first === undefined) return [framedWhole(Buffer.alloc(0))];
  if (others.length === 0) return [framedWhole(first)];
  const prefix = Buffer.allocUnsafe(prefixBytes);
  prefix[0] = 0;
  const length = parts.reduce((sum, part) => sum + part.length, 0);
  prefix.writeUInt32BE(length, 1);
  if (length < largeParts) return [Buffer.concat([prefix, ...parts])];
  return [Buffer.concat([prefix, first]), ...others.map(asBuffer)];
}

/** Returns a view of the same memory. */
export const asBuffer = (bytes: Uint8Array): Buffer =>
  Buffer.isBuffer(bytes) ? bytes : Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length);

/** Cuts messages out of the data of one stream. */
export class MessageReader {
  readonly #deliver: (message: Buffer) => void;
  readonly #coming: (length: number) => void;
  /** The incomplete message or prefix so far. */
  #rest: Buffer = Buffer.alloc(0);
  /** A message in many parts, filled as they arrive, because concatenating them at the end would block everything else. */
  #large: { readonly bytes: Buffer; filled: number } | null = null;

  /** `coming` is called at the beginning of a message in many parts. */
  constructor(deliver: (message: Buffer) => void, coming: (length: number) => void = () => undefined) {
    this.#deliver = deliver;
    this.#coming = coming;
  }

  /** Returns false for a message that is too large, or compressed, which was not negotiated. */
  push(received: Buffer): boolean {
    let bytes = this.#large ? this.#fill(this.#large, received) : received;
    if (this.#large) return true;
    if (this.#rest.length > 0) bytes = Buffer.concat([this.#rest, bytes]);
    while (bytes.length >= prefixBytes) {
      const length = bytes.readUInt32BE(1);
      if (bytes[0] !== 0 || length > maxMessageBytes) return false;
      const end = prefixBytes + length;
      if (bytes.length < end && length > largeMessage) {
        this.#large = { bytes: Buffer.allocUnsafeSlow(length), filled: 0 };
        this.#coming(length);
        bytes = this.#fill(this.#large, bytes.subarray(prefixBytes));
        break;
      }
      if (bytes.length < end) break;
      this.#deliver(bytes.subarray(prefixBytes, end));
      bytes = bytes.subarray(end);
    }
    this.#rest = bytes;
    return true;
  }

  /** Returns the bytes after the message. */
  #fill(large: { readonly bytes: Buffer; filled: number }, received: Buffer): Buffer {
    const taken = received.subarray(0, large.bytes.length - large.filled);
    taken.copy(large.bytes, large.filled);
    large.filled += taken.length;
    if (large.filled === large.bytes.length) {
      this.#large = null;
      this.#rest = Buffer.alloc(0);
      this.#deliver(large.bytes);
    }
    return received.subarray(taken.length);
  }
}

interface LargeMessage {
  readonly size: number;
  readonly begin: () => void;
}

/**
 * Limits the memory of large messages that are being received.
 *
 * Invariants: messages enter in the order in which they began. Those inside hold at most `bytes` together, or are a single larger one.
 */
export class MessageRoom {
  readonly #bytes: number;
  readonly #waiting = new Set<LargeMessage>();
  readonly #inside = new Set<LargeMessage>();
  #held = 0;

  constructor(bytes: number) {
    this.#bytes = bytes;
  }

  /** Calls `begin` when there is room, possibly immediately. Returns a function that frees the room. */
  enter(size: number, begin: () => void): () => void {
    const coming = { size, begin };
    this.#waiting.add(coming);
    this.#advance();
    return () => {
      if (this.#inside.delete(coming)) this.#held -= size;
      this.#waiting.delete(coming);
      this.#advance();
    };
  }

  #advance(): void {
    for (const coming of this.#waiting) {
      if (this.#inside.size > 0 && this.#held + coming.size > this.#bytes) return;
      this.#waiting.delete(coming);
      this.#inside.add(coming);
      this.#held += coming.size;
      coming.begin();
    }
  }
}
