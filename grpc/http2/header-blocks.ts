/**
 * Assembles and decodes header blocks from one or more frames.
 *
 * Invariant: no other frame comes between the parts of a block, and the size of a block is limited.
 */
import { errorCode, type Frame, flag, frameType, ProtocolError, unpadded } from './frames.ts';
import { HpackDecoder } from './hpack.ts';

const maxBlockBytes = 64 * 1024;
const maxParts = 64;

export interface HeaderBlock {
  readonly stream: number;
  /** Whether the stream has no data. */
  readonly end: boolean;
  readonly headers: ReadonlyMap<string, string>;
}

export class HeaderBlocks {
  readonly #decoder = new HpackDecoder();
  #open: { readonly stream: number; readonly end: boolean; readonly parts: Buffer[]; size: number } | null = null;

  /** Must be called first for every frame. Throws ProtocolError. */
  admit({ type, stream }: Frame): void {
    const continues = type === frameType.continuation;
    if (continues ? this.#open?.stream !== stream : this.#open !== null) {
      throw new ProtocolError(errorCode.protocol, 'a header block was interrupted, or never begun');
    }
  }

  /** Takes a HEADERS or CONTINUATION frame. Returns the block once it is complete. */
  push({ type, flags, stream, payload }: Frame): HeaderBlock | null {
    const begins = type === frameType.headers;
    const part = begins ? unpadded(flags, payload, flags & flag.priority ? 5 : 0) : payload;
    if (begins) this.#open = { stream, end: (flags & flag.endStream) !== 0, parts: [], size: 0 };
    const open = this.#open;
    if (!open) return null;
    open.parts.push(part);
    open.size += part.length;
    if (open.size > maxBlockBytes || open.parts.length > maxParts)
      throw new ProtocolError(errorCode.calm, 'too many headers');
    if ((flags & flag.endHeaders) === 0) return null;
    this.#open = null;
    const block = open.parts.length === 1 ? part : Buffer.concat(open.parts);
    return { stream, end: open.end, headers: this.#decoder.decode(block) };
  }
}
