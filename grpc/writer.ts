/**
 * A protobuf writer for the generated code of protobufjs that writes directly into memory.
 *
 * The writer of protobufjs keeps every number and string as an object until a message is finished, which costs more than the bytes
 * themselves. This one writes them immediately. It inserts the length of a nested message at its end, which moves the content of messages
 * longer than 127 bytes by a byte or two.
 *
 * Invariant: the bytes equal those of protobufjs' own writer (writer.test.ts) for the content of Envoy's messages: well-formed strings,
 * integers, and bytes.
 */

/** Messages share buffers of this size, so a small message that is kept keeps its whole buffer. */
const slabBytes = 64 * 1024;
/** More than the size of most messages; extra room in a new buffer. */
const roomBytes = 4 * 1024;
/** Up to this length a loop is faster than a native call. */
const shortText = 24;
/** A UTF-16 unit takes at most three bytes, so the size of such a text fits into one byte. */
const textOfShortLength = Math.floor(0x7f / 3);

/** The most bytes of a 32-bit length. */
const longestLength = 5;
const lengthBytes = (length: number): number =>
  length < 0x80 ? 1 : length < 0x4000 ? 2 : length < 0x200000 ? 3 : length < 0x10000000 ? 4 : 5;

/** Writes one message at a time, up to `finish`. */
export class MessageWriter {
  #slab: Buffer = Buffer.allocUnsafeSlow(slabBytes);
  #begin = 0;
  #at = 0;
  /** Offsets of the lengths of the open nested messages. */
  #outer: number[] = [];

  /** Returns the message; its memory is shared with others. */
  finish(): Buffer {
    const bytes = this.#slab.subarray(this.#begin, this.#at);
    this.#begin = this.#at;
    this.#outer = [];
    // Small messages must not keep the buffer of a large one.
    if (this.#slab.length > slabBytes) this.#renew();
    return bytes;
  }

  /** Discards a message that could not be written. */
  drop(): void {
    this.#outer = [];
    this.#renew();
  }

  #renew(): void {
    this.#slab = Buffer.allocUnsafeSlow(slabBytes);
    this.#begin = 0;
    this.#at = 0;
  }

  uint32(value: number): this {
    this.#need(longestLength);
    this.#varint(value >>> 0);
    return this;
  }

  /** Also for enums; a negative number takes ten bytes. */
  int32(value: number): this {
    if (value >= 0) return this.uint32(value);
    return this.#int64(BigInt(value));
  }

  bool(value: boolean): this {
    this.#need(1);
    this.#slab[this.#at++] = value ? 1 : 0;
    return this;
  }

  double(value: number): this {
    this.#need(8);
    this.#at = this.#slab.writeDoubleLE(value, this.#at);
    return this;
  }

  int64(value: number | bigint): this {
    return this.#int64(BigInt(value));
  }

  bytes(value: Uint8Array): this {
    if (typeof value === 'string') throw new TypeError('Bytes are given as bytes.');
    this.#need(value.length + longestLength);
    this.#varint(value.length);
    this.#slab.set(value, this.#at);
    this.#at += value.length;
    return this;
  }

  string(value: string): this {
    const { length } = value;
    if (length > textOfShortLength) {
      const size = Buffer.byteLength(value);
      this.#need(size + longestLength);
      this.#varint(size);
      this.#at += this.#slab.write(value, this.#at);
      return this;
    }
    this.#need(3 * length + 1);
    const slab = this.#slab;
    const at = this.#at + 1;
    let written = 0;
    if (length <= shortText)
      for (; written < length; written++) {
        const code = value.charCodeAt(written);
        if (code > 0x7f) break;
        slab[at + written] = code;
      }
    if (written < length) written = slab.write(value, at);
    slab[this.#at] = written;
    this.#at = at + written;
    return this;
  }

  /** Begins a nested message. */
  fork(): this {
    this.#need(1);
    this.#outer.push(this.#at++);
    return this;
  }

  /** Ends a nested message. */
  ldelim(): this {
    // First, because it may move the message.
    this.#need(longestLength - 1);
    const place = this.#outer.pop();
    if (place === undefined) throw new Error('No message has begun in this one.');
    const begin = place + 1;
    const length = this.#at - begin;
    const more = lengthBytes(length) - 1;
    if (more > 0) this.#slab.copyWithin(begin + more, begin, this.#at);
    this.#at = place;
    this.#varint(length);
    this.#at += length;
    return this;
  }

  #varint(value: number): void {
    const slab = this.#slab;
    let left = value;
    for (; left > 0x7f; left >>>= 7) slab[this.#at++] = (left & 0x7f) | 0x80;
    slab[this.#at++] = left;
  }

  #int64(value: bigint): this {
    this.#need(10);
    let left = BigInt.asUintN(64, value);
    for (; left > 0x7fn; left >>= 7n) this.#slab[this.#at++] = Number(left & 0x7fn) | 0x80;
    this.#slab[this.#at++] = Number(left);
    return this;
  }

  /** Makes room for more bytes. Moves a message that does not fit to a new, possibly larger buffer. */
  #need(bytes: number): void {
    if (this.#at + bytes <= this.#slab.length) return;
    const written = this.#at - this.#begin;
    const wanted = 2 * written + bytes + roomBytes;
    const slab = Buffer.allocUnsafeSlow(Math.max(slabBytes, wanted));
    this.#slab.copy(slab, 0, this.#begin, this.#at);
    this.#outer = this.#outer.map((place) => place - this.#begin);
    this.#slab = slab;
    this.#begin = 0;
    this.#at = written;
  }
}
