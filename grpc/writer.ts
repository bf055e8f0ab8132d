/**
 * Writes messages of protobuf straight into memory, for the code that protobufjs writes for each type.
 *
 * Why our own: its writer keeps every number and text as an object until a message is finished, and makes its memory then,
 * which costs more than all the bytes. Here they are written at once; the length of what lies in a message is put in front when
 * that is known, which moves what is longer than 127 bytes by a byte or two.
 *
 * Invariant: the bytes are those of protobufjs' own writer (writer.test.ts), for what the messages of Envoy's services hold: well-formed
 * text, whole numbers, and bytes that are bytes.
 */

/** Messages are cut from memory of this size. A small one that is kept keeps all of it. */
const slabBytes = 64 * 1024;
/** A new one is taken where less is left than most messages have. */
const roomBytes = 4 * 1024;
/** Up to here a loop is faster than a call out of JavaScript. */
const shortText = 24;
/** A character is three bytes at most, so a text of this length has a length of one byte in any case. */
const textOfShortLength = Math.floor(0x7f / 3);

/** Bytes of the longest length of 32 bits. */
const longestLength = 5;
const lengthBytes = (length: number): number =>
  length < 0x80 ? 1 : length < 0x4000 ? 2 : length < 0x200000 ? 3 : length < 0x10000000 ? 4 : 5;

/** One message at a time: what `finish` returns is its bytes, and the next one begins. */
export class MessageWriter {
  #slab: Buffer = Buffer.allocUnsafeSlow(slabBytes);
  #begin = 0;
  #at = 0;
  /** Where the messages begin that the one being written lies in, by the place of their length. */
  #outer: number[] = [];

  /** Bytes of a message that shares its memory with others. */
  finish(): Buffer {
    const bytes = this.#slab.subarray(this.#begin, this.#at);
    this.#begin = this.#at;
    this.#outer = [];
    // What was made for one large message would be kept by small ones.
    if (this.#slab.length > slabBytes) this.#renew();
    return bytes;
  }

  /** Forgets what was written of a message that cannot be, and trusts nothing that it has left. */
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

  /** Also what an enumeration has; a negative number takes ten bytes. */
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

  /** Begins a message in this one. */
  fork(): this {
    this.#need(1);
    this.#outer.push(this.#at++);
    return this;
  }

  /** Ends it. */
  ldelim(): this {
    // Before the place is known, since it may be moved.
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

  /** Makes room for so many bytes. A message that no longer fits is moved to new memory, larger than usual if it has to be. */
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
