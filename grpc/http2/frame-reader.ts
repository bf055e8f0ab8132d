/**
 * Cuts the bytes of a peer into frames.
 *
 * Invariant: holds at most one unfinished frame, which is at most as large as we announced.
 */
import { errorCode, headerBytes, maxFrameSize, preface } from './frames.ts';
import { ProtocolError } from './protocol-error.ts';

export interface Frame {
  readonly type: number;
  readonly flags: number;
  readonly stream: number;
  readonly payload: Buffer;
}

export class FrameReader {
  #rest: Buffer = Buffer.alloc(0);
  #sawPreface = false;

  /** Hands every whole frame to `deliver`, in order. Throws ProtocolError. */
  push(received: Buffer, deliver: (frame: Frame) => void): void {
    const bytes = this.#rest.length > 0 ? Buffer.concat([this.#rest, received]) : received;
    let at = this.#skipPreface(bytes);
    while (this.#sawPreface && bytes.length - at >= headerBytes) {
      const length = bytes.readUIntBE(at, 3);
      if (length > maxFrameSize) throw new ProtocolError(errorCode.frameSize, 'a frame larger than announced');
      const end = at + headerBytes + length;
      if (bytes.length < end) break;
      deliver({
        type: bytes[at + 3] as number,
        flags: bytes[at + 4] as number,
        stream: bytes.readUInt32BE(at + 5) & 0x7fffffff,
        payload: bytes.subarray(at + headerBytes, end),
      });
      at = end;
    }
    // A copy: the rest must not keep the whole buffer alive.
    this.#rest = at === 0 ? bytes : Buffer.from(bytes.subarray(at));
  }

  #skipPreface(bytes: Buffer): number {
    if (this.#sawPreface) return 0;
    const seen = Math.min(preface.length, bytes.length);
    if (!bytes.subarray(0, seen).equals(preface.subarray(0, seen))) {
      throw new ProtocolError(errorCode.protocol, 'not HTTP/2');
    }
    this.#sawPreface = seen === preface.length;
    return this.#sawPreface ? seen : 0;
  }
}
