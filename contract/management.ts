/** Requests and replies about the ledger, usage and the gateway's health. */
import { z } from 'zod';
import { listSchema } from './list.ts';

/** Receipt ids as they are made: `rcpt_` and a UUIDv7. */
export const receiptIdPattern = /^rcpt_[0-9a-f]{8}-[0-9a-f]{4}-7[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/;

/** Postgres holds no NUL. */
const name = z
  .string()
  .min(1)
  .refine((text) => !text.includes('\0'), 'holds NUL');

/** Which of several versions of a receipt counts: the first, as the client saw it, or the newest. */
const countedVersion = z
  .enum(['issued', 'restated'])
  .default('restated')
  .describe('Which version of each receipt: `issued` is the first, as the client saw it; `restated` the newest');
export type CountedVersion = z.infer<typeof countedVersion>;

const countedSimulated = z
  .enum(['exclude', 'include'])
  .default('exclude')
  .describe('Whether `total` counts simulated calls; they have rows of their own either way');
export type CountedSimulated = z.infer<typeof countedSimulated>;

export const ledgerQuerySchema = z.object({
  limit: z.coerce.number().int().min(1).max(100).default(20).describe('Receipts per page'),
  after: z.string().regex(receiptIdPattern).optional().describe('The `last_id` of the page before'),
  order: z.enum(['asc', 'desc']).default('desc').describe('By the time of the call'),
  model: name.max(256).optional(),
  region: name.max(64).optional(),
  version: countedVersion,
});
export type LedgerQuery = z.infer<typeof ledgerQuerySchema>;

export const receiptQuerySchema = z.object({
  version: z.coerce.number().int().min(1).max(1_000_000).optional().describe('An older version; default: the newest'),
});

/** Postgres knows no year 0. */
export const instantSchema = z
  .union([z.iso.date(), z.iso.datetime({ offset: true })])
  .refine((text) => !text.startsWith('0000'), 'is before the year 1');

export const usageQuerySchema = z.object({
  from: instantSchema.optional().describe('Inclusive; a UTC date or an RFC 3339 time. Default: 30 days before `to`'),
  to: instantSchema.optional().describe('Exclusive. Default: now. At most 366 days after `from`'),
  version: countedVersion,
  simulated: countedSimulated,
});

export const healthSchema = z.strictObject({ status: z.literal('ok') }).meta({ id: 'Health' });

const sumOfTokens = 'Exact sum of what is known; null if it is above 2^53 - 1, which no JSON number tells exactly';

const usageSums = {
  requests: z.int().nonnegative().describe('Calls with a receipt'),
  requests_degraded: z.int().nonnegative().describe('Of those, calls whose receipt is degraded'),
  prompt_tokens: z.int().nonnegative().nullable().describe(sumOfTokens),
  completion_tokens: z.int().nonnegative().nullable().describe(sumOfTokens),
  energy_wh: z.number().nonnegative().nullable().describe('Sum of what is known; null if nothing is'),
  carbon_g: z.number().nonnegative().nullable().describe('gCO2e; sum of what is known; null if nothing is'),
};

export const usageRowSchema = z
  .strictObject({
    object: z.literal('gw.usage'),
    date: z.iso.date().describe('UTC'),
    model: z.string(),
    simulated: z.boolean().describe('Whether a simulator answered these calls; they are in no row with others'),
    ...usageSums,
  })
  .meta({ id: 'UsageRow' });
export type UsageRow = z.infer<typeof usageRowSchema>;

export const usageTotalSchema = z.strictObject(usageSums).meta({
  id: 'UsageTotal',
  description: 'All rows, without those of simulated calls unless `simulated` is `include`',
});
export type UsageTotal = z.infer<typeof usageTotalSchema>;

export const usageSchema = listSchema(usageRowSchema)
  .extend({
    from: z.iso.datetime({ precision: 3 }),
    to: z.iso.datetime({ precision: 3 }),
    version: countedVersion,
    simulated: countedSimulated,
    total: usageTotalSchema,
  })
  .meta({ id: 'Usage' });
