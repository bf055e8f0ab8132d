/**
 * Reads the files of a list piece by piece, so that a list of any length costs the memory of one entry.
 *
 * Invariant: bytes are given out as one character each (latin1), since everything that separates entries and fields is
 * ASCII; text is decoded field by field, or entry by entry, with `decodeText`. The SHA-256 covers every byte of the
 * file.
 */
import { createHash } from 'node:crypto';
import { createReadStream } from 'node:fs';
import { basename } from 'node:path';

/** One name of an entry; aliases have the same `entryId`. */
export interface ListedName {
  /** The list's own id of the entry. */
  readonly entryId: string;
  readonly name: string;
}
export type OnName = (listed: ListedName) => void;

/** One file of a list. `names` says how many of its names were compared. */
export interface FileVersion {
  readonly name: string;
  readonly sha256: string;
  readonly names: number;
}

/** The properties of a list that was read, without its names. */
export interface ListContent {
  /** The date that the list states, as YYYY-MM-DD; null if it states none. */
  readonly date: string | null;
  readonly entries: number;
  readonly files: readonly FileVersion[];
}

/** A list is missing, or not whole, or has another form. Nobody is cleared by it. */
export class ListError extends Error {}

export interface ByteSource {
  readonly name: string;
  readonly chunks: AsyncIterable<Uint8Array>;
}

export const fileSource = (path: string): ByteSource => ({ name: basename(path), chunks: createReadStream(path) });

/** Takes the text of a file piece by piece, one character for each byte (latin1). */
export interface Sink {
  push(text: string): void;
  /** Throws a ListError if what was pushed is not whole. */
  end(): void;
}

/** Returns an `onName` that counts the names that it hands on. */
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

/** Gives the whole file to `sink`. Throws a ListError that names the file if it cannot be read or is not whole. */
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

/**
 * Decodes latin1 as UTF-8, or as Windows-1252 if that is not valid: old exports are in it, and neither hides a name.
 */
export function decodeText(bytes: string): string {
  if (!/\P{ASCII}/u.test(bytes)) return bytes;
  const buffer = Buffer.from(bytes, 'latin1');
  try {
    return utf8.decode(buffer);
  } catch {
    return windows1252.decode(buffer);
  }
}
