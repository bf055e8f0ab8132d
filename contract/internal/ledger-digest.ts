/**
 * The digest of what the ledger holds of a receipt: SHA-256 over the UTF-8 bytes of the RFC 8785 form, so that anybody who
 * has the content can compute it. Names and form are frozen.
 */
import { createHash } from 'node:crypto';
import canonicalize from 'canonicalize';

export interface LedgerContent {
  readonly account_id: string;
  readonly key_id: string;
  readonly endpoint: string;
  readonly receipt: unknown;
  readonly routing_trace: unknown;
  readonly facts: unknown;
}

export const ledgerDigest = (content: LedgerContent): string =>
  createHash('sha256').update(canonicalText(content), 'utf8').digest('hex');

/** Numbers beyond those of JSON are null once they are stored, and have no canonical form. */
function canonicalText(content: LedgerContent): string {
  try {
    return canonicalize(content) ?? '';
  } catch {
    return canonicalize(JSON.parse(JSON.stringify(content))) ?? '';
  }
}
