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
  /** Null: there is none. Rejects with ObjectsUnavailableError if the store does not answer, or if the object is larger than `mostBytes`. */
  get(name: string): Promise<Buffer | null>;
  /** An object that is not there is removed already. */
  remove(name: string): Promise<void>;
}

/** The store does not answer, or there is none: nothing is known of the object. */
export class ObjectsUnavailableError extends Error {}

/** No object of ours comes near it. */
export const mostBytes = 256 * 1024 * 1024;

const form = /^[a-z0-9][a-z0-9_-]*(?:[./][a-z0-9_-]+)*$/;

/** Names are ours; one that is not is a fault of the program, and shall reach no other file. */
export function expectName(name: string): string {
  if (!form.test(name) || name.length > 500) throw new Error(`${name} is no name of an object.`);
  return name;
}

/** Stands where no store is configured. */
export const noObjects: ObjectStore = {
  place: 'none',
  put: () => Promise.reject(notSet()),
  get: () => Promise.reject(notSet()),
  remove: () => Promise.reject(notSet()),
};

const notSet = () =>
  new ObjectsUnavailableError('No object store is configured: set GW_OBJECTS_DIR or GW_OBJECTS_URL.');
