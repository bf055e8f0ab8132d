/**
 * Undoes the compression of a reply: some servers, and proxies in front of them, compress although the gateway asks them not to.
 *
 * Invariant: what comes out is bounded, since a few bytes can stand for any number.
 */
import { brotliDecompressSync, createBrotliDecompress, createUnzip, unzipSync } from 'node:zlib';
import type { Headers } from './ext-proc.ts';

/** Gzip and deflate tell themselves apart. */
const unzip = { whole: unzipSync, open: createUnzip };
const kinds = {
  gzip: unzip,
  'x-gzip': unzip,
  deflate: unzip,
  br: { whole: brotliDecompressSync, open: createBrotliDecompress },
} as const;

export type Encoding = keyof typeof kinds;

const saidIn = (headers: Headers): string => headers.get('content-encoding')?.trim().toLowerCase() || 'identity';
const isKnown = (said: string): said is Encoding => Object.hasOwn(kinds, said);

/** Returns how a body is compressed; null if it is not, or if nobody here could undo it. */
export function encodingOf(headers: Headers): Encoding | null {
  const said = saidIn(headers);
  return isKnown(said) ? said : null;
}

/** Whether a body is compressed in a way that cannot be undone here. */
export function isUnreadable(headers: Headers): boolean {
  const said = saidIn(headers);
  return said !== 'identity' && !isKnown(said);
}

/** Returns a whole body in memory of its own; null if it cannot be read, or has more than `most` bytes. */
export function decompressed(bytes: Uint8Array, encoding: Encoding, most: number): Uint8Array | null {
  try {
    return new Uint8Array(kinds[encoding].whole(bytes, { maxOutputLength: most }));
  } catch {
    return null;
  }
}

/** The most bytes that one piece of a stream may stand for. */
const mostOfPiece = 16 * 1024 * 1024;

/** Undoes the compression of a stream piece by piece, outside of the event loop. */
export class Decompressor {
  readonly #stream;
  #out: Buffer[] = [];
  #length = 0;
  #isBroken = false;
  #onStop = (): void => undefined;
  /** The pieces are taken one after the other. */
  #last: Promise<unknown> = Promise.resolve();

  constructor(encoding: Encoding) {
    this.#stream = kinds[encoding].open();
    this.#stream.on('data', (part: Buffer) => {
      this.#length += part.length;
      if (this.#length > mostOfPiece) this.close();
      else this.#out.push(part);
    });
    this.#stream.on('error', () => this.close());
    // Bytes behind its end are not read, and would be waited for.
    this.#stream.on('end', () => this.#onStop());
  }

  /** Returns what a piece stands for; null from the piece on that cannot be read. */
  take(bytes: Buffer): Promise<Buffer | null> {
    const taken = this.#last.then(() => this.#take(bytes));
    this.#last = taken;
    return taken;
  }

  async #take(bytes: Buffer): Promise<Buffer | null> {
    if (this.#isBroken) return null;
    if (bytes.length > 0)
      await new Promise<void>((resolve) => {
        // A stream that breaks, or is closed, does not come back to its last piece.
        this.#onStop = resolve;
        this.#stream.write(bytes, () => setImmediate(resolve));
      });
    const whole = Buffer.concat(this.#out);
    this.#out = [];
    this.#length = 0;
    return this.#isBroken ? null : whole;
  }

  /** Ends the reading; nothing comes out any more. */
  close(): void {
    this.#isBroken = true;
    this.#stream.destroy();
    this.#onStop();
  }
}
