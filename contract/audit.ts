/** The audit log as customers read it. */
import { z } from 'zod';
import { pageSchema } from './list.ts';
import { instantSchema } from './management.ts';

export const auditIdPattern = /^audit_[1-9]\d{0,14}$/;

const text = z
  .string()
  .min(1)
  .max(128)
  .refine((value) => !value.includes('\0'), 'holds NUL');

export const auditQuerySchema = z.object({
  limit: z.coerce.number().int().min(1).max(100).default(20).describe('Entries per page'),
  after: z.string().regex(auditIdPattern).optional().describe('`last_id` of the previous page'),
  order: z.enum(['asc', 'desc']).default('desc').describe('By position in the log'),
  from: instantSchema.optional().describe('Inclusive; a UTC date or an RFC 3339 time'),
  to: instantSchema.optional().describe('Exclusive'),
  actor: text.optional().describe('Id of the actor'),
  action: text.optional().describe('For example `key.revoked`'),
});
export type AuditQuery = z.infer<typeof auditQuerySchema>;

export const auditEntrySchema = z
  .strictObject({
    id: z.string().regex(auditIdPattern),
    object: z.literal('gw.audit_entry'),
    seq: z.int().positive().describe('From 1, without gaps'),
    at: z.iso.datetime({ precision: 3 }),
    actor: z.strictObject({
      kind: z.enum(['operator', 'organisation_admin', 'api_key', 'system']),
      id: z.string().describe("The id of an API key, or the name of the system's job"),
      name: z.string().nullable(),
    }),
    action: z.string(),
    target: z.string().describe('What it was done to, for example `key:<id>`'),
    request_id: z.string().nullable(),
    before: z.unknown(),
    after: z.unknown(),
    prev_hash: z.string().describe('Hash of the previous entry; zeros for the first'),
    hash: z
      .string()
      .describe(
        'SHA-256 of the RFC 8785 form of the entry without `id`, `object`, `hash` and `hidden`, with the texts of `hidden` in their places, and with `chain`: the account id. Keep it: a hash proves that nothing before it was changed',
      ),
    hidden: z
      .record(z.string(), z.string())
      .optional()
      .describe(
        'JSON pointer → the encrypted name that was hashed in that place. The entry shows the name there, or `erased`. Absent if the entry has no names',
      ),
  })
  .meta({ id: 'AuditEntry' });
export type AuditEntryObject = z.infer<typeof auditEntrySchema>;

export const auditListSchema = pageSchema(auditEntrySchema)
  .extend({
    altered: z
      .array(z.strictObject({ id: z.string().regex(auditIdPattern) }))
      .optional()
      .describe(
        'Entries of this page that the gateway did not write, or not so, and that are not in `data`; absent if there are none',
      ),
  })
  .meta({ id: 'AuditList' });
