/**
 * A request that matched a screening rule, as the sidecar reports it to the audit log.
 *
 * Invariant: it contains only a salted hash of the text, with which anyone who has the text can prove that it was this one.
 */
import { createHash } from 'node:crypto';
import { z } from 'zod';
import { canonicalText } from './canonical-text.ts';
import type { JsonObject } from './strict-json.ts';

export const policyEventSchema = z.object({
  /** Identifies the event, which may be delivered twice but counts once. */
  id: z.uuid(),
  /** RFC 3339, UTC, milliseconds. */
  at: z.iso.datetime({ precision: 3 }),
  account_id: z.string(),
  key_id: z.string(),
  request_id: z.string().nullable(),
  action: z.enum(['block', 'flag']),
  /** Code of the first blocking rule, otherwise of the first match. */
  code: z.enum(['dual_use_screen_block', 'acceptable_use_violation']),
  /** All matching rules in force for the account, in the order of the set. */
  rule_ids: z.array(z.string()).min(1),
  policy_version: z.int().nonnegative(),
  policy_sha256: z.string().regex(/^[0-9a-f]{64}$/),
  /** 16 random bytes per event, in hex. */
  text_salt: z.string().regex(/^[0-9a-f]{32}$/),
  /** `screenedSha256` of the body. */
  text_sha256: z.string().regex(/^[0-9a-f]{64}$/),
});
export type PolicyEvent = z.infer<typeof policyEventSchema>;

/**
 * Returns SHA-256, in hexadecimal, over the bytes of the salt and the UTF-8 bytes of the RFC 8785 form of the request's fields,
 * without `gw` and `extra_body`. Anyone with the request can compute it in any language.
 */
export function screenedSha256(salt: Uint8Array, body: JsonObject): string {
  const { gw: _gw, extra_body: _extraBody, ...screened } = body;
  return createHash('sha256').update(salt).update(canonicalText(screened), 'utf8').digest('hex');
}
