/**
 * The bytes of packs that a job builds: chunks in Postgres, compressed, which every instance can read.
 *
 * Invariant: at most a few chunks are in memory, whether a pack is written or read.
 */
import { promisify } from 'node:util';
import { gunzip, gzip } from 'node:zlib';
import { elementAt } from '@gw/contract/internal/defined';
import type { Database } from '@gw/prisma/client';
import type { PackRow } from './packs.ts';

const [compressed, plain] = [promisify(gzip), promisify(gunzip)];
/** Of text, before it is compressed. */
const chunkBytes = 1024 * 1024;

type Try = Pick<PackRow, 'id' | 'try'>;

/** Collects the texts of each section and stores them chunk by chunk. Sections are numbered from 0. */
export class ChunkWriter {
  readonly #db: Database;
  readonly #pack: Try;
  readonly #sections = new Map<number, { pieces: Uint8Array[]; length: number; next: number }>();
  #bytes = 0;
  #keptBytes = 0;

  constructor(db: Database, pack: Try) {
    this.#db = db;
    this.#pack = pack;
  }

  /** Of all that was written, stored or not. */
  get bytes(): number {
    return this.#bytes;
  }

  get keptBytes(): number {
    return this.#keptBytes;
  }

  write(section: number, piece: Uint8Array): void {
    const own = this.#sections.get(section) ?? { pieces: [], length: 0, next: 0 };
    this.#sections.set(section, own);
    own.pieces.push(piece);
    own.length += piece.length;
    this.#bytes += piece.length;
  }

  /** Stores what has become long enough, or all. */
  async flush(how: 'all' | 'long' = 'long'): Promise<void> {
    const least = how === 'all' ? 1 : chunkBytes;
    for (const [section, own] of this.#sections) {
      if (own.length < least) continue;
      const text = Buffer.concat(own.pieces);
      own.pieces = [];
      own.length = 0;
      for (let at = 0; at < text.length; at += chunkBytes) {
        await this.#store(section, own.next, text.subarray(at, at + chunkBytes));
        own.next += 1;
      }
    }
  }

  async #store(section: number, number: number, text: Uint8Array): Promise<void> {
    const bytes = await compressed(text, { level: 1 });
    this.#keptBytes += bytes.length;
    await this.#db.$executeRaw`
      INSERT INTO evidence_pack_chunks (pack_id, try, section, number, length, bytes)
      VALUES (${this.#pack.id}, ${this.#pack.try}, ${section}, ${number}, ${text.length}, ${new Uint8Array(bytes)})`;
  }
}

/** Its bytes are gone: it has expired, or was given up, while it was read. */
export class PackGoneError extends Error {}

/** The bytes of a finished pack from `start` to before `end`. */
export async function* chunksOf(db: Database, pack: Try, start: number, end: number): AsyncGenerator<Buffer> {
  const chunks = await db.$queryRaw<{ section: number; number: number; length: number }[]>`
    SELECT section, number, length FROM evidence_pack_chunks
    WHERE pack_id = ${pack.id} AND try = ${pack.try} ORDER BY section, number`;
  let at = 0;
  for (const { length, number, section } of chunks) {
    const [begins, ends] = [at, at + length];
    at = ends;
    if (ends <= start) continue;
    if (begins >= end) break;
    const rows = await db.$queryRaw<{ bytes: Uint8Array }[]>`
      SELECT bytes FROM evidence_pack_chunks
      WHERE pack_id = ${pack.id} AND try = ${pack.try} AND section = ${section} AND number = ${number}`;
    if (rows.length === 0) throw new PackGoneError('The pack is not kept any more.');
    const text = await plain(elementAt(rows, 0).bytes);
    yield text.subarray(Math.max(0, start - begins), Math.min(length, end - begins));
  }
  if (at < end) throw new PackGoneError('The pack is not kept any more.');
}
