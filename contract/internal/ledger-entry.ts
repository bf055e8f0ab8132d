/**
 * The content of a row of the ledger: the receipt as the client saw it, and its owner.
 *
 * Its digest is made of SHA-256 over the UTF-8 bytes of the RFC 8785 form of the receipt, so that anyone who has that in any form can compute it, and
 * over the bytes of everything as it is stored. Names and form are frozen.
 */
import { hash } from 'node:crypto';
import canonicalize from 'canonicalize';
import { defined } from './defined.ts';
import { plainCanonicalText, reorderedText } from './plain-canonical-text.ts';

export interface LedgerContent {
  readonly account_id: string;
  readonly key_id: string;
  readonly endpoint: string;
  /** JSON texts to the byte, as they are stored; null: there is none. */
  readonly body: string;
  readonly routing_trace: string | null;
  readonly facts: string | null;
}

/**
 * The digest of a row: over the hash of its receipt, which everybody who has the receipt can compute, and the digest of the rest, so that a row can be
 * proven to its owner without the rest. `receipt`: what the body says.
 */
export const ledgerDigest = (content: LedgerContent, receipt: unknown): string =>
  digestOf(content, canonicalText(receipt));

/** A text of a receipt that `JSON.stringify` does not write. */
export class WrittenOtherwiseError extends Error {}

/**
 * The same in half the time where the body is the receipt by `JSON.stringify`. It throws for another text, or gives a digest that is not that of
 * the content.
 */
export function plainLedgerDigest(content: LedgerContent, receipt: object): string {
  const reordered = reorderedText(content.body, receipt);
  if (reordered === null && JSON.stringify(receipt) !== content.body)
    throw new WrittenOtherwiseError('its receipt is not written as a sidecar writes it');
  return digestOf(content, reordered ?? canonicalText(receipt));
}

const digestOf = (content: LedgerContent, canonical: string): string =>
  textDigest(`${textDigest(`\0${canonical}`)}\n${restDigest(content)}`);

/** Over whose row it is and its texts, byte by byte: so no text is put into another form for it, and none can be exchanged for one of the same value. */
export function restDigest({ account_id, body, endpoint, facts, key_id, routing_trace }: LedgerContent): string {
  const lengths = [body, routing_trace, facts].map((text) => (text === null ? null : text.length));
  const head = JSON.stringify([account_id, key_id, endpoint, ...lengths]);
  return textDigest([head, body, routing_trace, facts].join('\n'));
}

/** SHA-256 of the UTF-8 bytes, in hexadecimal. */
export const textDigest = (text: string): string => hash('sha256', text);

const formOf = 'The canonical form of what a receipt is sealed by';

/** Returns the RFC 8785 form. Numbers that JSON cannot express become null, as they are stored. */
export function canonicalText(content: unknown): string {
  try {
    return plainCanonicalText(content);
  } catch {
    return byLibrary(content);
  }
}

/** The fallback for anything that is not plain JSON. */
function byLibrary(content: unknown): string {
  try {
    return defined(canonicalize(content), formOf);
  } catch {
    return defined(canonicalize(JSON.parse(JSON.stringify(content))), formOf);
  }
}
