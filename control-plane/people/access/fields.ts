/** Fields that many requests of the operator listener share. */
import { z } from 'zod';

export { nameSchema } from '@gw/contract/internal/catalogue/field';

/** Compared in small letters, so that one person has one login. */
export const emailSchema = z.string().trim().toLowerCase().max(254).pipe(z.email());

/** Of calls that say everything in their path. */
export const noBody = z.strictObject({}).nullish();

/** Of anything of ours. Postgres would fault on some of what can stand in a path. */
export const idSchema = z.string().regex(/^[\w.-]{1,100}$/, 'is not an id');
