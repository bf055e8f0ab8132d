/** AES-256-GCM (NIST SP 800-38D) over bytes and the context that they belong to, which is not stored: nonce, tag, ciphertext. */
import { createCipheriv, createDecipheriv, randomBytes } from 'node:crypto';

const algorithm = 'aes-256-gcm';
export const nonceBytes = 12;
const tagBytes = 16;

/** `nonce`: random, unless whoever calls takes care that no two plaintexts share one. */
export function encrypted(
  key: Buffer,
  context: string,
  plain: Buffer,
  nonce: Buffer = randomBytes(nonceBytes),
): Buffer {
  const cipher = createCipheriv(algorithm, key, nonce).setAAD(Buffer.from(context));
  const hidden = Buffer.concat([cipher.update(plain), cipher.final()]);
  return Buffer.concat([nonce, cipher.getAuthTag(), hidden]);
}

/** Returns null if it was encrypted with another key or for another context, or was altered. */
export function decrypted(key: Buffer, context: string, bytes: Uint8Array): Buffer | null {
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
