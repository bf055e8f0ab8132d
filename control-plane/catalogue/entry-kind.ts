/**
 * What models, regions, providers and deployments have in common as entries that operators look after.
 *
 * Invariant: an entry is whole: what a request leaves out has its default, and the rules are checked on the outcome,
 * whether it was added or changed.
 */
import type { ApiError } from '@gw/contract/errors';
import type { Prisma } from '@gw/prisma/client';
import type { z } from 'zod';
import type { Surroundings } from './surroundings.ts';

export type Tx = Prisma.TransactionClient;

export type EntryName = 'model' | 'region' | 'provider' | 'deployment';

/** `Entry`: as operators see it, whole. `Id`: the field that names it. */
export interface EntryKind<Entry extends object> {
  readonly name: EntryName;
  readonly path: string;
  readonly idOf: (entry: Entry) => string;
  readonly idSchema: z.ZodType<string>;
  readonly addBody: z.ZodType;
  readonly changeBody: z.ZodType;
  /** Of a reply, without what all kinds have: `object` and `warnings`. */
  readonly shown: z.ZodObject;
  /** Throws if it is not what `addBody` has let through. */
  readonly added: (body: unknown, at: Date) => Entry;
  readonly changed: (before: Entry, body: unknown) => Entry;
  /** What is wrong with it as a whole, or with what it refers to. */
  readonly refusal: (tx: Tx, entry: Entry) => Promise<ApiError | null>;
  /** What is wrong with the step from one to the other by this `body`, where each may stand alone. */
  readonly changeRefusal?: (before: Entry, after: Entry, body: unknown) => ApiError | null;
  /** What refers to it, in words; null: nothing. */
  readonly usedBy: (tx: Tx, id: string) => Promise<string | null>;
  readonly warnings: (entry: Entry, around: Surroundings) => readonly string[];
  readonly rows: {
    readonly list: (tx: Tx) => Promise<Entry[]>;
    readonly find: (tx: Tx, id: string) => Promise<Entry | null>;
    readonly insert: (tx: Tx, entry: Entry) => Promise<unknown>;
    readonly update: (tx: Tx, entry: Entry) => Promise<unknown>;
    readonly remove: (tx: Tx, id: string) => Promise<unknown>;
  };
}

/** `entry` with what was given in place of what it had; an absent field stays. */
export const withGiven = <Entry extends object>(
  entry: Entry,
  given: { [Field in keyof Entry]?: Entry[Field] | undefined },
): Entry => ({
  ...entry,
  // The fields are those of the entry by the type of `given`.
  ...(Object.fromEntries(Object.entries(given).filter(([, value]) => value !== undefined)) as Partial<Entry>),
});

/** `a, b and 3 more`. */
export function namesOf(ids: readonly string[], shown = 5): string {
  const rest = ids.length - shown;
  return rest > 0 ? `${ids.slice(0, shown).join(', ')} and ${rest} more` : ids.join(', ');
}
