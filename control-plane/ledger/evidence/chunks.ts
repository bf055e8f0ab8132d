/**
 * Stores the bytes of packs that a job builds as compressed chunks in Postgres, where every instance can read them.
 *
 * Invariant: at most a few chunks are in memory, whether a pack is written or read. Texts stay texts until they are stored, and are then
 * encoded into one buffer that is used again and again, because memory outside of V8's heap is freed late and thousands of buffers would pile up.
 */
import { setTimeout as delay } from 'node:timers/promises';
import { promisify } from 'node:util';
import { gunzip, gzip } from 'node:zlib';
import { elementAt } from '@gw/contract/internal/defined';
import type { Database } from '@gw/prisma/client';
import type { PackRow } from './packs.ts';

const [compressed, plain] = [promisify(gzip), promisify(gunzip)];
/** Before it is compressed. */
const chunkBytes = 1024 * 1024;

type Piece = string | Uint8Array;

const encoder = new TextEncoder();
/** Fills the room as far as whole characters fit. */
function putInto(piece: Piece, room: Uint8Array): { readonly read: number; readonly written: number } {
  if (typeof piece === 'string') return encoder.encodeInto(piece, room);
  const written = Math.min(piece.length, room.length);
  room.set(piece.subarray(0, written));
  return { read: written, written };
}

type Try = Pick<PackRow, 'id' | 'try'>;

/** Collects the texts of each section and stores them chunk by chunk. Sections are numbered from 0. */
export class ChunkWriter {
  readonly #db: Database;
  readonly #pack: Try;
  readonly #sections = new Map<number, { pieces: Piece[]; length: number; next: number }>();
  readonly #buffer = Buffer.allocUnsafeSlow(chunkBytes);
  #bytes = 0;
  #keptBytes = 0;

  constructor(db: Database, pack: Try) {
    this.#db = db;
    this.#pack = pack;
  }

  /** The bytes that were written, stored or not. */
  get bytes(): number {
    return this.#bytes;
  }

  get keptBytes(): number {
    return this.#keptBytes;
  }

  write(section: number, piece: Piece): void {
    const own = this.#sections.get(section) ?? { pieces: [], length: 0, next: 0 };
    this.#sections.set(section, own);
    own.pieces.push(piece);
    own.length += piece.length;
    this.#bytes += Buffer.byteLength(piece);
  }

  /** Stores the sections that are long enough for a chunk, or all of them. */
  async flush(how: 'all' | 'long' = 'long'): Promise<void> {
    const least = how === 'all' ? 1 : chunkBytes;
    for (const [section, own] of this.#sections) {
      if (own.length < least) continue;
      const { pieces } = own;
      own.pieces = [];
      own.length = 0;
      for (const chunk of this.#chunks(pieces)) {
        await this.#store(section, own.next, chunk);
        own.next += 1;
      }
    }
  }

  /** Each chunk is valid until the next one. */
  *#chunks(pieces: readonly Piece[]): Generator<Uint8Array> {
    let filled = 0;
    for (const piece of pieces)
      for (let rest = piece; rest.length > 0; ) {
        const room = this.#buffer.subarray(filled);
        const { read, written } = putInto(rest, room);
        filled += written;
        rest = typeof rest === 'string' ? rest.slice(read) : rest.subarray(read);
        if (rest.length === 0) break;
        yield this.#buffer.subarray(0, filled);
        filled = 0;
      }
    if (filled > 0) yield this.#buffer.subarray(0, filled);
  }

  async #store(section: number, number: number, text: Uint8Array): Promise<void> {
    const bytes = await compressed(text, { level: 1, chunkSize: 256 * 1024 });
    this.#keptBytes += bytes.length;
    await this.#db.$executeRaw`
      INSERT INTO evidence_pack_chunks (pack_id, try, section, number, length, bytes)
      VALUES (${this.#pack.id}, ${this.#pack.try}, ${section}, ${number}, ${text.length}, ${new Uint8Array(bytes)})`;
  }
}

/** The pack expired, or was deleted, while it was read. */
export class PackGoneError extends Error {}

/** Reads the bytes of a finished pack from `start` to before `end`. */
export async function* chunksOf(db: Database, pack: Try, start: number, end: number): AsyncGenerator<Buffer> {
  const chunks = await db.$queryRaw<{ section: number; number: number; length: number }[]>`
    SELECT section, number, length FROM evidence_pack_chunks
    WHERE pack_id = ${pack.id} AND try = ${pack.try} ORDER BY section, number`;
  let at = 0;
  let workedMs = 0;
  for (const { length, number, section } of chunks) {
    const [begins, ends] = [at, at + length];
    at = ends;
    if (ends <= start) continue;
    if (begins >= end) break;
    // It rests for as long as it worked on the last chunk, so that it does not hold up receipts and other readers.
    await delay(workedMs);
    const from = performance.now();
    const rows = await db.$queryRaw<{ bytes: Uint8Array }[]>`
      SELECT bytes FROM evidence_pack_chunks
      WHERE pack_id = ${pack.id} AND try = ${pack.try} AND section = ${section} AND number = ${number}`;
    if (rows.length === 0) throw new PackGoneError('The pack is not kept any more.');
    // It unpacks into one buffer, because many small ones would be freed late.
    const text = await plain(elementAt(rows, 0).bytes, { chunkSize: Math.max(length + 1, 1024) });
    workedMs = performance.now() - from;
    yield text.subarray(Math.max(0, start - begins), Math.min(length, end - begins));
  }
  if (at < end) throw new PackGoneError('The pack is not kept any more.');
}
