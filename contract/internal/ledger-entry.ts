/** What the sidecar hands to the ledger: the receipt as the client saw it, and whose it is. */
import { z } from 'zod';
import { receiptSchema, routingTraceSchema } from '../receipt.ts';

export const ledgerEntrySchema = z.object({
  accountId: z.string(),
  keyId: z.string(),
  endpoint: z.string(),
  // Open, unlike the public schema: during an upgrade a newer sidecar may write a field that this reader does not know.
  receipt: z.looseObject(receiptSchema.shape),
  routingTrace: z.looseObject(routingTraceSchema.shape).nullable(),
  /** Everything that the numbers were made from: the argument of `assess` in the methodology package. */
  facts: z.unknown().nullable(),
  /** The client was shown this receipt for certain: it replaces another of this id and version that came before it. */
  shown: z.literal(true).optional(),
});
export type LedgerEntry = z.infer<typeof ledgerEntrySchema>;
