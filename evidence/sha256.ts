/** SHA-256 by Node. Browsers get `sha256.browser.ts` in its place (package.json). */
import { createHash } from 'node:crypto';

export class Sha256 {
  readonly #hash = createHash('sha256');

  /** A text counts as its UTF-8 bytes. */
  update(part: string | Uint8Array): this {
    this.#hash.update(part);
    return this;
  }

  /** 64 hexadecimal digits. Nothing can be added afterwards. */
  hex(): string {
    return this.#hash.digest('hex');
  }

  /** The same, and more can be added. */
  hexSoFar(): string {
    return this.#hash.copy().digest('hex');
  }
}

export const bytesOfHex = (hex: string): Uint8Array => Buffer.from(hex, 'hex');
