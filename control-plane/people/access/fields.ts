/** Fields that many requests of the operator listener share. */
import { z } from 'zod';

export { nameSchema } from '@gw/contract/internal/catalogue/field';

/** An e-mail, turned into small letters so that one person has one login. */
export const emailSchema = z.string().trim().toLowerCase().max(254).pipe(z.email());

/** The body of a route that takes nothing but its path: absent, null or `{}`. */
export const noBody = z.strictObject({}).nullish();

/** An identity provider names a person by this. */
export const subjectBody = z.strictObject({
  subject: z.string().min(1).max(255).describe('The claim sub of the person, or oid where the issuer is set to it'),
});

/** The form of every id of ours. It is checked because Postgres fails on some of the text that a path can hold. */
export const idSchema = z.string().regex(/^[\w.-]{1,100}$/, 'is not an id');
