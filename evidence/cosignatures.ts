/**
 * Cosignatures of checkpoints by witnesses (https://c2sp.org/tlog-cosignature): each says that at its time this was the newest checkpoint of the log
 * that its witness knew, and that it went on from all that the witness had cosigned before.
 *
 * Invariant: a line counts only for a witness whose key the reader has from elsewhere; all others are counted alone.
 */
import { type Checkpoint, linesOf, logKey, noteText } from './checkpoint.ts';
import { keyIdOf, keyTypes, linesBy, type NoteKey, type NoteLine, noteKeyIn, signatureFits, vkeyOf } from './note.ts';
import { ofPack, type PackMismatch } from './receipt-node.ts';
import { signerIn } from './signature.ts';

export interface Cosignature {
  /** The name of the witness. */
  readonly witness: string;
  /** RFC 3339, UTC, by the clock of the witness. */
  readonly at: string;
}

/** Names a witness and its key. */
export const witnessName = (key: NoteKey): string => `${key.name}+${keyIdOf(key)}`;

/** Reads the key of a witness. Some are published as keys of signatures, and cosign all the same. */
export function witnessKeyIn(vkey: string): NoteKey | null {
  const key = noteKeyIn(vkey);
  return key === null ? null : { ...key, type: keyTypes.cosignature };
}

/** The last time that a date can have, in seconds. */
const lastS = 8_640_000_000_000n;

/** The time of a cosignature over the text of a note; null: the line does not fit. */
export async function cosignedAt(text: string, line: NoteLine, key: NoteKey): Promise<Date | null> {
  const { buffer, byteLength, byteOffset } = line.signature;
  if (byteLength !== 72) return null;
  const time = new DataView(buffer, byteOffset).getBigUint64(0);
  const said = `cosignature/v1\ntime ${time}\n${text}`;
  const fits = await signatureFits(said, { ...line, signature: line.signature.subarray(8) }, key);
  return fits && time <= lastS ? new Date(Number(time) * 1000) : null;
}

export interface CheckedCosignatures {
  /** The key of the log as its witnesses have to be told it, `origin+id+key`; null: there is no checkpoint. */
  readonly vkey: string | null;
  /** The newest of each of the witnesses that were asked for. */
  readonly cosigned: readonly Cosignature[];
  /** The names of those whose line is not there: it may come. */
  readonly waiting: readonly string[];
  /** How many lines are neither of the log nor of these witnesses: they show nothing. */
  readonly unknownLines: number;
  readonly mismatches: readonly PackMismatch[];
}

/** Checks what each of the witnesses has cosigned. `checkpoint` null: there is none. */
export async function checkCosignatures(
  checkpoint: Checkpoint | null,
  witnesses: readonly NoteKey[],
): Promise<CheckedCosignatures> {
  const lines = checkpoint === null ? [] : (linesOf(checkpoint) ?? []);
  const text = checkpoint === null ? '' : noteText(checkpoint);
  const cosigned: Cosignature[] = [];
  const waiting: string[] = [];
  const mismatches: PackMismatch[] = [];
  for (const key of witnesses) {
    const own = linesBy(lines, key);
    const times = await Promise.all(own.map((line) => cosignedAt(text, line, key)));
    const fitting = times.filter((at) => at !== null);
    const [newest] = fitting.toSorted((a, b) => Number(b) - Number(a));
    if (newest !== undefined && fitting.length === own.length)
      cosigned.push({ witness: key.name, at: newest.toISOString() });
    else if (own.length === 0) waiting.push(key.name);
    else mismatches.push(ofPack('log.checkpoint.note', `a cosignature of ${key.name}`, 'one that does not fit'));
  }
  const signer = checkpoint === null ? null : signerIn(checkpoint.key);
  const own = checkpoint === null || signer === null ? null : logKey(checkpoint, signer);
  const known = own === null ? witnesses : [own, ...witnesses];
  const others = lines.filter((line) => known.every((key) => linesBy([line], key).length === 0));
  return { vkey: own && vkeyOf(own), cosigned, waiting, unknownLines: others.length, mismatches };
}
