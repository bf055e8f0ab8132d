/** The audit log as a customer reads it. */
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
  after: z.string().regex(auditIdPattern).optional().describe('The `last_id` of the page before'),
  order: z.enum(['asc', 'desc']).default('desc').describe('By the place in the log'),
  from: instantSchema.optional().describe('Inclusive; a UTC date or an RFC 3339 time'),
  to: instantSchema.optional().describe('Exclusive'),
  actor: text.optional().describe('Id of who did it'),
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
      id: z.string().describe("Of an API key its id; of the system the job's name"),
      name: z.string().nullable(),
    }),
    action: z.string(),
    target: z.string().describe('What it was done to, for example `key:<id>`'),
    request_id: z.string().nullable(),
    before: z.unknown(),
    after: z.unknown(),
    prev_hash: z.string().describe('Hash of the entry before; zeros for the first'),
    hash: z
      .string()
      .describe(
        'SHA-256 of the RFC 8785 form of the entry without `id`, `object` and `hash`, but with `chain`: the account id. Note it: whoever holds a hash can prove that nothing before it was changed',
      ),
  })
  .meta({ id: 'AuditEntry' });
export type AuditEntryObject = z.infer<typeof auditEntrySchema>;

export const auditListSchema = pageSchema(auditEntrySchema).meta({ id: 'AuditList' });
