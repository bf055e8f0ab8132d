/** The bodies that operators send to the onboarding routes. Every text that a customer has written is bounded. */
import { accountTiers } from '@gw/contract/access';
import { countrySchema } from '@gw/contract/countries';
import { hourMs } from '@gw/contract/internal/durations';
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
    /** Only for Enterprise, which needs them; the other tiers have fixed limits. */
    limits: z.strictObject({ per_s: count, burst: count, per_day: count, streams: count.exactOptional() }).optional(),
  })
  .refine(({ tier, limits }) => tier !== 'enterprise' || limits !== undefined, {
    path: ['limits'],
    message: 'are negotiated for Enterprise: state per_s, burst and per_day',
  })
  .refine(({ tier, limits }) => tier === 'enterprise' || limits === undefined, {
    path: ['limits'],
    message: 'are only negotiated for Enterprise',
  });
export type NewApplication = z.infer<typeof applicationSchema>;

export const declarationSchema = z.strictObject({
  intended_use: text(20, 4000),
  uses: z.array(slug).min(1).max(20),
  industry: slug,
  countries: z.array(countrySchema).min(1).max(250),
});

export const decisionSchema = z.strictObject({ reason: text(10, 2000) });

export const contractSchema = z.strictObject({
  /** The SHA-256 of the signed document. */
  sha256: z.string().regex(/^[0-9a-f]{64}$/, 'is not a SHA-256 in 64 lower-case hex digits'),
  /** Where the document is kept. */
  reference: line(500),
  /** A date alone is midnight UTC of that day. */
  signed_at: z
    .union([z.iso.date(), z.iso.datetime({ offset: true })], 'is neither a date like 2026-11-20 nor an RFC 3339 time')
    // Postgres knows no year 0.
    .refine((given) => !given.startsWith('0000'), 'is before the year 1'),
});
export type SignedContract = z.infer<typeof contractSchema>;

/** How far clocks can differ. */
const skewMs = 300_000;
/** How much earlier a day begins at UTC+14 than in UTC. */
const firstDaybreakMs = 14 * hourMs;

/** Whether the contract is dated in the future. A date has come as soon as it is that day anywhere on earth. */
export function isSignedLater({ signed_at }: SignedContract, now: Date): boolean {
  const ahead = signed_at.includes('T') ? skewMs : firstDaybreakMs;
  return new Date(signed_at).getTime() > now.getTime() + ahead;
}

export const applicationQuerySchema = z.object({
  stage: z.enum(stages).optional(),
  limit: z.coerce.number().int().min(1).max(100).default(20),
  after: z.string().max(100).optional(),
});
export type ApplicationQuery = z.infer<typeof applicationQuerySchema>;
