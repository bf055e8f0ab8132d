/** What the sidecar hands to the ledger: the receipt as the client saw it, and whose it is. */
import { z } from 'zod';
import { receiptSchema, routingTraceSchema } from '../receipt.ts';

export const ledgerEntrySchema = z.object({
  accountId: z.string(),
  keyId: z.string(),
  endpoint: z.string(),
  receipt: receiptSchema,
  routingTrace: routingTraceSchema.nullable(),
  /** Everything that the numbers were made from: the argument of `assess` in the methodology package. */
  facts: z.unknown().nullable(),
});
export type LedgerEntry = z.infer<typeof ledgerEntrySchema>;
