/** The witnesses of `./gw verify --witness`. */
import type { NoteKey } from '@gw/evidence/note';
import type { PackVerification } from '@gw/evidence/verify';
import { Problem } from '@gw/stack/problem';

export async function witnessesIn(vkeys: readonly string[]): Promise<NoteKey[]> {
  const { witnessKeyIn } = await import('@gw/evidence/cosignatures');
  return vkeys.map((vkey) => {
    const key = witnessKeyIn(vkey);
    if (key === null)
      throw new Problem(
        `--witness ${vkey} is not the key of a witness: a name, the id of the key and an Ed25519 key, with a plus between each.`,
      );
    return key;
  });
}

/** `log`: of a pack, or of the proof of a receipt. */
export function cosignedText({
  cosigned,
  unknownLines,
  waiting,
}: Pick<PackVerification['log'], 'cosigned' | 'unknownLines' | 'waiting'>): string[] {
  return [
    ...cosigned.map(({ at, witness }) => `  cosigned by ${witness} at ${at}`),
    ...waiting.map((witness) => `  not cosigned by ${witness}: ask again in a minute, and the operator if it stays so`),
    ...(unknownLines === 0 ? [] : [`  lines of keys that were not named (--witness): ${unknownLines}`]),
  ];
}
