/**
 * Stores the bytes of packs that a job builds as compressed chunks in the store of objects, where every instance can read them. A try has a folder
 * of its own, with the list of its chunks; Postgres has the digest of the list.
 *
 * Invariants: what is read is what was written, since each chunk is compared with its digest in the list, and the list with its own. A row names a
 * list only after all chunks are stored. An object goes only once no row can name it any more, and one whose pack has no row only days later; one
 * that is left behind is found in its folder.
 * At most a few chunks are in memory, whether a pack is written or read. Texts stay texts until they are stored, and are then
 * encoded into one buffer that is used again and again, because memory outside of V8's heap is freed late and thousands of buffers would pile up.
 */
import { hash } from 'node:crypto';
import { setTimeout as delay } from 'node:timers/promises';
import { promisify } from 'node:util';
import { gunzip, gzip } from 'node:zlib';
import { dayMs } from '@gw/contract/internal/durations';
import type { Database } from '@gw/prisma/client';
import { z } from 'zod';
import type { ObjectStore } from '../../shared/objects/objects.ts';
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

const root = 'packs';
const folderOf = (pack: Try): string => `${root}/${pack.id}-${pack.try}`;
const listOf = (pack: Try): string => `${folderOf(pack)}/chunks.json`;

const chunksSchema = z.array(z.strictObject({ name: z.string(), length: z.int(), sha256: z.hash('sha256') }));
type Chunk = z.infer<typeof chunksSchema>[number];

/** No chunk and no list comes near it; of an object that somebody has put in their place no more is read. */
const mostObjectBytes = 16 * 1024 * 1024;

/** Collects the texts of each section and stores them chunk by chunk. Sections are numbered from 0. */
export class ChunkWriter {
  readonly #objects: ObjectStore;
  readonly #pack: Try;
  readonly #sections = new Map<number, { pieces: Piece[]; length: number; chunks: Chunk[] }>();
  readonly #buffer = Buffer.allocUnsafeSlow(chunkBytes);
  #bytes = 0;
  #keptBytes = 0;

  constructor(objects: ObjectStore, pack: Try) {
    this.#objects = objects;
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
    const own = this.#sections.get(section) ?? { pieces: [], length: 0, chunks: [] };
    this.#sections.set(section, own);
    own.pieces.push(piece);
    own.length += piece.length;
    this.#bytes += Buffer.byteLength(piece);
  }

  /** Stores the sections that are long enough for a chunk. */
  flush(): Promise<void> {
    return this.#flush(chunkBytes);
  }

