/** OpenAI's list object, whole or page by page. */
import { z } from 'zod';

export const listSchema = <T extends z.ZodType>(item: T) =>
  z.strictObject({ object: z.literal('list'), data: z.array(item) });

export const pageSchema = <T extends z.ZodType>(item: T) =>
  listSchema(item).extend({
    has_more: z.boolean(),
    first_id: z.string().nullable(),
    last_id: z.string().nullable(),
  });

export interface Page<T> {
  readonly object: 'list';
  readonly data: readonly T[];
  readonly has_more: boolean;
  readonly first_id: string | null;
  readonly last_id: string | null;
}

/** `idOf` returns the value that `after` takes for the next page. */
export function pageOf<T>(data: readonly T[], idOf: (item: T) => string, hasMore = false): Page<T> {
  const first = data[0];
  const last = data.at(-1);
  return {
    object: 'list',
    data,
    has_more: hasMore,
    first_id: first === undefined ? null : idOf(first),
    last_id: last === undefined ? null : idOf(last),
  };
}
