/**
 * A request that a rule matched, as the sidecar hands it to the audit log.
 *
 * Invariant: it holds only a salted hash of the text. Anybody who has the text can show with it that it was this one.
 */
import { createHash } from 'node:crypto';
import { z } from 'zod';
import { canonicalText } from './canonical-text.ts';
import type { JsonObject } from './strict-json.ts';

export const policyEventSchema = z.object({
  /** The id of this event: the event can come twice, and counts once. */
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
  /** `screenedSha256` of the body. */
  text_sha256: z.string().regex(/^[0-9a-f]{64}$/),
});
export type PolicyEvent = z.infer<typeof policyEventSchema>;

/**
 * Returns SHA-256, in hexadecimal, over the bytes of the salt and the UTF-8 bytes of the RFC 8785 form of the request's body
 * without `gw` and `extra_body`. Anybody who has the request can compute it in any language.
 */
export function screenedSha256(salt: Uint8Array, body: JsonObject): string {
  const { gw: _gw, extra_body: _extraBody, ...screened } = body;
  return createHash('sha256').update(salt).update(canonicalText(screened), 'utf8').digest('hex');
}
