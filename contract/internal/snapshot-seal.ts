/**
 * The seal of the published catalogue. Its figures become facts of receipts, so who can write to Redis or to a sidecar's disk must not be able to
 * make one that a sidecar takes up.
 *
 * Invariant: whoever publishes seals with each key of entries that it accepts, so that a sidecar finds its own while keys are exchanged.
 */
import { timingSafeEqual } from 'node:crypto';
import { hmacSha256 } from './hmac.ts';
import type { KeyRing, NumberedKey } from './key-ring.ts';

const sealOf = ({ id, secret }: NumberedKey, text: string): string =>
  `${id}:${hmacSha256(secret, `gw.snapshot\n${text}`).toString('hex')}`;

/** Returns the seals of a text on one line. */
export const snapshotSeals = (text: string, { current, others }: KeyRing): string =>
  [current, ...others].map((key) => sealOf(key, text)).join();

/** Whether a seal of this key is among them. */
export function isSealedSnapshot(text: string, seals: string, key: NumberedKey): boolean {
  const expected = Buffer.from(sealOf(key, text));
  return seals.split(',').some((seal) => {
    const given = Buffer.from(seal);
    return given.length === expected.length && timingSafeEqual(given, expected);
  });
}
