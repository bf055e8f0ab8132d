/**
 * Seals by the key of the ledger, which the database does not hold: receipts, entries of the audit log and its ends have one.
 *
 * A seal is HMAC-SHA-256 of the kind, a line feed and a text, in hexadecimal. That form is frozen.
 */
import { timingSafeEqual } from 'node:crypto';
import { hmacSha256 } from '@gw/contract/internal/hmac';
import type { KeyRing, NumberedKey } from '@gw/contract/internal/key-ring';

/** The kind is part of what is sealed, so that no seal passes for one of another kind. */
export type SealedKind =
  | 'gw.acknowledgement'
  | 'gw.archived'
  | 'gw.audit'
  | 'gw.audit_head'
  | 'gw.batch'
  | 'gw.log_entry'
  | 'gw.receipt'
  | 'gw.section';

const sealBytes = ({ secret }: NumberedKey, kind: SealedKind, text: string): Buffer =>
  hmacSha256(secret, `${kind}\n${text}`);

/** Returns the HMAC-SHA-256 of the kind, a line feed and the text, in hexadecimal. */
export const sealOf = (key: NumberedKey, kind: SealedKind, text: string): string =>
  sealBytes(key, kind, text).toString('hex');

const sealForm = /^[0-9a-f]{64}$/;

/** Compares the bytes of a seal in constant time. What is not 64 lower-case digits is wrong, not an error. */
export const isSealOf = (key: NumberedKey, kind: SealedKind, text: string, seal: string): boolean =>
  sealForm.test(seal) && timingSafeEqual(sealBytes(key, kind, text), Buffer.from(seal, 'hex'));

const keyOf = ({ current, others }: KeyRing, id: number): NumberedKey | undefined =>
  [current, ...others].find((key) => key.id === id);

/** Returns what is wrong with a seal, or null. */
export function sealFault(
  keys: KeyRing,
  kind: SealedKind,
  text: string,
  { id, seal }: { readonly id: number; readonly seal: string },
): 'forged' | 'unknown key' | null {
  const key = keyOf(keys, id);
  if (key === undefined) return 'unknown key';
  return isSealOf(key, kind, text, seal) ? null : 'forged';
}
