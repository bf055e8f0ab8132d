/** SHA-256 in browsers, whose own one takes nothing piece by piece. What `sha256.ts` says holds here too. */
import { sha256 } from '@noble/hashes/sha2.js';
import { bytesToHex, hexToBytes, utf8ToBytes } from '@noble/hashes/utils.js';

export class Sha256 {
  readonly #hash = sha256.create();

  update(part: string | Uint8Array): this {
    this.#hash.update(typeof part === 'string' ? utf8ToBytes(part) : part);
    return this;
  }

  hex(): string {
    return bytesToHex(this.#hash.digest());
  }

  hexSoFar(): string {
    return bytesToHex(this.#hash.clone().digest());
  }
}

export const bytesOfHex = hexToBytes;
