/**
 * The interface that models, regions, providers, deployments, aliases, prices and energy contracts share as entries that operators
 * maintain.
 *
 * Invariant: an entry is whole: what a request leaves out has its default, and the rules are checked on the outcome,
 * whether it was added or changed.
 */
import { isDeepStrictEqual } from 'node:util';
import type { ApiError } from '@gw/contract/errors';
import type { Prisma } from '@gw/prisma/client';
import type { z } from 'zod';
import type { Surroundings } from './surroundings.ts';

export type Tx = Prisma.TransactionClient;

export type EntryName = 'model' | 'region' | 'provider' | 'deployment' | 'alias' | 'price' | 'energy_contract';

/** As a trigger noted it; null where nobody knows. */
export interface LastChange {
  readonly id: string;
  readonly changedAt: Date | null;
  readonly changedBy: string | null;
  readonly changedIn: number | null;
}
export const changeColumns = { changedAt: true, changedBy: true, changedIn: true } as const;

/** One kind of entry. `Entry` is one as operators see it, whole. */
export interface EntryKind<Entry extends object> {
  readonly name: EntryName;
  readonly path: string;
  readonly idOf: (entry: Entry) => string;
  /** The field that is at fault where there is such an entry already; absent: `id`. */
  readonly idField?: string;
  readonly idSchema: z.ZodType<string>;
  readonly addBody: z.ZodType;
  readonly changeBody: z.ZodType;
  /** The schema of a reply, without what all kinds have: `object` and `warnings`. */
  readonly shown: z.ZodObject;
  /** Returns the new entry with its defaults. Throws if `body` is not what `addBody` has accepted. */
  readonly added: (body: unknown, at: Date) => Entry;
  readonly changed: (before: Entry, body: unknown) => Entry;
  /** Returns the field of `body` that names where calls go, and its text; null if there is none. */
  readonly address?: (body: unknown) => { readonly field: string; readonly url: string } | null;
  /** Returns what stays as it is when the entry is written down anew; `body` is what `addBody` has accepted. */
  readonly kept: (before: Entry, body: unknown) => Partial<Entry>;
  /** Returns what is wrong with the entry as a whole, or with what it refers to; null if nothing is. */
  readonly refusal: (tx: Tx, entry: Entry) => Promise<ApiError | null>;
  /** Whether `refusal` looks at the other entries of the kind, so that those of a file are judged when all of them are there. */
  readonly isJudgedTogether?: true;
  /** Returns what is wrong with the change, even if the entry before and the one after are both valid. */
  readonly changeRefusal?: (before: Entry, after: Entry, body: unknown) => ApiError | null;
  /** Returns what people have to know of a change that a file has brought. */
  readonly moved?: (change: { readonly before: object | null; readonly after: object | null }) => readonly string[];
  /** Returns in words what refers to the entry, or to its id unless another entry is about to have that; null if nothing does. */
  readonly usedBy: (tx: Tx, id: string, isIdKept: boolean) => Promise<string | null>;
  readonly warnings: (entry: Entry, around: Surroundings) => readonly string[];
  /** Returns what warns of an entry beside other entries. */
  readonly warningsBeside?: (tx: Tx) => Promise<(entry: Entry) => readonly string[]>;
  readonly rows: {
    /** Returns who changed each entry last, or the one of that id; absent where the kind does not keep it. */
    readonly changes?: (tx: Tx, id?: string) => Promise<readonly LastChange[]>;
    readonly list: (tx: Tx) => Promise<Entry[]>;
    readonly find: (tx: Tx, id: string) => Promise<Entry | null>;
    readonly insert: (tx: Tx, entry: Entry) => Promise<unknown>;
    readonly update: (tx: Tx, entry: Entry) => Promise<unknown>;
    readonly remove: (tx: Tx, id: string) => Promise<unknown>;
  };
}

/** Returns `entry` with the fields that are given; absent ones stay as they are. */
export const withGiven = <Entry extends object>(
  entry: Entry,
  given: { [Field in keyof Entry]?: Entry[Field] | undefined },
): Entry => ({
  ...entry,
  // The fields are those of the entry by the type of `given`.
  ...(Object.fromEntries(Object.entries(given).filter(([, value]) => value !== undefined)) as Partial<Entry>),
});

/**
 * Takes what a figure rested on away from another figure. `evidenceOf` says which fields each evidence is of; evidence that changes
 * with them was given for the new ones.
 */
export function withoutFormerEvidence<Entry extends object>(
  before: Entry,
  after: Entry,
  evidenceOf: { readonly [Evidence in keyof Entry]?: readonly (keyof Entry)[] },
): Entry {
  const differs = (field: keyof Entry): boolean => !isDeepStrictEqual(before[field], after[field]);
  const former = Object.entries<readonly (keyof Entry)[] | undefined>(evidenceOf).filter(
    ([evidence, figures]) => !differs(evidence as keyof Entry) && figures?.some(differs),
  );
  return { ...after, ...Object.fromEntries(former.map(([evidence]) => [evidence, null])) };
}

export const withArticle = (name: EntryName): string =>
  `${name === 'alias' || name === 'energy_contract' ? 'an' : 'a'} ${name.replace('_', ' ')}`;

/** Lists ids for an error: `a, b and 3 more`. */
export function namesOf(ids: readonly string[], shown = 5): string {
  const rest = ids.length - shown;
  return rest > 0 ? `${ids.slice(0, shown).join(', ')} and ${rest} more` : ids.join(', ');
}

/** Returns what warns of an entry beside others. These are read once, when the first entry asks, so they have to be as they will be. */
export function warningsBeside(tx: Tx): (kind: EntryKind<object>, entry: object) => Promise<readonly string[]> {
  const read = new Map<EntryKind<object>, ReturnType<NonNullable<EntryKind<object>['warningsBeside']>>>();
  return async (kind, entry) => {
    const beside = read.get(kind) ?? kind.warningsBeside?.(tx);
    if (beside) read.set(kind, beside);
    return (await beside)?.(entry) ?? [];
  };
}
