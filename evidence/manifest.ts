/**
 * What of a pack is signed: the SHA-256 of each of its parts, over JSON by RFC 8785.
 *
 * Invariant: every byte of meaning in a pack is in one part, so that an altered one is found, and named: the receipts one by
 * one, and all else but the manifest and the signature as `head`.
 */
import { canonicalText, sha256Of } from './canonical.ts';
import type { Node } from './receipt-node.ts';

export interface ManifestEntry {
  readonly part: string;
  readonly sha256: string;
}

export interface Manifest {
  readonly digest: 'SHA-256 over RFC 8785';
  readonly parts: readonly ManifestEntry[];
}

/** `text`: the part as JSON by RFC 8785. */
export const entryOf = (part: string, text: string): ManifestEntry => ({ part, sha256: sha256Of(text) });

/** `head`: its text by RFC 8785. */
export const manifestWith = (head: string, receipts: readonly ManifestEntry[]): Manifest => ({
  digest: 'SHA-256 over RFC 8785',
  parts: [entryOf('head', head), ...receipts],
});

export const manifestOf = (head: Node, receipts: readonly Node[]): Manifest =>
  manifestWith(
    canonicalText(head),
    receipts.map((node) => entryOf(String(node.id), canonicalText(node))),
  );
