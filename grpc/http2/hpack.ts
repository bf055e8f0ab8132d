/**
 * Decodes the header compression of HTTP/2 (RFC 7541). Encoding is not needed, because our own headers are few and constant.
 *
 * Invariant: a connection has one decoder that gets every header block in order, since each may change the dynamic table.
 */
import { errorCode, ProtocolError } from './frames.ts';

class CompressionError extends ProtocolError {
  constructor(message: string) {
    super(errorCode.compression, message);
  }
}

/** The Huffman code (RFC 7541, appendix B). Codes of one length rise with the symbol, so the lengths define it. */
const codeLengths = [
  13, 23, 28, 28, 28, 28, 28, 28, 28, 24, 30, 28, 28, 30, 28, 28, 28, 28, 28, 28, 28, 28, 30, 28, 28, 28, 28, 28, 28,
  28, 28, 28, 6, 10, 10, 12, 13, 6, 8, 11, 10, 10, 8, 11, 8, 6, 6, 6, 5, 5, 5, 6, 6, 6, 6, 6, 6, 6, 7, 8, 15, 6, 12, 10,
  13, 6, 7, 7, 7, 7, 7, 7, 7, 7, 7, 7, 7, 7, 7, 7, 7, 7, 7, 7, 7, 7, 7, 7, 8, 7, 8, 13, 19, 13, 14, 6, 15, 5, 6, 5, 6,
  5, 6, 6, 6, 5, 7, 7, 6, 6, 6, 5, 6, 7, 6, 5, 5, 6, 7, 7, 7, 7, 7, 15, 11, 14, 13, 28, 20, 22, 20, 20, 22, 22, 22, 23,
  22, 23, 23, 23, 23, 23, 24, 23, 24, 24, 22, 23, 24, 23, 23, 23, 23, 21, 22, 23, 22, 23, 23, 24, 22, 21, 20, 22, 22,
  23, 23, 21, 23, 22, 22, 24, 21, 22, 23, 23, 21, 21, 22, 21, 23, 22, 23, 23, 20, 22, 22, 22, 23, 22, 22, 23, 26, 26,
  20, 19, 22, 23, 22, 25, 26, 26, 26, 27, 27, 26, 24, 25, 19, 21, 26, 27, 27, 26, 27, 24, 21, 21, 26, 26, 28, 27, 27,
  27, 20, 24, 20, 21, 22, 21, 21, 23, 22, 22, 25, 25, 24, 24, 26, 23, 26, 27, 26, 26, 27, 27, 27, 27, 27, 28, 27, 27,
  27, 27, 27, 26, 30,
] as const;

const endOfString = 256;

/** A binary tree in two arrays: `next[2 × node + bit]` is a node, or −1 − symbol. Node 0 is the root; 0 means "none yet". */
function buildTree(): Int32Array {
  const tree = new Int32Array(2 * 300);
  let nodes = 1;
  let code = 0;
  let length = 0;
  const symbols = codeLengths
    .map((bits, symbol) => ({ bits, symbol }))
    .sort((a, b) => a.bits - b.bits || a.symbol - b.symbol);
  for (const { bits, symbol } of symbols) {
    code <<= bits - length;
    length = bits;
    let node = 0;
    for (let bit = bits - 1; bit > 0; bit--) {
      const at = 2 * node + ((code >>> bit) & 1);
      if (tree[at] === 0) tree[at] = nodes++;
      node = tree[at] as number;
    }
    tree[2 * node + (code & 1)] = -1 - symbol;
    code += 1;
  }
  return tree;
}

const tree = buildTree();

/** Returns the decoded bytes as a Latin-1 string, or null for an invalid code. */
function decodeHuffman(bytes: Uint8Array): string | null {
  let out = '';
  let node = 0;
  /** Bits since the last symbol, and whether all are ones: only up to seven ones may pad the end. */
  let pending = 0;
  let ones = true;
  for (const byte of bytes) {
    for (let bit = 7; bit >= 0; bit--) {
      const value = (byte >>> bit) & 1;
      const next = tree[2 * node + value] as number;
      if (next < 0) {
        const symbol = -1 - next;
        if (symbol === endOfString) return null;
        out += String.fromCharCode(symbol);
        node = 0;
        pending = 0;
        ones = true;
      } else {
        node = next;
        pending += 1;
        ones &&= value === 1;
      }
    }
  }
  return pending <= 7 && ones ? out : null;
}

type Field = readonly [name: string, value: string];

/** RFC 7541, appendix A: names, with their values if they have one. */
const staticTable: readonly Field[] = [
  ':authority|:method=GET|:method=POST|:path=/|:path=/index.html|:scheme=http|:scheme=https|:status=200',
  ':status=204|:status=206|:status=304|:status=400|:status=404|:status=500|accept-charset',
  'accept-encoding=gzip, deflate|accept-language|accept-ranges|accept|access-control-allow-origin|age|allow',
  'authorization|cache-control|content-disposition|content-encoding|content-language|content-length',
  'content-location|content-range|content-type|cookie|date|etag|expect|expires|from|host|if-match',
  'if-modified-since|if-none-match|if-range|if-unmodified-since|last-modified|link|location|max-forwards',
  'proxy-authenticate|proxy-authorization|range|referer|refresh|retry-after|server|set-cookie',
  'strict-transport-security|transfer-encoding|user-agent|vary|via|www-authenticate',
]
  .join('|')
  .split('|')
  .map((entry) => {
    const [name, value = ''] = entry.split('=', 2) as [string, string?];
    return [name, value];
  });

/** The default size, since we announce no other. */
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
    this.#resizeTable();
    while (this.#at < block.length) {
      const [name, value] = this.#field();
      headers.set(name, value);
    }
    return headers;
  }

  /** A peer may resize the table only before the fields of a block. */
  #resizeTable(): void {
    while (((this.#bytes[this.#at] ?? 0) & 0xe0) === 0x20) {
      this.#capacity = this.#integer(5);
      if (this.#capacity > tableBytes) throw new CompressionError('The dynamic table was made larger than announced.');
      this.#evict();
    }
  }

  #field(): Field {
    const first = this.#bytes[this.#at] ?? 0;
    if (first & 0x80) return this.#indexed(this.#integer(7));
    if (first & 0x40) {
      const field = this.#literal(6);
      this.#insert(field);
      return field;
    }
    if (first & 0x20) throw new CompressionError('The dynamic table was resized between fields.');
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
