/**
 * Header compression of HTTP/2 (RFC 7541), decoding only; our own headers are few and constant.
 *
 * Invariant: one decoder per connection sees every header block in order, since each block may change the dynamic table.
 */
import { errorCode } from './frames.ts';
import { decodeHuffman } from './huffman.ts';
import { ProtocolError } from './protocol-error.ts';

class CompressionError extends ProtocolError {
  constructor(message: string) {
    super(errorCode.compression, message);
  }
}

/** RFC 7541, appendix A. */
const staticTable: readonly (readonly [string, string])[] = [
  [':authority', ''],
  [':method', 'GET'],
  [':method', 'POST'],
  [':path', '/'],
  [':path', '/index.html'],
  [':scheme', 'http'],
  [':scheme', 'https'],
  [':status', '200'],
  [':status', '204'],
  [':status', '206'],
  [':status', '304'],
  [':status', '400'],
  [':status', '404'],
  [':status', '500'],
  ['accept-charset', ''],
  ['accept-encoding', 'gzip, deflate'],
  ['accept-language', ''],
  ['accept-ranges', ''],
  ['accept', ''],
  ['access-control-allow-origin', ''],
  ['age', ''],
  ['allow', ''],
  ['authorization', ''],
  ['cache-control', ''],
  ['content-disposition', ''],
  ['content-encoding', ''],
  ['content-language', ''],
  ['content-length', ''],
  ['content-location', ''],
  ['content-range', ''],
  ['content-type', ''],
  ['cookie', ''],
  ['date', ''],
  ['etag', ''],
  ['expect', ''],
  ['expires', ''],
  ['from', ''],
  ['host', ''],
  ['if-match', ''],
  ['if-modified-since', ''],
  ['if-none-match', ''],
  ['if-range', ''],
  ['if-unmodified-since', ''],
  ['last-modified', ''],
  ['link', ''],
  ['location', ''],
  ['max-forwards', ''],
  ['proxy-authenticate', ''],
  ['proxy-authorization', ''],
  ['range', ''],
  ['referer', ''],
  ['refresh', ''],
  ['retry-after', ''],
  ['server', ''],
  ['set-cookie', ''],
  ['strict-transport-security', ''],
  ['transfer-encoding', ''],
  ['user-agent', ''],
  ['vary', ''],
  ['via', ''],
  ['www-authenticate', ''],
];

type Field = readonly [name: string, value: string];

/** We announce nothing else, so this is the size that both sides start with. */
const tableBytes = 4096;
const sizeOf = ([name, value]: Field) => name.length + value.length + 32;

export class HpackDecoder {
  /** Newest first. */
  readonly #dynamic: Field[] = [];
  #size = 0;
  #capacity = tableBytes;
  #bytes: Uint8Array = new Uint8Array();
  #at = 0;

  /** Names and values of one header block. Throws ProtocolError. */
  decode(block: Uint8Array): Map<string, string> {
    const headers = new Map<string, string>();
    this.#bytes = block;
    this.#at = 0;
    while (this.#at < block.length) {
      const field = this.#field();
      if (field) headers.set(field[0], field[1]);
    }
    return headers;
  }

  #field(): Field | null {
    const first = this.#bytes[this.#at] as number;
    if (first & 0x80) return this.#indexed(this.#integer(7));
    if (first & 0x40) {
      const field = this.#literal(6);
      this.#insert(field);
      return field;
    }
    if (first & 0x20) {
      this.#capacity = this.#integer(5);
      if (this.#capacity > tableBytes) throw new CompressionError('The dynamic table was made larger than announced.');
      this.#evict();
      return null;
    }
    return this.#literal(4);
  }

  #literal(prefix: number): Field {
    const index = this.#integer(prefix);
    const name = index === 0 ? this.#string() : this.#indexed(index)[0];
    return [name, this.#string()];
  }

  #indexed(index: number): Field {
    const field = index <= staticTable.length ? staticTable[index - 1] : this.#dynamic[index - staticTable.length - 1];
    if (!field) throw new CompressionError('A header index is out of range.');
    return field;
  }

  #integer(prefix: number): number {
    const most = (1 << prefix) - 1;
    let value = (this.#bytes[this.#at++] ?? 0) & most;
    if (value < most) return value;
    for (let shift = 0; ; shift += 7) {
      const byte = this.#bytes[this.#at++];
      if (byte === undefined || shift > 21) throw new CompressionError('A header integer is malformed.');
      value += (byte & 0x7f) << shift;
      if (byte < 0x80) return value;
    }
  }

  #string(): string {
    const huffman = ((this.#bytes[this.#at] ?? 0) & 0x80) !== 0;
    const length = this.#integer(7);
    const end = this.#at + length;
    if (end > this.#bytes.length) throw new CompressionError('A header string is cut off.');
    const raw = this.#bytes.subarray(this.#at, end);
    this.#at = end;
    const text = huffman ? decodeHuffman(raw) : Buffer.from(raw.buffer, raw.byteOffset, raw.length).toString('latin1');
    if (text === null) throw new CompressionError('A header string is not a valid Huffman code.');
    return text;
  }

  #insert(field: Field): void {
    this.#dynamic.unshift(field);
    this.#size += sizeOf(field);
    this.#evict();
  }

  #evict(): void {
    while (this.#size > this.#capacity) {
      const oldest = this.#dynamic.pop();
      if (!oldest) break;
      this.#size -= sizeOf(oldest);
    }
  }
}
