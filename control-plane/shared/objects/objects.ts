/**
 * An object store: bytes under a name, kept outside of Postgres.
 *
 * Invariant: an object that `put` has resolved for is whole and survives a crash; nobody ever sees a part of one. A store that does not answer is told
 * apart from an object that is not there.
 */

export interface ObjectStore {
  /** Where objects are, for people: a directory, or a bucket and its address. It contains no secret. */
  readonly place: string;
  /** Stores an object, whatever was there. Rejects with ObjectsUnavailableError if it is not known to be stored. */
  put(name: string, bytes: Buffer): Promise<void>;
  /**
   * Null: there is none. Rejects with ObjectsUnavailableError if the store does not answer. Of an object with more than `most` bytes one byte more is
   * read and nothing else, so that it is found by its digest and not by the memory that it takes.
   */
  get(name: string, most?: number): Promise<Buffer | null>;
  /**
   * The names of the objects in a folder, and of the folders in it that have objects, without the names above; in no order. Files of others, whose
   * names have another form, are in none.
   */
  list(folder: string): AsyncIterable<string>;
  /** An object that is not there is removed already. */
  remove(name: string): Promise<void>;
}

/** The store does not answer: nothing is known of the object. */
export class ObjectsUnavailableError extends Error {}

/** The most that is read of an object, unless a reader says less. No object of ours comes near it. */
export const mostBytes = 256 * 1024 * 1024;

const form = /^[a-z0-9][a-z0-9_-]*(?:[./][a-z0-9_-]+)*$/;

export const isName = (name: string): boolean => form.test(name) && name.length <= 500;

/** Names are ours; one that is not is a fault of the program, and shall reach no other file. */
export function expectName(name: string): string {
  if (!isName(name)) throw new Error(`${name} is no name of an object.`);
  return name;
}
