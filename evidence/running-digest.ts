/** SHA-256 over a list as JSON by RFC 8785. Nothing is kept but the digest. */
import { Sha256 } from '#sha256';

export class ListDigest {
  readonly #hash = new Sha256().update('[');
  #length = 0;

  get length(): number {
    return this.#length;
  }

  /** `text`: the next item as JSON by RFC 8785. */
  add(text: string): void {
    this.#hash.update(this.#length === 0 ? text : `,${text}`);
    this.#length += 1;
  }

  /** 64 hexadecimal digits. Nothing can be added afterwards. */
  hex(): string {
    return this.#hash.update(']').hex();
  }
}
