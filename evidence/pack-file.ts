import { errorText } from '@gw/contract/internal/error-text';

/** A pack, or what was kept of one, wherever it lies. */
export interface PackFile {
  /** In bytes. */
  readonly size: number;
  /** All of them; it can be asked for more than once. */
  bytes(): AsyncIterable<Uint8Array>;
}

/** It cannot be read; the message is a sentence that follows the name of the file. That says nothing of the pack. */
export class PackFileError extends Error {}

/** Its bytes; throws PackFileError where they cannot be had. */
export async function* readBytes(file: PackFile): AsyncGenerator<Uint8Array> {
  try {
    yield* file.bytes();
  } catch (error) {
    throw new PackFileError(`cannot be read: ${errorText(error)}`);
  }
}
