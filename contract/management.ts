/** Requests and replies about the ledger and the gateway's health. */
import { z } from 'zod';
import { projectSchema } from './project.ts';

/** Receipt ids as they are made: `rcpt_` and a UUIDv7. */
export const receiptIdPattern = /^rcpt_[0-9a-f]{8}-[0-9a-f]{4}-7[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/;

/** Postgres holds no NUL. */
const name = z
  .string()
  .min(1)
  .refine((text) => !text.includes('\0'), 'holds NUL');

export const countedVersion = z
  .enum(['issued', 'restated'])
  .default('restated')
  .describe('Version of each receipt: `issued` is the first, as the client saw it; `restated` the newest');
export type CountedVersion = z.infer<typeof countedVersion>;

export const countedSimulated = z
  .enum(['exclude', 'include'])
  .default('exclude')
  .describe('Whether `total` counts simulated calls; they have rows of their own either way');

export const ledgerQuerySchema = z.object({
  limit: z.coerce.number().int().min(1).max(100).default(20).describe('Receipts per page'),
  after: z.string().max(100).optional().describe('`last_id` of the previous page'),
  order: z
    .enum(['asc', 'desc', 'arrival'])
    .default('desc')
    .describe(
      '`desc`: the newest call first. `asc`: as receipts came into the ledger. `arrival`: each version as it came, for followers that must miss none',
    ),
  model: name.max(256).optional(),
  region: name.max(64).optional(),
  project: projectSchema.optional().describe('Only calls charged to this project'),
  version: countedVersion,
});
export type LedgerQuery = z.infer<typeof ledgerQuerySchema>;

export const receiptQuerySchema = z.object({
  version: z.coerce.number().int().min(1).max(1_000_000).optional().describe('An older version; default: the newest'),
});

/** Postgres has no year 0. */
export const instantSchema = z
  .union([z.iso.date(), z.iso.datetime({ offset: true })])
  .refine((text) => !text.startsWith('0000'), 'is before the year 1');

export const healthSchema = z.strictObject({ status: z.literal('ok') }).meta({ id: 'Health' });
