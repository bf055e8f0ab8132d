/**
 * Adds, changes and removes entries of the catalogue.
 *
 * Invariant: each change is one transaction with its audit entry, and changes happen one after the other, so that what
 * one refers to is still there when it is committed. A change that changes nothing leaves no trace. The catalogue's
 * version rises by trigger; every part takes the new one up by itself.
 */
import { isDeepStrictEqual } from 'node:util';
import { fieldError } from '@gw/contract/errors';
import { err, ok } from '@gw/contract/internal/result';
import type { ChangeContext } from '../people/access/change.ts';
import { reauthorize } from '../people/access/reauthorize.ts';
import { type ChangeResult, invalidTransition, notFound } from '../people/access/refusals.ts';
import { appendAudit } from '../people/audit/append.ts';
import type { Context } from '../shared/context.ts';
import type { EntryKind, EntryName, Tx } from './entry-kind.ts';
import type { Surroundings } from './surroundings.ts';

export type Viewed<Entry> = Entry & {
  /** Sentences that say what will not work as one may expect. */
  readonly warnings: readonly string[];
};

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

// biome-ignore lint/complexity/noExcessiveLinesPerFunction: the four changes of an entry, each short, over one way to make them in turn.
export function openEntries<Entry extends object>(
  { db }: Pick<Context, 'db'>,
  kind: EntryKind<Entry>,
  around: Surroundings,
): Entries<Entry> {
  const { name, rows } = kind;
  const view = (entry: Entry): Viewed<Entry> => ({ ...entry, warnings: kind.warnings(entry, around) });
  const inTurn = <T>(change: ChangeContext, work: (tx: Tx) => Promise<ChangeResult<T>>): Promise<ChangeResult<T>> =>
    db.$transaction(async (tx) => {
      await tx.$executeRaw`SELECT pg_advisory_xact_lock(hashtext('catalogue'))`;
      const mayNot = await reauthorize(tx, change);
      return mayNot === null ? work(tx) : err(mayNot);
    });
  const audit = (tx: Tx, change: ChangeContext, id: string, verb: string, before: unknown, after: unknown) =>
    appendAudit(tx, change.at, {
      accountId: null,
      actor: change.actor,
      action: `${name}.${verb}`,
      target: `${name}:${id}`,
      requestId: change.requestId,
      before,
      after,
    });

  return {
    list: async () => (await rows.list(db)).map(view),
    read: async (id) => {
      const entry = await rows.find(db, id);
      return entry && view(entry);
    },
    add: (change, body) =>
      inTurn(change, async (tx) => {
        const entry = kind.added(body, change.at);
        const id = kind.idOf(entry);
        if ((await rows.find(tx, id)) !== null) {
          const field = name === 'region' ? 'code' : 'id';
          return err(fieldError(field, `${field}: the catalogue has a ${name} ${id} already.`));
        }
        const refused = await kind.refusal(tx, entry);
        if (refused !== null) return err(refused);
        await rows.insert(tx, entry);
        await audit(tx, change, id, 'added', null, entry);
        return ok(view(entry));
      }),
    change: (change, id, body) =>
      inTurn(change, async (tx) => {
        const before = await rows.find(tx, id);
        if (before === null) return err(notFound(name));
        const entry = kind.changed(before, body);
        const fields = differences(before, entry);
        if (fields.length === 0) return ok(view(before));
        const refused = kind.changeRefusal?.(before, entry, body) ?? (await kind.refusal(tx, entry));
        if (refused !== null) return err(refused);
        await rows.update(tx, entry);
        await audit(tx, change, id, 'changed', only(before, fields), only(entry, fields));
        return ok(view(entry));
      }),
    remove: (change, id) =>
      inTurn(change, async (tx) => {
        const before = await rows.find(tx, id);
        if (before === null) return err(notFound(name));
        const users = await kind.usedBy(tx, id);
        if (users !== null) return err(invalidTransition(`The ${name} is in use; ${users}.`));
        await rows.remove(tx, id);
        await audit(tx, change, id, 'removed', before, null);
        return ok({ id, object: name, deleted: true });
      }),
  };
}

function differences<Entry extends object>(before: Entry, after: Entry): string[] {
  const old = new Map<string, unknown>(Object.entries(before));
  return Object.entries(after).flatMap(([field, value]) => (isDeepStrictEqual(old.get(field), value) ? [] : field));
}

const only = (entry: object, fields: readonly string[]): object =>
  Object.fromEntries(Object.entries(entry).filter(([field]) => fields.includes(field)));
