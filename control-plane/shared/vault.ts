/**
 * Credentials at rest: AES-256-GCM (NIST SP 800-38D) with a key from the environment, so that a copy of the database
 * holds none.
 *
 * Invariant: what was sealed for one name and origin opens for no other, so whoever can write to the database still
 * cannot send a credential elsewhere.
 */
import { createCipheriv, createDecipheriv, randomBytes } from 'node:crypto';

/** The name and origin that a credential is bound to. The secrets of webhooks have names that no credential of a provider can have. */
export interface Binding {
  readonly name: string;
  /** Scheme, host and port. */
  readonly origin: string;
}

export interface Opened {
  readonly value: string;
  /** False: it was sealed with the key before. */
  readonly isCurrent: boolean;
}

export interface Vault {
  seal(value: string, binding: Binding): Buffer;
  /** Returns null if it was sealed with another key or for something else, or was altered. */
  open(sealed: Uint8Array, binding: Binding): Opened | null;
}

const algorithm = 'aes-256-gcm';
const form = 1;
const nonceBytes = 12;
const tagBytes = 16;
const headBytes = 1 + nonceBytes + tagBytes;

const contextOf = ({ name, origin }: Binding): Buffer =>
  Buffer.from(JSON.stringify(['gw provider credential', name, origin]));

/** `keys`: of 32 bytes each; the first one seals, and all of them open. */
export function createVault(keys: readonly [Buffer, ...Buffer[]]): Vault {
  return {
    seal: (value, binding) => {
      const nonce = randomBytes(nonceBytes);
      const cipher = createCipheriv(algorithm, keys[0], nonce).setAAD(contextOf(binding));
      const hidden = Buffer.concat([cipher.update(value, 'utf8'), cipher.final()]);
      return Buffer.concat([Buffer.of(form), nonce, cipher.getAuthTag(), hidden]);
    },
    open: (sealed, binding) => {
      if (sealed[0] !== form || sealed.length < headBytes) return null;
      for (const key of keys) {
        const value = opened(key, sealed, binding);
        if (value !== null) return { value, isCurrent: key === keys[0] };
      }
      return null;
    },
  };
}

function opened(key: Buffer, sealed: Uint8Array, binding: Binding): string | null {
  const nonce = sealed.subarray(1, 1 + nonceBytes);
  const decipher = createDecipheriv(algorithm, key, nonce, { authTagLength: tagBytes })
    .setAAD(contextOf(binding))
    .setAuthTag(sealed.subarray(1 + nonceBytes, headBytes));
  try {
    return Buffer.concat([decipher.update(sealed.subarray(headBytes)), decipher.final()]).toString('utf8');
  } catch {
    return null;
  }
}
