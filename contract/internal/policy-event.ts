/**
 * A request that a rule matched, as the sidecar hands it to the audit log.
 *
 * Invariant: it holds nothing of the text but a salted hash, by which whoever has the text can show that it was this one.
 */
import { z } from 'zod';

export const policyEventSchema = z.object({
  /** Of this event: it may come twice, and counts once. */
  id: z.uuid(),
  /** RFC 3339, UTC, milliseconds. */
  at: z.iso.datetime({ precision: 3 }),
  account_id: z.string(),
  key_id: z.string(),
  request_id: z.string().nullable(),
  action: z.enum(['block', 'flag']),
  /** Of the first rule that blocks, else of the first that matched. */
  code: z.enum(['dual_use_screen_block', 'acceptable_use_violation']),
  /** Every rule that matched and is in force for the account, in the order of the set. */
  rule_ids: z.array(z.string()).min(1),
  policy_version: z.int().nonnegative(),
  policy_sha256: z.string().regex(/^[0-9a-f]{64}$/),
  /** 16 random bytes of this event alone, in hex. */
  text_salt: z.string().regex(/^[0-9a-f]{32}$/),
  /** SHA-256 over the salt's bytes and the screened text, in hex; docs/use-policy.md has the recipe. */
  text_sha256: z.string().regex(/^[0-9a-f]{64}$/),
});
export type PolicyEvent = z.infer<typeof policyEventSchema>;
