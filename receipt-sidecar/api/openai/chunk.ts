/** Reads what a provider's chunk says of itself. */

export type Chunk = Record<string, unknown> & { readonly choices?: unknown };

/** Whether a chunk says in one of several ways that the provider failed. */
export const isError = (chunk: Chunk): boolean =>
  Boolean(chunk.error) || chunk.object === 'error' || chunk.type === 'error';

/** The data of the event that ends a stream; some servers write it as JSON, or with more blanks. */
export const doneMark = /^\s*"?\[DONE\]"?\s*$/;

export interface Origin {
  readonly id: string | undefined;
  readonly created: number | undefined;
  readonly model: string | undefined;
}

const longestName = 256;
const name = (value: unknown): string | undefined =>
  typeof value === 'string' && value.length <= longestName ? value : undefined;

/**
 * Returns what a chunk of our own takes from the provider's, so that it fits into the stream; it is kept to its end.
 */
export const originOf = ({ id, created, model }: Chunk): Origin => ({
  id: name(id),
  created: typeof created === 'number' ? created : undefined,
  model: name(model),
});
