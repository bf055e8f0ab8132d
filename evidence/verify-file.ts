/**
 * Whether a pack in a file holds, in whichever form it is.
 *
 * Invariant: what is longer than can be held is never held, whatever its form is.
 */
import { parseStrictJson } from '@gw/contract/internal/strict-json';
import { longPackFormat } from './long-pack.ts';
import { type PackFile, PackFileError, readBytes } from './pack-file.ts';
import { isNode } from './receipt-node.ts';
import { type VerifyOptions, verifyPack } from './verify.ts';
import { checkpointOf, type LongVerification, verifyLongPack } from './verify-long.ts';

export { type PackFile, PackFileError } from './pack-file.ts';
export type { LongVerification } from './verify-long.ts';

/** Bytes; what is longer is read in parts. */
export const mostAtOnce = 32 * 1024 * 1024;

/** Throws PackFileError for what cannot be read, or is no JSON. */
export async function verifyPackFile(file: PackFile, options: VerifyOptions): Promise<LongVerification> {
  if (file.size > mostAtOnce) return verifyLongPack(readBytes(file), options);
  const pack = await wholeOf(file);
  if (isNode(pack) && pack.format === longPackFormat) return verifyLongPack(readBytes(file), options);
  return { head: isNode(pack) ? pack : {}, ...(await verifyPack(pack, options)) };
}

/** What somebody has kept (`VerifyOptions.earlier`). Of a pack that is too long to be held, the checkpoint alone. Throws PackFileError. */
export async function earlierIn(file: PackFile): Promise<unknown> {
  if (file.size <= mostAtOnce) return wholeOf(file);
  const checkpoint = (await checkpointOf(readBytes(file))) ?? null;
  if (checkpoint !== null) return checkpoint;
  throw new PackFileError('is longer than 32 MiB, so that its checkpoint alone would be used, and it has none.');
}

/** Strictly: of a member that is there twice, other programs might show the other one. */
async function wholeOf(file: PackFile): Promise<unknown> {
  const whole = new Uint8Array(file.size);
  let length = 0;
  for await (const piece of readBytes(file)) {
    if (length + piece.length > file.size) throw new PackFileError('has grown while it was read.');
    whole.set(piece, length);
    length += piece.length;
  }
  // A pack of lineages has more parts than a request may have.
  const parsed = parseStrictJson(whole.subarray(0, length), Number.POSITIVE_INFINITY);
  if (!parsed.ok) throw new PackFileError(`cannot be read as JSON: ${parsed.error.problem}`);
  return parsed.value;
}
