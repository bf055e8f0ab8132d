/**
 * The manifest is what a pack's signature covers: the SHA-256 of each part of the pack, over JSON by RFC 8785.
 *
 * Invariant: every byte of meaning is in exactly one part, so that an alteration is found and its part is named. In a pack of up to a thousand
 * versions of receipts each one is a part. A longer pack has one part for each thousand, because Ed25519 needs all that it signs in memory.
 */
import { canonicalText, sha256Of } from './canonical.ts';
import type { Node } from './receipt-node.ts';
import { ListDigest } from './running-digest.ts';

export interface ManifestEntry {
  readonly part: string;
  readonly sha256: string;
}

export interface Manifest {
  readonly digest: 'SHA-256 over RFC 8785';
  readonly receipts_per_part: number;
  readonly parts: readonly ManifestEntry[];
}

/** The digests of all parts but the head, in the order of the manifest. */
export interface PartDigests {
  readonly receiptsPerPart: number;
  readonly parts: readonly ManifestEntry[];
}

export const manifestOf = (head: Node, { parts, receiptsPerPart }: PartDigests): Manifest => ({
  digest: 'SHA-256 over RFC 8785',
  receipts_per_part: receiptsPerPart,
  parts: [{ part: 'head', sha256: sha256Of(canonicalText(head)) }, ...parts],
});

const longPart = 1000;

/** Digests the receipts of a pack as they pass. */
export class ReceiptDigests {
  readonly #single: ManifestEntry[] = [];
  readonly #long: ManifestEntry[] = [];
  #part = new ListDigest();
  #receipts = 0;

  /** `text`: the receipt's node as JSON by RFC 8785. */
  add(id: string, text: string): void {
    this.#receipts += 1;
    if (this.#receipts <= longPart) this.#single.push({ part: id, sha256: sha256Of(text) });
    this.#part.add(text);
    if (this.#part.length === longPart) this.#closePart();
  }

  /** To be called once, after the last receipt. */
  finish(): PartDigests {
    if (this.#receipts <= longPart) return { receiptsPerPart: 1, parts: this.#single };
    if (this.#part.length > 0) this.#closePart();
    return { receiptsPerPart: longPart, parts: this.#long };
  }

  #closePart(): void {
    this.#long.push({ part: `receipts/${this.#long.length}`, sha256: this.#part.hex() });
    this.#part = new ListDigest();
  }
}
