/** A project: the name under which an account charges a call to one of its own, by the key or by the request. */
import { z } from 'zod';

export const projectSchema = z
  .string()
  .trim()
  .min(1, 'is empty')
  .max(64, 'has more than 64 characters')
  // Control characters would break the tables of a terminal; Postgres holds neither NUL nor half of a surrogate pair.
  .refine((text) => !/\p{Cc}/u.test(text), 'holds a control character')
  .refine((text) => text.isWellFormed(), 'holds half of a surrogate pair')
  .describe('What the calls are charged to, 1 to 64 characters');

const project = projectSchema
  .nullish()
  .describe(
    'What the call is charged to: `project` of the receipt, unless the key has a project of its own. The provider does not get it',
  );

/** OpenAI's bounds: 16 pairs, keys of 64 characters, values of 512. */
export const chatMetadata = z
  .object({ project })
  .catchall(z.string().max(512))
  .superRefine((pairs, context) => {
    const names = Object.keys(pairs);
    if (names.length > 16) context.addIssue({ code: 'custom', message: 'expected at most 16 pairs' });
    const long = names.find((name) => name.length > 64);
    if (long !== undefined)
      context.addIssue({ code: 'custom', path: [long], message: 'expected a name of at most 64 characters' });
  })
  .meta({ maxProperties: 16, propertyNames: { maxLength: 64 } });

/** Where OpenAI has no metadata: whatever else is in it is a matter between client and provider. */
export const otherMetadata = z.looseObject({ project });
