/** What operators send to the onboarding routes. Everything that a customer has worded is bounded. */
import { accountTiers } from '@gw/contract/access';
import { z } from 'zod';
import { stages } from './machine.ts';

const line = (longest: number) =>
  z
    .string()
    .trim()
    .min(1)
    .max(longest)
    .refine((text) => !/\p{Cc}/u.test(text), 'holds a control character');
const text = (shortest: number, longest: number) =>
  z
    .string()
    .trim()
    .min(shortest)
    .max(longest)
    .refine((given) => !/[^\P{Cc}\n\r\t]/u.test(given), 'holds a control character');
const contact = z.strictObject({ name: line(200), email: z.email().max(254) });
const count = z.number().int().min(1).max(2_000_000_000);
const slug = z.string().regex(/^[a-z][a-z0-9_]{0,49}$/, 'is not lower case with underscores');

export const applicationSchema = z
  .strictObject({
    name: line(200),
    tier: z.enum(accountTiers),
    billing_contact: contact,
    technical_contact: contact,
    /** Negotiated; the other tiers have limits of their own. */
    limits: z.strictObject({ per_s: count, burst: count, per_day: count, streams: count.exactOptional() }).optional(),
  })
  .refine(({ tier, limits }) => tier !== 'enterprise' || limits !== undefined, {
    path: ['limits'],
    message: 'are negotiated for Enterprise: state per_s, burst and per_day',
  })
  .refine(({ tier, limits }) => tier === 'enterprise' || limits === undefined, {
    path: ['limits'],
    message: 'are negotiated for Enterprise alone',
  });
export type NewApplication = z.infer<typeof applicationSchema>;

export const declarationSchema = z.strictObject({
  intended_use: text(20, 4000),
  uses: z.array(slug).min(1).max(20),
  industry: slug,
  countries: z
    .array(z.string().regex(/^[A-Z]{2}$/, 'is not an ISO 3166-1 alpha-2 code'))
    .min(1)
    .max(250),
});

export const decisionSchema = z.strictObject({ reason: text(10, 2000) });

export const contractSchema = z.strictObject({
  /** Of the signed document. */
  sha256: z.string().regex(/^[0-9a-f]{64}$/, 'is not a SHA-256 in 64 lower-case hex digits'),
  /** Where the document is kept. */
  reference: line(500),
  signed_at: z.iso.datetime({ offset: true }),
});
export type SignedContract = z.infer<typeof contractSchema>;

export const applicationQuerySchema = z.object({
  stage: z.enum(stages).optional(),
  limit: z.coerce.number().int().min(1).max(100).default(20),
  after: z.string().max(100).optional(),
});
export type ApplicationQuery = z.infer<typeof applicationQuerySchema>;
