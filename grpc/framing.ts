/**
 * Messages of gRPC in the data of a stream: five bytes in front of each say how long it is.
 *
 * A large message gets its memory when its length is known, so all of them at once could be more than the process has; hence
 * the room, in which they take turns.
 */
const prefixBytes = 5;
/** A 64 MiB reply and its frame. */
export const maxMessageBytes = 72 * 1024 * 1024;
/** A larger message gets its place as soon as its length is known. */
const largeMessage = 64 * 1024;
/** Below this it costs less to copy the parts of a message together than to send each in a frame of its own. */
const largeParts = 16 * 1024;

/** A small message. */
export function framedWhole(message: Uint8Array): Buffer {
  const bytes = Buffer.allocUnsafe(prefixBytes + message.length);
  bytes[0] = 0;
  bytes.writeUInt32BE(message.length, 1);
  bytes.set(message, prefixBytes);
  return bytes;
}

/** Parts of a large message stay where they are, but for the first. */
export function framed(parts: readonly Uint8Array[]): readonly Buffer[] {
  const [first = Buffer.alloc(0), ...others] = parts;
  if (others.length === 0) return [framedWhole(first)];
  const prefix = Buffer.allocUnsafe(prefixBytes);
  prefix[0] = 0;
  const length = parts.reduce((sum, part) => sum + part.length, 0);
  prefix.writeUInt32BE(length, 1);
  if (length < largeParts) return [Buffer.concat([prefix, ...parts])];
  return [Buffer.concat([prefix, first]), ...others.map(asBuffer)];
}

/** The same memory. */
export const asBuffer = (bytes: Uint8Array): Buffer =>
  Buffer.isBuffer(bytes) ? bytes : Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length);

/** Cuts messages out of the data of one stream. */
export class MessageReader {
  readonly #deliver: (message: Buffer) => void;
  readonly #coming: (length: number) => void;
  /** What of a message, or of its prefix, is there. */
  #rest: Buffer = Buffer.alloc(0);
  /** A message that comes in many parts, filled as they come: put together at once it would hold up everything else. */
  #large: { readonly bytes: Buffer; filled: number } | null = null;

  /** `coming`: told of the beginning of a message that comes in many parts. */
  constructor(deliver: (message: Buffer) => void, coming: (length: number) => void = () => undefined) {
    this.#deliver = deliver;
    this.#coming = coming;
  }

  /** False if a message is larger than allowed or compressed, which nobody asked for. */
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

  /** Returns what is not part of the message. */
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

interface Coming {
  readonly size: number;
  readonly begin: () => void;
}

/**
 * Room for the large messages that are on their way.
 *
 * Invariants: they come in the order in which they began; those that have room hold no more than `bytes` together, or are
 * one that is larger; who leaves makes room once.
 */
export class MessageRoom {
  readonly #bytes: number;
  readonly #waiting = new Set<Coming>();
  readonly #inside = new Set<Coming>();
  #held = 0;

  constructor(bytes: number) {
    this.#bytes = bytes;
  }

  /** `begin` is called when there is room, at once if there is now. Returns what makes the room free again. */
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
