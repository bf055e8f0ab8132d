/**
 * Encrypts the names of one person or account with a key of their own, and wraps that key with the master key of the environment.
 *
 * The nonce of a name is a keyed digest of it, so that one name of one subject is always the same
 * text: who has the database sees that two are equal, and a change to the same name is none.
 */
import { randomBytes } from 'node:crypto';
import { hmacSha256 } from '@gw/contract/internal/hmac';
import type { KeyRing, NumberedKey } from '@gw/contract/internal/key-ring';
import { decrypted, encrypted, nonceBytes } from '../aes-gcm.ts';

export function sealName(key: Buffer, subject: string, name: string): string {
  const nonce = hmacSha256(hmacSha256(key, 'gw.name nonce'), name).subarray(0, nonceBytes);
  return encrypted(key, `gw.name ${subject}`, Buffer.from(name, 'utf8'), nonce).toString('base64url');
}

export const openName = (key: Buffer, subject: string, text: string): string | null =>
  decrypted(key, `gw.name ${subject}`, Buffer.from(text, 'base64url'))?.toString('utf8') ?? null;

/** The key of a subject as it is stored. */
export interface WrappedKey {
  readonly wrapped: Uint8Array;
  /** Number of the master key. */
  readonly key_id: number;
}

export const makeKey = (): Buffer => randomBytes(32);

export const wrapKey = ({ id, secret }: NumberedKey, subject: string, key: Buffer): WrappedKey => ({
  wrapped: new Uint8Array(encrypted(secret, `gw.subject ${subject}`, key)),
  key_id: id,
});

export function unwrapKey({ current, others }: KeyRing, subject: string, stored: WrappedKey): Buffer | null {
  const master = [current, ...others].find(({ id }) => id === stored.key_id);
  return master === undefined ? null : decrypted(master.secret, `gw.subject ${subject}`, stored.wrapped);
}
