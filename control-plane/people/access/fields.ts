/** Fields that many requests of the operator listener share. */
import { z } from 'zod';

/** One line of text, as it is shown in lists and in the audit log. */
export const nameSchema = z
  .string()
  .trim()
  .min(1)
  .max(200)
  .regex(/^[^\p{Cc}]*$/u, 'must be one line of text');

/** Compared in small letters, so that one person has one login. */
export const emailSchema = z.string().trim().toLowerCase().max(254).pipe(z.email());

/** Of calls that say everything in their path. */
export const noBody = z.strictObject({}).nullish();

/** Of anything of ours. Postgres would fault on some of what can stand in a path. */
export const idSchema = z.string().regex(/^[\w.-]{1,100}$/, 'is no id');
