/** Requests and replies about API keys. The plaintext of a key is in one reply only. */
import { z } from 'zod';
import { type AccountTier, defaultScopes, type Scope, scopes } from './access.ts';
import { hiddenMark, holdsHiddenMark } from './hidden-mark.ts';
import { pageSchema } from './list.ts';
import { projectSchema } from './project.ts';

export const keyIdPattern = /^[0-9A-Za-z]{12}$/;

/** Specification parts 2.1 and 5.4: only these tiers may give a key an expiry, and more than the default scopes. */
export const hasKeyExtras = (tier: AccountTier): boolean => tier !== 'audit';

/**
 * Returns when a key expires under its account's current tier, or null: keys of the tier Audit never expire. An expiry that was
 * set is kept and applies again when the account returns to its tier.
 */
export const workingExpiry = (expiresAt: Date | null, tier: AccountTier): Date | null =>
  hasKeyExtras(tier) ? expiresAt : null;

/** Only people can grant `admin:keys`: a stolen key must not be able to issue successors of itself. */
export function mayGrant(scope: Scope, tier: AccountTier, byKey: boolean): boolean {
  if (scope === 'admin:keys' && byKey) return false;
  return defaultScopes.includes(scope) || hasKeyExtras(tier);
}

/**
 * Returns the granted scopes that the account's current tier includes. The others are kept and work again when the account
 * returns to its tier.
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
  .refine((text) => !text.includes(hiddenMark), holdsHiddenMark)
  .describe('For people, 1 to 100 characters');
const scopeSet = z
  .array(z.enum(scopes))
  .min(1)
  .max(scopes.length)
  .refine((set) => new Set(set).size === set.length, 'names a scope twice');
const expiry = z.iso
  .datetime({ offset: true })
  // Postgres has no year 0.
  .refine((text) => !text.startsWith('0000'), 'is before the year 1')
  .describe('RFC 3339, in the future. Audit Plus and Enterprise only; without it the key does not expire');

/** At most the largest integer that Postgres can store. */
const count = z.int().min(1).max(2_147_483_647);
/** The limits of a key; null or absent means as much as the account. */
export const keyLimitsSchema = z
  .strictObject({
    per_s: count.nullish().describe('Requests per second; requires `burst`'),
    burst: count.nullish().describe('Burst of requests; requires `per_s`'),
    per_day: count.nullish().describe('Requests per UTC day'),
    streams: count.nullish().describe('Open streams'),
    tokens_per_minute: count.nullish().describe('Tokens of prompts and answers per minute'),
    tokens_per_day: count.nullish().describe('Tokens of prompts and answers per UTC day'),
  })
  .refine(
    ({ burst, per_s }) => ((per_s ?? null) === null) === ((burst ?? null) === null),
    'name per_s and burst together',
  )
  .meta({ id: 'KeyLimitsRequest', description: 'Enterprise only, and no limit above that of the account' });
export type KeyLimitsRequest = z.infer<typeof keyLimitsSchema>;

export const keyCreateSchema = z
  .strictObject({
    name,
    scopes: scopeSet.optional().describe(`Default: ${defaultScopes.join(', ')}`),
    expires_at: expiry.nullish(),
    limits: keyLimitsSchema.nullish(),
    project: projectSchema
      .nullish()
      .describe('Project that calls with this key are charged to, whatever they name themselves, 1 to 64 characters'),
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

/** Limits are replaced as a whole. Null removes the limits or the project; an absent field changes nothing. */
export const keyChangeSchema = z
  .strictObject({ limits: keyLimitsSchema.nullable().optional(), project: projectSchema.nullable().optional() })
  .refine((change) => Object.keys(change).length > 0, 'name limits, project or both');
export type KeyChange = z.infer<typeof keyChangeSchema>;

const part = (what: string) => z.int().positive().nullable().describe(what);
export const keyLimitsView = z
  .strictObject({
    per_s: part('Requests per second'),
    burst: part('Burst of requests'),
    per_day: part('Requests per UTC day'),
    streams: part('Open streams'),
    tokens_per_minute: part('Tokens of prompts and answers per minute'),
    tokens_per_day: part('Tokens of prompts and answers per UTC day'),
  })
  .meta({ id: 'KeyLimits' });
export type KeyLimitsView = z.infer<typeof keyLimitsView>;

const instant = z.iso.datetime({ precision: 3 });
const keyFields = {
  id: z.string().regex(keyIdPattern).describe('The public part of the key; may be shown and logged'),
  object: z.literal('gw.api_key'),
  name: z.string(),
  state: z.enum(['active', 'revoked', 'expired']).describe('`revoked` wins over `expired`'),
  scopes: z.array(z.enum(scopes)).describe('What the key may do under the current tier of the account'),
  created_at: instant,
  expires_at: instant.nullable().describe('Under the current tier of the account: keys of Audit do not expire'),
  revoked_at: instant.nullable(),
  restorable_until: instant.nullable().describe('Until when the revocation can be undone; null: not revoked'),
  last_used_on: z.iso.date().nullable().describe('UTC day of the last call; null: not used yet'),
  limits: keyLimitsView
    .nullable()
    .describe('The part of its account’s limits that the key may use; null, here or in a field: all of it'),
  project: z
    .string()
    .nullable()
    .describe('Project that its calls are charged to, whatever they name themselves; null: the project that they name'),
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
  after: z.string().regex(keyIdPattern).optional().describe('`last_id` of the previous page'),
  order: z.enum(['asc', 'desc']).default('desc').describe('By the time of issue'),
});
export type KeyListQuery = z.infer<typeof keyListQuerySchema>;

export const keyListSchema = pageSchema(keySchema).meta({ id: 'KeyList' });
