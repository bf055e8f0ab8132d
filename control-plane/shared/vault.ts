/**
 * Credentials at rest: encrypted with a key from the environment, so that a copy of the database holds none.
 *
 * Invariant: what was sealed for one name and origin opens for no other, so whoever can write to the database still
 * cannot send a credential elsewhere.
 */
import { decrypted, encrypted } from './aes-gcm.ts';

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

const form = 1;

const contextOf = ({ name, origin }: Binding): string => JSON.stringify(['gw provider credential', name, origin]);

/** `keys`: of 32 bytes each; the first one seals, and all of them open. */
export function createVault(keys: readonly [Buffer, ...Buffer[]]): Vault {
  return {
    seal: (value, binding) =>
      Buffer.concat([Buffer.of(form), encrypted(keys[0], contextOf(binding), Buffer.from(value, 'utf8'))]),
    open: (sealed, binding) => {
      if (sealed[0] !== form) return null;
      for (const key of keys) {
        const value = decrypted(key, contextOf(binding), sealed.subarray(1));
        if (value !== null) return { value: value.toString('utf8'), isCurrent: key === keys[0] };
      }
      return null;
    },
  };
}
