/**
 * Encrypts the names of one person or account with a key of their own, and wraps that key with the master key of the environment.
 *
 * Both are AES-256-GCM (NIST SP 800-38D). The nonce of a name is a keyed digest of it, so that one name of one subject is always the same
 * text: who has the database sees that two are equal, and a change to the same name is none.
 */
import { createCipheriv, createDecipheriv, randomBytes } from 'node:crypto';
import { hmacSha256 } from '@gw/contract/internal/hmac';
import type { KeyRing, NumberedKey } from '@gw/contract/internal/key-ring';

const algorithm = 'aes-256-gcm';
const nonceBytes = 12;
const tagBytes = 16;

function sealed(key: Buffer, nonce: Buffer, context: string, text: Buffer): Buffer {
  const cipher = createCipheriv(algorithm, key, nonce).setAAD(Buffer.from(context));
  const hidden = Buffer.concat([cipher.update(text), cipher.final()]);
  return Buffer.concat([nonce, cipher.getAuthTag(), hidden]);
}

/** Returns null if it was sealed with another key or for something else, or was altered. */
function opened(key: Buffer, context: string, bytes: Buffer): Buffer | null {
  if (bytes.length < nonceBytes + tagBytes) return null;
  const decipher = createDecipheriv(algorithm, key, bytes.subarray(0, nonceBytes), { authTagLength: tagBytes })
    .setAAD(Buffer.from(context))
    .setAuthTag(bytes.subarray(nonceBytes, nonceBytes + tagBytes));
  try {
    return Buffer.concat([decipher.update(bytes.subarray(nonceBytes + tagBytes)), decipher.final()]);
  } catch {
    return null;
  }
}

export function sealName(key: Buffer, subject: string, name: string): string {
  const nonce = hmacSha256(hmacSha256(key, 'gw.name nonce'), name).subarray(0, nonceBytes);
  return sealed(key, nonce, `gw.name ${subject}`, Buffer.from(name, 'utf8')).toString('base64url');
}

export const openName = (key: Buffer, subject: string, text: string): string | null =>
  opened(key, `gw.name ${subject}`, Buffer.from(text, 'base64url'))?.toString('utf8') ?? null;

/** The key of a subject as it is stored. */
export interface WrappedKey {
  readonly wrapped: Uint8Array;
  /** Number of the master key. */
  readonly key_id: number;
}

export const makeKey = (): Buffer => randomBytes(32);

export const wrapKey = ({ id, secret }: NumberedKey, subject: string, key: Buffer): WrappedKey => ({
  wrapped: new Uint8Array(sealed(secret, randomBytes(nonceBytes), `gw.subject ${subject}`, key)),
  key_id: id,
});

export function unwrapKey({ current, others }: KeyRing, subject: string, stored: WrappedKey): Buffer | null {
  const master = [current, ...others].find(({ id }) => id === stored.key_id);
  return master === undefined ? null : opened(master.secret, `gw.subject ${subject}`, Buffer.from(stored.wrapped));
}
