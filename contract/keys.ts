/** Requests and replies about API keys, as their holders see them. The plaintext of a key is in one reply only. */
import { z } from 'zod';
import { type AccountTier, defaultScopes, type Scope, scopes } from './access.ts';
import { pageSchema } from './list.ts';
import { projectSchema } from './project.ts';

export const keyIdPattern = /^[0-9A-Za-z]{12}$/;

/** Specification parts 2.1 and 5.4: only these tiers may give a key an expiry, and more than the default scopes. */
export const hasKeyExtras = (tier: AccountTier): boolean => tier !== 'audit';

/**
 * Returns when a key expires under its account's present tier, or null if it does not: keys of the tier Audit never expire.
 * An expiry that was set is kept, and holds again when the account returns to its tier.
 */
export const workingExpiry = (expiresAt: Date | null, tier: AccountTier): Date | null =>
  hasKeyExtras(tier) ? expiresAt : null;

/** Only people can grant `admin:keys`: a stolen key must not be able to issue successors of itself. */
export function mayGrant(scope: Scope, tier: AccountTier, byKey: boolean): boolean {
  if (scope === 'admin:keys' && byKey) return false;
  return defaultScopes.includes(scope) || hasKeyExtras(tier);
}

/**
 * Returns the scopes that a key can use: those that were granted to it and that its account's tier includes now. The others
 * are kept, and work again when the account returns to its tier.
 */
export const workingScopes = (granted: readonly string[], tier: AccountTier): Scope[] =>
  scopes.filter((scope) => granted.includes(scope) && mayGrant(scope, tier, false));

const name = z
  .string()
  .trim()
  .min(1)
  .max(100)
  // Control characters would break the tables of a terminal; Postgres holds no NUL.
  .refine((text) => !/\p{Cc}/u.test(text), 'holds a control character')
  .describe('For people, 1 to 100 characters');
const scopeSet = z
  .array(z.enum(scopes))
  .min(1)
  .max(scopes.length)
  .refine((set) => new Set(set).size === set.length, 'names a scope twice');
const expiry = z.iso
  .datetime({ offset: true })
  // Postgres knows no year 0.
  .refine((text) => !text.startsWith('0000'), 'is before the year 1')
  .describe('RFC 3339, in the future. Audit Plus and Enterprise only; without it the key does not expire');

/** The largest integer that Postgres can store. */
const count = z.int().min(1).max(2_147_483_647);
/** The limits of a key; null or absent means as much as the account. */
export const keyLimitsSchema = z
  .strictObject({
    per_s: count.nullish().describe('Requests per second; goes with `burst`'),
    burst: count.nullish().describe('Requests at once; goes with `per_s`'),
    per_day: count.nullish().describe('Requests per UTC day'),
    streams: count.nullish().describe('Open streams'),
  })
  .refine(
    (limits) => (limits.per_s ?? null) === null || (limits.burst ?? null) !== null,
    'name per_s and burst together',
  )
  .refine(
    (limits) => (limits.burst ?? null) === null || (limits.per_s ?? null) !== null,
    'name per_s and burst together',
  )
  .meta({ id: 'KeyLimitsRequest', description: 'Enterprise only, and none above what the account has' });
export type KeyLimitsRequest = z.infer<typeof keyLimitsSchema>;

export const keyCreateSchema = z
  .strictObject({
    name,
    scopes: scopeSet.optional().describe(`Default: ${defaultScopes.join(', ')}`),
    expires_at: expiry.nullish(),
    limits: keyLimitsSchema.nullish(),
    project: projectSchema
      .nullish()
      .describe('What calls with this key are charged to, whatever they name themselves, 1 to 64 characters'),
  })
  .meta({ id: 'KeyCreateRequest' });
export type KeyCreate = z.infer<typeof keyCreateSchema>;

export const keyRotateSchema = z
  .strictObject({
    name: name.optional().describe('Default: the name of the predecessor'),
    scopes: scopeSet.optional().describe('Default: the scopes of the predecessor'),
    expires_at: expiry.nullish(),
  })
  .meta({ id: 'KeyRotateRequest' });
export type KeyRotate = z.infer<typeof keyRotateSchema>;

/** Limits are replaced as a whole; null takes them, or the project, away. What is absent stays. */
export const keyChangeSchema = z
  .strictObject({ limits: keyLimitsSchema.nullable().optional(), project: projectSchema.nullable().optional() })
  .refine((change) => Object.keys(change).length > 0, 'name limits, project or both');
export type KeyChange = z.infer<typeof keyChangeSchema>;

const part = (what: string) => z.int().positive().nullable().describe(what);
export const keyLimitsView = z
  .strictObject({
    per_s: part('Requests per second'),
    burst: part('Requests at once'),
    per_day: part('Requests per UTC day'),
    streams: part('Open streams'),
  })
  .meta({ id: 'KeyLimits' });
export type KeyLimitsView = z.infer<typeof keyLimitsView>;

const instant = z.iso.datetime({ precision: 3 });
const keyFields = {
  id: z.string().regex(keyIdPattern).describe('The public part of the key; may be shown and logged'),
  object: z.literal('gw.api_key'),
  name: z.string(),
  state: z.enum(['active', 'revoked', 'expired']).describe('`revoked` wins over `expired`'),
  scopes: z.array(z.enum(scopes)).describe('What the key may do, with the tier that the account has now'),
  created_at: instant,
  expires_at: instant.nullable().describe('With the tier that the account has now: on Audit no expiry holds'),
  revoked_at: instant.nullable(),
  restorable_until: instant.nullable().describe('Until then a revocation can be taken back; null: there is none'),
  last_used_on: z.iso.date().nullable().describe('UTC day of the last call; null: not used yet'),
  limits: keyLimitsView
    .nullable()
    .describe('What the key may take of the limits of its account; a null in it, or null: all of it'),
  project: z
    .string()
    .nullable()
    .describe('What its calls are charged to, whatever they name themselves; null: what they name'),
  predecessor: z.string().nullable().describe('Id of the key that this one succeeds'),
};

export const keySchema = z.strictObject(keyFields).meta({ id: 'Key' });
export type KeyObject = z.infer<typeof keySchema>;

export const issuedKeySchema = z
  .strictObject({ ...keyFields, key: z.string().describe('The key itself; shown in this reply and never again') })
  .meta({ id: 'IssuedKey' });
export type IssuedKeyObject = z.infer<typeof issuedKeySchema>;

export const keyListQuerySchema = z.object({
  limit: z.coerce.number().int().min(1).max(100).default(20).describe('Keys per page'),
  after: z.string().regex(keyIdPattern).optional().describe('The `last_id` of the page before'),
  order: z.enum(['asc', 'desc']).default('desc').describe('By the time of issue'),
});
export type KeyListQuery = z.infer<typeof keyListQuerySchema>;

export const keyListSchema = pageSchema(keySchema).meta({ id: 'KeyList' });
