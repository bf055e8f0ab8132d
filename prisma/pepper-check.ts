/**
 * Whether a service was given the pepper that the stored hashes were made with. Without the keys the hashes do not tell, so a digest of each
 * pepper is stored when its first key is hashed.
 *
 * Invariant: a digest is stored only while no key is hashed with that version, so a wrong pepper never passes for the right one.
 */
import { timingSafeEqual } from 'node:crypto';
import { hmacSha256 } from '@gw/contract/internal/hmac';
import type { Pepper } from '@gw/contract/internal/pepper';
import type { Statements } from './statements.ts';

/** The prefix keeps it apart from hashes of keys. */
const digestOf = ({ secret, version }: Pepper): Uint8Array<ArrayBuffer> =>
  new Uint8Array(hmacSha256(secret, `gw.pepper\n${version}`));

/** `nothing_to_compare`: no digest of this version is stored, because no key is hashed with it, or because the digest was lost. */
export type PepperFit = 'fits' | 'does_not_fit' | 'nothing_to_compare';

/** Stores the digest of a pepper unless keys are hashed with its version already. */
export async function notePepper(db: Statements, pepper: Pepper): Promise<void> {
  await db.$executeRaw`
    INSERT INTO pepper_checks (version, check_value) SELECT ${pepper.version}::int, ${digestOf(pepper)}::bytea
    WHERE NOT EXISTS (SELECT 1 FROM api_keys WHERE pepper_version = ${pepper.version}::int AND hash IS NOT NULL)
    ON CONFLICT (version) DO NOTHING`;
}

export async function pepperFit(db: Statements, pepper: Pepper): Promise<PepperFit> {
  const [stored] = await db.$queryRaw<{ check_value: Uint8Array }[]>`
    SELECT check_value FROM pepper_checks WHERE version = ${pepper.version}::int`;
  if (stored === undefined) return 'nothing_to_compare';
  const expected = digestOf(pepper);
  const isSame = stored.check_value.length === expected.length && timingSafeEqual(stored.check_value, expected);
  return isSame ? 'fits' : 'does_not_fit';
}

/** Call it before a key is hashed. Throws if other services have another pepper under this version, since they would refuse the key. */
export async function expectPepper(db: Statements, pepper: Pepper): Promise<void> {
  await notePepper(db, pepper);
  if ((await pepperFit(db, pepper)) === 'does_not_fit')
    throw new Error(
      `GW_KEY_PEPPER is not the pepper of version ${pepper.version} that the stored keys are hashed with: set the right one, or a new one with the next version.`,
    );
}