  /** Stores the rest, and the list of all chunks. Returns its digest. */
  async finish(): Promise<string> {
    await this.#flush(1);
    const sections = [...this.#sections].toSorted(([one], [other]) => one - other);
    const list = Buffer.from(JSON.stringify(sections.flatMap(([, { chunks }]) => chunks)));
    this.#keptBytes += list.length;
    await this.#objects.put(listOf(this.#pack), list);
    return hash('sha256', list);
  }

  async #flush(least: number): Promise<void> {
    for (const [section, own] of this.#sections) {
      if (own.length < least) continue;
      const { pieces } = own;
      own.pieces = [];
      own.length = 0;
      for (const text of this.#chunks(pieces))
        own.chunks.push(await this.#store(`${section}-${own.chunks.length}`, text));
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

  async #store(name: string, text: Uint8Array): Promise<Chunk> {
    const bytes = await compressed(text, { level: 1, chunkSize: 256 * 1024 });
    this.#keptBytes += bytes.length;
    await this.#objects.put(`${folderOf(this.#pack)}/${name}`, bytes);
    return { name, length: text.length, sha256: hash('sha256', bytes) };
  }
}

/** An object of a pack is gone, or is not what was written. */
export class PackBrokenError extends Error {
  readonly fault: 'altered' | 'missing';

  constructor(name: string, fault: 'altered' | 'missing') {
    super(`${name} is ${fault}.`);
    this.fault = fault;
  }
}

/** Reads the bytes of a finished pack from `start` to before `end`. Rejects with PackBrokenError rather than give others. */
export async function* chunksOf(
  objects: ObjectStore,
  pack: Try & Pick<PackRow, 'chunks_sha256'>,
  start: number,
  end: number,
): AsyncGenerator<Buffer> {
  const list = await readObject(objects, listOf(pack), pack.chunks_sha256);
  let at = 0;
  let workedMs = 0;
  for (const { length, name, sha256 } of chunksSchema.parse(JSON.parse(list.toString()))) {
    const [begins, ends] = [at, at + length];
    at = ends;
    if (ends <= start) continue;
    if (begins >= end) break;
    // It rests for as long as it worked on the last chunk, so that it does not hold up receipts and other readers.
    await delay(workedMs);
    const from = performance.now();
    const bytes = await readObject(objects, `${folderOf(pack)}/${name}`, sha256);
    // It unpacks into one buffer, because many small ones would be freed late.
    const text = await plain(bytes, { chunkSize: Math.max(length + 1, 1024) });
    workedMs = performance.now() - from;
    yield text.subarray(Math.max(0, start - begins), Math.min(length, end - begins));
  }
}

async function readObject(objects: ObjectStore, name: string, sha256: string | null): Promise<Buffer> {
  const bytes = await objects.get(name, mostObjectBytes);
  if (bytes === null) throw new PackBrokenError(name, 'missing');
  if (hash('sha256', bytes) !== sha256) throw new PackBrokenError(name, 'altered');
  return bytes;
}

const foldersAtOnce = 200;
/** Postgres may have gone back to a time before a pack was ordered, and may come to know it again. */
const unknownMs = 7 * dayMs;
/** Its objects are named after a folder and the time at which its pack was first not known, and are empty. */
const unknown = `${root}/unknown`;

interface Folder extends Try {
  readonly folder: string;
}

/**
 * Removes the objects of tries that are over: of packs that ended, and of tries that another one has followed. Packs that have no row lose theirs once
 * they have had none for `unknownMs`. The folders are listed before the rows are read, and a row never comes back to a try, so what is under way
 * loses nothing.
 */
export async function removeEnded(
  db: Database,
  objects: ObjectStore,
  { now = new Date(), signal }: { readonly now?: Date; readonly signal?: AbortSignal } = {},
): Promise<void> {
  const marks = await marksIn(objects);
  const mayRemove = async (folder: string): Promise<boolean> => {
    const since = marks.get(folder);
    if (since === undefined) await objects.put(`${unknown}/${folder}-${now.getTime()}`, Buffer.alloc(0));
    else if (Math.min(...since) + unknownMs <= now.getTime()) return true;
    marks.delete(folder);
    return false;
  };
  const page: Folder[] = [];
  const removePage = async (): Promise<void> => {
    for (const { folder, known } of await endedOf(db, page.splice(0))) {
      if (signal?.aborted) return;
      if (!known && !(await mayRemove(folder))) continue;
      for await (const name of objects.list(`${root}/${folder}`)) {
        if (signal?.aborted) return;
        await objects.remove(`${root}/${folder}/${name}`);
      }
    }
  };
  for await (const folder of objects.list(root)) {
    const [, id, tries] = /^(pack_[\w-]+)-(\d{1,9})$/.exec(folder) ?? [];
    if (id === undefined) continue;
    page.push({ folder, id, try: Number(tries) });
    if (page.length === foldersAtOnce) await removePage();
  }
  await removePage();
  // The marks that are left are of folders that are gone, or whose packs are known again.
  for (const [folder, since] of marks)
    for (const ms of since) {
      if (signal?.aborted) return;
      await objects.remove(`${unknown}/${folder}-${ms}`);
    }
}

/** The times at which instances found a folder whose pack is not known. */
async function marksIn(objects: ObjectStore): Promise<Map<string, number[]>> {
  const marks = new Map<string, number[]>();
  for await (const name of objects.list(unknown)) {
    const [, folder, ms] = /^(pack_[\w-]+-\d{1,9})-(\d{1,15})$/.exec(name) ?? [];
    if (folder !== undefined) marks.set(folder, [...(marks.get(folder) ?? []), Number(ms)]);
  }
  return marks;
}

/** Finds the tries that no row names. `known`: their pack has a row. */
const endedOf = (
  db: Database,
  tries: readonly Folder[],
): Promise<{ readonly folder: string; readonly known: boolean }[]> =>
  db.$queryRaw`
    SELECT f.folder, EXISTS (SELECT 1 FROM evidence_packs p WHERE p.id = f.id) AS known
    FROM json_to_recordset(${JSON.stringify(tries)}::json) AS f (folder text, id text, try integer)
    WHERE NOT EXISTS (
      SELECT 1 FROM evidence_packs p WHERE p.id = f.id AND (
        (p.try < f.try AND p.state IN ('queued', 'building', 'ready')) OR (p.try = f.try AND p.state IN ('building', 'ready'))))`;
