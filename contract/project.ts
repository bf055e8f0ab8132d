/** A project: a name, set by the key or by the request, that an account charges calls to. */
import { z } from 'zod';
import { hiddenMark, holdsHiddenMark } from './hidden-mark.ts';

export const projectSchema = z
  .string()
  .trim()
  .min(1, 'is empty')
  .max(64, 'has more than 64 characters')
  // Control characters would break the tables of a terminal; Postgres holds neither NUL nor half of a surrogate pair.
  .refine((text) => !/\p{Cc}/u.test(text), 'holds a control character')
  .refine((text) => text.isWellFormed(), 'holds half of a surrogate pair')
  .refine((text) => !text.includes(hiddenMark), holdsHiddenMark)
  .describe('Project that the calls are charged to, 1 to 64 characters');

const project = projectSchema
  .nullish()
  .describe(
    'Project that the call is charged to, `project` of the receipt, unless the key has its own. It is not sent to the provider',
  );

/** OpenAI allows 16 pairs, keys of 64 characters and values of 512. */
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

/** For endpoints where OpenAI defines no metadata: the gateway does not check the other fields. */
export const otherMetadata = z.looseObject({ project });
