/**
 * What the sidecar hands to the ledger: the receipt as the client saw it, and whose it is.
 *
 * The digest of what the ledger holds is SHA-256 over the UTF-8 bytes of the RFC 8785 form, so that anybody who has the
 * content can compute it. Names and form are frozen.
 */
import { createHash } from 'node:crypto';
import canonicalize from 'canonicalize';
import { z } from 'zod';
import { receiptSchema } from '../receipt.ts';
import { defined } from './defined.ts';
import { plainCanonicalText } from './plain-canonical-text.ts';

export const ledgerEntrySchema = z.object({
  accountId: z.string(),
  keyId: z.string(),
  endpoint: z.string(),
  // Open, unlike the public schema: during an upgrade a newer sidecar may write a field that this reader does not know.
  receipt: z.looseObject(receiptSchema.shape),
  // Stored as it came, and read by nobody here: other releases have more or fewer fields, at any depth.
  routingTrace: z.looseObject({}).nullable(),
  /** Everything that the numbers were made from: the argument of `assess` in the methodology package. */
  facts: z.unknown().nullable(),
  /** The client certainly saw this receipt, so it replaces an earlier one of this id and version. */
  shown: z.literal(true).optional(),
  /** What the call was estimated at, if it has budgets and its receipt does not have all numbers. */
  reserved: z.record(z.string(), z.number().nullable()).optional(),
});
export type LedgerEntry = z.infer<typeof ledgerEntrySchema>;

export interface LedgerContent {
  readonly account_id: string;
  readonly key_id: string;
  readonly endpoint: string;
  readonly receipt: unknown;
  readonly routing_trace: unknown;
  readonly facts: unknown;
}

/** Returns the digest of a receipt's content: SHA-256 in hexadecimal. */
export const ledgerDigest = (content: LedgerContent): string => textDigest(canonicalText(content));

/** Returns the SHA-256 of the UTF-8 bytes, in hexadecimal. */
export const textDigest = (text: string): string => createHash('sha256').update(text, 'utf8').digest('hex');

const formOf = 'The canonical form of what a receipt is sealed by';

/** Returns the RFC 8785 form. Numbers that JSON cannot express are stored as null, and have no canonical form of their own. */
export function canonicalText(content: unknown): string {
  try {
    return plainCanonicalText(content);
  } catch {
    return byLibrary(content);
  }
}

/** It has the last word on all that is no plain JSON. */
function byLibrary(content: unknown): string {
  try {
    return defined(canonicalize(content), formOf);
  } catch {
    return defined(canonicalize(JSON.parse(JSON.stringify(content))), formOf);
  }
}
