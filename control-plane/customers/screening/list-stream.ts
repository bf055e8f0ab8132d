/**
 * Reads the files of a list piece by piece, so that a list of any length costs the memory of one entry.
 *
 * Invariant: bytes are given out as one character each (latin1), since everything that separates entries and fields is
 * ASCII; text is decoded field by field, or entry by entry, with `decodeText`. The SHA-256 covers every byte of the file.
 */
import { createHash } from 'node:crypto';
import { createReadStream } from 'node:fs';
import { basename } from 'node:path';

export interface ListedName {
  /** The list's own id of the entry. */
  readonly entryId: string;
  readonly name: string;
}
export type OnName = (listed: ListedName) => void;

/** `names`: how many of its names were compared. */
export interface FileVersion {
  readonly name: string;
  readonly sha256: string;
  readonly names: number;
}

export interface ListContent {
  /** As the list states it; null: it states none. */
  readonly date: string | null;
  readonly entries: number;
  readonly files: readonly FileVersion[];
}

/** A list that is not there, or not whole, or of another form. Nobody may be cleared by it. */
export class ListError extends Error {}

export interface ByteSource {
  readonly name: string;
  readonly chunks: AsyncIterable<Uint8Array>;
}

export const fileSource = (path: string): ByteSource => ({ name: basename(path), chunks: createReadStream(path) });

export interface Sink {
  push(text: string): void;
  /** Throws a ListError if what was pushed is not whole. */
  end(): void;
}

/** Hands each name on, and counts it. */
export function counting(onName: OnName): { readonly onName: OnName; names(): number } {
  let names = 0;
  return {
    onName: (listed) => {
      names += 1;
      onName(listed);
    },
    names: () => names,
  };
}

/** Gives the whole file to `sink`, piece by piece. Throws a ListError that names the file. */
export async function readBytes({ name, chunks }: ByteSource, sink: Sink): Promise<Omit<FileVersion, 'names'>> {
  const hash = createHash('sha256');
  try {
    for await (const chunk of chunks) {
      hash.update(chunk);
      sink.push(Buffer.from(chunk.buffer, chunk.byteOffset, chunk.byteLength).toString('latin1'));
    }
    sink.end();
  } catch (error) {
    if (error instanceof ListError) throw new ListError(`${name}: ${error.message}`);
    if (!(error instanceof Error && 'code' in error)) throw error;
    throw new ListError(`${name} cannot be read (${String(error.code)})`);
  }
  return { name, sha256: hash.digest('hex') };
}

const utf8 = new TextDecoder('utf-8', { fatal: true });
const windows1252 = new TextDecoder('windows-1252');

/** UTF-8, or Windows-1252 where it is not valid UTF-8: old exports are written so, and neither hides a name. */
export function decodeText(bytes: string): string {
  if (!/\P{ASCII}/u.test(bytes)) return bytes;
  const buffer = Buffer.from(bytes, 'latin1');
  try {
    return utf8.decode(buffer);
  } catch {
    return windows1252.decode(buffer);
  }
}
