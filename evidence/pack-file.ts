import { errorText } from '@gw/contract/internal/error-text';

/** The file cannot be read, or is no JSON. The message is a sentence that follows the name of the file. */
export class PackFileError extends Error {}

/** Hands on the bytes of a file. Throws PackFileError where they cannot be had. */
export async function* readBytes(bytes: AsyncIterable<Uint8Array>): AsyncGenerator<Uint8Array> {
  try {
    yield* bytes;
  } catch (error) {
    if (error instanceof PackFileError) throw error;
    throw new PackFileError(`cannot be read: ${errorText(error)}`);
  }
}
