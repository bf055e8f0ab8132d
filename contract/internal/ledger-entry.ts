/**
 * The content of a row of the ledger: the receipt as the client saw it, and its owner.
 *
 * Its digest is made of SHA-256 over the UTF-8 bytes of RFC 8785 forms, so that anyone with the content can compute it. Names
 * and form are frozen.
 */
import { hash } from 'node:crypto';
import canonicalize from 'canonicalize';
import { defined } from './defined.ts';
import { plainCanonicalText } from './plain-canonical-text.ts';

export interface LedgerContent {
  readonly account_id: string;
  readonly key_id: string;
  readonly endpoint: string;
  readonly receipt: unknown;
  readonly routing_trace: unknown;
  readonly facts: unknown;
}

/**
 * The digest of a row: over the hash of its receipt, which everybody who has the receipt can compute, and the digest of the rest, so that a row can be
 * proven to its owner without the rest.
 */
export const ledgerDigest = ({ receipt, ...rest }: LedgerContent): string =>
  textDigest(`${textDigest(`\0${canonicalText(receipt)}`)}\n${restDigest(rest)}`);

export const restDigest = (rest: Omit<LedgerContent, 'receipt'>): string => textDigest(canonicalText(rest));

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
