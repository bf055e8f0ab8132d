/**
 * One entry added, changed or removed, or made what somebody wrote down.
 *
 * Invariant: what refuses a change and what it leaves in the audit log is the same however it was asked for. A change that
 * changes nothing leaves no trace.
 */
import { isDeepStrictEqual } from 'node:util';
import { type ApiError, fieldError } from '@gw/contract/errors';
import { err, ok } from '@gw/contract/internal/result';
import { takeCatalogueTurn } from '@gw/prisma/catalogue-turn';
import type { Database } from '@gw/prisma/client';
import type { ChangeContext } from '../../people/access/change.ts';
import { reauthorize } from '../../people/access/reauthorize.ts';
import { type ChangeResult, invalidTransition, notFound } from '../../people/access/refusals.ts';
import type { AuditFact } from '../../people/audit/append.ts';
import { type EntryKind, type Tx, withArticle } from './entry-kind.ts';

/** The fields that a change altered; null if there was no entry before, or is none after. */
export interface Difference {
  readonly before: object | null;
  readonly after: object | null;
}

export interface EntryChanges<Entry> {
  /** `body` has to be what the kind's `addBody` has accepted. */
  add(body: unknown): Promise<ChangeResult<Entry>>;
  /** `body` has to be what the kind's `changeBody` has accepted. */
  change(id: string, body: unknown): Promise<ChangeResult<Entry>>;
  /** Makes the entry what `body` says, whole; `body` as for `add`. Returns null if it was that already. */
  put(before: Entry | null, body: unknown): Promise<ChangeResult<Difference | null>>;
  /**
   * Refuses with `invalid_transition` while anything refers to the entry. `isIdKept` says that an entry of another kind gets its id
   * in the same transaction.
   */
  remove(id: string, isIdKept?: boolean): Promise<ChangeResult<Difference>>;
}

/** Runs changes of the catalogue one after the other, each in one transaction, if the right to them still holds. */
export const inTurn = <T>(
  db: Database,
  change: ChangeContext,
  work: (tx: Tx) => Promise<ChangeResult<T>>,
  timeoutMs = 5000,
): Promise<ChangeResult<T>> =>
  db.$transaction(
    async (tx) => {
      await takeCatalogueTurn(tx, { at: change.at, by: nameOf(change) });
      const mayNot = await reauthorize(tx, change);
      return mayNot === null ? work(tx) : err(mayNot);
    },
    { timeout: timeoutMs },
  );

/** As the audit log names people to customers, without the login, which stands in the entry of the same time there. */
const nameOf = ({ principal: { id, kind, name } }: ChangeContext): string => `${kind} ${name} (${id})`;

/** Takes what the audit log is to say; whoever makes changes writes it in the same transaction. */
export type Note = (fact: AuditFact) => Promise<unknown>;

/** The changes of one kind within a transaction, in the name of whoever asks for `change`. */
export function changesOf<Entry extends object>(
  tx: Tx,
  change: ChangeContext,
  kind: EntryKind<Entry>,
  note: Note,
): EntryChanges<Entry> {
  const { name, rows } = kind;
  const { actor, requestId } = change;
  const audit = (id: string, verb: string, difference: Difference) =>
    note({ accountId: null, actor, action: `${name}.${verb}`, target: `${name}:${id}`, requestId, ...difference });

  async function insert(entry: Entry): Promise<ApiError | null> {
    const refused = await kind.refusal(tx, entry);
    if (refused !== null) return refused;
    await rows.insert(tx, entry);
    await audit(kind.idOf(entry), 'added', { before: null, after: entry });
    return null;
  }

  /** `body` is what was asked for: what it names, it means. */
  async function update(before: Entry, after: Entry, body: unknown): Promise<ChangeResult<Difference | null>> {
    const fields = differences(before, after);
    if (fields.length === 0) return ok(null);
    const refused = kind.changeRefusal?.(before, after, body) ?? (await kind.refusal(tx, after));
    if (refused !== null) return err(refused);
    await rows.update(tx, after);
    const difference = { before: only(before, fields), after: only(after, fields) };
    await audit(kind.idOf(after), 'changed', difference);
    return ok(difference);
  }

  return {
    add: async (body) => {
      const entry = kind.added(body, change.at);
      const id = kind.idOf(entry);
      if ((await rows.find(tx, id)) !== null) {
        const { idField: field = 'id' } = kind;
        return err(fieldError(field, `${field}: the catalogue has ${withArticle(name)} ${id} already.`));
      }
      const refused = await insert(entry);
      return refused === null ? ok(entry) : err(refused);
    },
    change: async (id, body) => {
      const before = await rows.find(tx, id);
      if (before === null) return err(notFound(name));
      const after = kind.changed(before, body);
      const outcome = await update(before, after, body);
      return outcome.ok ? ok(after) : outcome;
    },
    put: async (before, body) => {
      const entry = kind.added(body, change.at);
      if (before !== null) return update(before, { ...entry, ...kind.kept(before, body) }, body);
      const refused = await insert(entry);
      return refused === null ? ok({ before: null, after: entry }) : err(refused);
    },
    remove: async (id, isIdKept = false) => {
      const before = await rows.find(tx, id);
      if (before === null) return err(notFound(name));
      const users = await kind.usedBy(tx, id, isIdKept);
      if (users !== null) return err(invalidTransition(`The ${name} is in use; ${users}.`));
      await rows.remove(tx, id);
      const difference = { before, after: null };
      await audit(id, 'removed', difference);
      return ok(difference);
    },
  };
}

function differences(before: object, after: object): string[] {
  const old = new Map<string, unknown>(Object.entries(before));
  return Object.entries(after).flatMap(([field, value]) => (isDeepStrictEqual(old.get(field), value) ? [] : field));
}

const only = (entry: object, fields: readonly string[]): object =>
  Object.fromEntries(Object.entries(entry).filter(([field]) => fields.includes(field)));
