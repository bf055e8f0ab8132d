/**
 * Adds, changes and removes entries of the catalogue.
 *
 * Invariant: each change is one transaction with its audit entry, and changes happen one after the other, so that what
 * one refers to is still there when it is committed. The catalogue's version rises by trigger; every part takes the new
 * one up by itself.
 */
import { ok } from '@gw/contract/internal/result';
import { z } from 'zod';
import type { ChangeContext } from '../../people/access/change.ts';
import type { ChangeResult } from '../../people/access/refusals.ts';
import { appendAudit } from '../../people/audit/append.ts';
import type { Context } from '../../shared/context.ts';
import { changesOf, type EntryChanges, inTurn } from './entry-changes.ts';
import type { EntryKind, EntryName, LastChange } from './entry-kind.ts';
import { refusedAddress } from './named-address.ts';
import type { Surroundings } from './surroundings.ts';

/** Who vouches for an entry, as receipts name it. */
export const lastChangeSchema = z
  .strictObject({ catalogue_version: z.int(), changed_at: z.iso.datetime(), changed_by: z.string() })
  .nullable()
  .describe(
    'Which version of the catalogue changed the entry last, when, and who: `sources` of a lineage name it as vouching for the entry. Null where nobody knows',
  );

export type Viewed<Entry> = Entry & {
  /** Only models, regions and deployments have it. */
  readonly last_change?: z.infer<typeof lastChangeSchema>;
  /** Sentences that say what will not work as one may expect. */
  readonly warnings: readonly string[];
};

function shownChange({ changedAt, changedBy, changedIn }: LastChange): z.infer<typeof lastChangeSchema> {
  if (changedIn === null || changedAt === null || changedBy === null) return null;
  return { catalogue_version: changedIn, changed_at: changedAt.toISOString(), changed_by: changedBy };
}

/** The reply to a removal. */
export interface Removed {
  readonly id: string;
  readonly object: EntryName;
  readonly deleted: true;
}

/** The entries of one kind. Unknown ids are `invalid_<kind>`. */
export interface Entries<Entry> {
  list(): Promise<Viewed<Entry>[]>;
  read(id: string): Promise<Viewed<Entry> | null>;
  /** `body` has to be what the kind's schema has accepted. */
  add(change: ChangeContext, body: unknown): Promise<ChangeResult<Viewed<Entry>>>;
  change(change: ChangeContext, id: string, body: unknown): Promise<ChangeResult<Viewed<Entry>>>;
  /** Refuses with `invalid_transition` while anything refers to the entry. */
  remove(change: ChangeContext, id: string): Promise<ChangeResult<Removed>>;
}

export function openEntries<Entry extends object>(
  { db, providerGuard: guard }: Pick<Context, 'db' | 'providerGuard'>,
  kind: EntryKind<Entry>,
  around: Surroundings,
): Entries<Entry> {
  const { name, rows } = kind;
  const viewOf = async (id?: string): Promise<(entry: Entry) => Viewed<Entry>> => {
    const beside = await kind.warningsBeside?.(db);
    const noted = await rows.changes?.(db, id);
    const changes = new Map(noted?.map((change) => [change.id, shownChange(change)]));
    return (entry) => ({
      ...entry,
      ...(noted && { last_change: changes.get(kind.idOf(entry)) ?? null }),
      warnings: [...kind.warnings(entry, around), ...(beside?.(entry) ?? [])],
    });
  };
  const make = <T>(change: ChangeContext, work: (changes: EntryChanges<Entry>) => Promise<ChangeResult<T>>) =>
    inTurn(db, change, (tx) => work(changesOf(tx, change, kind, (fact) => appendAudit(tx, change.at, fact))));
  const viewed = async (outcome: ChangeResult<Entry>) =>
    outcome.ok ? ok((await viewOf(kind.idOf(outcome.value)))(outcome.value)) : outcome;

  return {
    list: async () => (await rows.list(db)).map(await viewOf()),
    read: async (id) => {
      const entry = await rows.find(db, id);
      return entry && (await viewOf(id))(entry);
    },
    add: async (change, body) =>
      (await refusedAddress(guard, kind, body)) ?? viewed(await make(change, (changes) => changes.add(body))),
    change: async (change, id, body) => {
      // An address that stays was judged when it came.
      const stored = kind.address && (await rows.find(db, id));
      const isSame = stored != null && kind.address?.(stored)?.url === kind.address?.(body)?.url;
      const refused = isSame ? null : await refusedAddress(guard, kind, body);
      return refused ?? viewed(await make(change, (changes) => changes.change(id, body)));
    },
    remove: async (change, id) => {
      const outcome = await make(change, (changes) => changes.remove(id));
      return outcome.ok ? ok({ id, object: name, deleted: true }) : outcome;
    },
  };
}
