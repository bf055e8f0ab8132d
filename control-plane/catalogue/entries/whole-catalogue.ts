/**
 * The catalogue as one document, for whoever keeps it in git (`gw.yaml`).
 *
 * Invariant: it is checked whole and applied whole, in one transaction: at an error nothing has changed. A section holds
 * all entries of its kind, so what it does not name is removed; a section that is left out stays as it is. What is
 * written down and applied again changes nothing.
 */
import { setImmediate as nextTurn } from 'node:timers/promises';
import { isDeepStrictEqual } from 'node:util';
import { type ApiError, fieldError } from '@gw/contract/errors';
import { err, ok } from '@gw/contract/internal/result';
import { z } from 'zod';
import type { ChangeContext } from '../../people/access/change.ts';
import type { ChangeResult } from '../../people/access/refusals.ts';
import { type AuditFact, appendAudits } from '../../people/audit/append.ts';
import type { Context } from '../../shared/context.ts';
import {
  type AnyKind,
  type CatalogueDocument,
  type CatalogueImport,
  type EntryChange,
  leftOutIfEmpty,
  referring,
  type Section,
  sectionNames,
  sections,
  sharesIdsWith,
} from './catalogue-document.ts';
import { changesOf, type Difference, inTurn, type Note } from './entry-changes.ts';
import { type Tx, warningsBeside } from './entry-kind.ts';
import { addressRefusal } from './named-address.ts';
import type { Surroundings } from './surroundings.ts';

/** Returns the catalogue without what nobody need write down: what is not known, and what is so unless said. */
export async function writtenCatalogue({ db }: Pick<Context, 'db'>): Promise<CatalogueDocument> {
  const read = await db.$transaction(
    async (tx) => {
      const lists = [];
      for (const section of sectionNames) lists.push([section, await sections[section].rows.list(tx)] as const);
      return lists;
    },
    { isolationLevel: 'RepeatableRead' },
  );
  const written: [Section, object[]][] = [];
  for (const [section, entries] of read) {
    const list: object[] = [];
    for (const [at, entry] of entries.entries()) {
      if (at % entriesAtOnce === 0) await nextTurn();
      list.push(writtenEntry(sections[section], entry));
    }
    if (list.length > 0 || !leftOutIfEmpty.includes(section)) written.push([section, list]);
  }
  return Object.fromEntries(written);
}

/** So that a catalogue of thousands holds up nobody else. */
const entriesAtOnce = 20;

function writtenEntry(kind: AnyKind, entry: object): object {
  // These do not count when it is added, and cannot be written.
  const at = new Date(0);
  const { object: _, created_at: __, ...fields }: Record<string, unknown> = { ...entry };
  const makes = (body: object): boolean => {
    if (!kind.addBody.safeParse(body).success) return false;
    const { created_at: _, ...made }: Record<string, unknown> = { ...kind.added(body, at) };
    return isDeepStrictEqual({ ...made, object: null }, { ...fields, object: null });
  };
  let body: Record<string, unknown> = fields;
  for (const field of Object.keys(fields)) {
    const { [field]: _, ...less } = body;
    if (makes(less)) body = less;
  }
  return body;
}

export interface ImportOptions {
  readonly context: Pick<Context, 'db' | 'providerGuard'>;
  readonly around: Surroundings;
  readonly change: ChangeContext;
  /** Whether it only says what it would change. */
  readonly isDryRun: boolean;
}

/** Makes the catalogue what the document says. `param` of a refusal names the entry: `deployments[2].pue`. */
export async function importCatalogue(
  document: CatalogueDocument,
  { around, change, context, isDryRun }: ImportOptions,
): Promise<ChangeResult<CatalogueImport>> {
  const work = async (tx: Tx): Promise<ChangeResult<EntryChange[]>> => {
    const facts: AuditFact[] = [];
    const changes = await apply(tx, change, document, around, async (fact) => facts.push(fact));
    if (isDryRun) throw new NotApplied(ok(changes));
    // At the end, since nobody else can write to that chain until this is over.
    if (facts.length > 0) await appendAudits(tx, change.at, null, facts);
    return ok(changes);
  };
  const unwanted = await refusedAddresses(document, context);
  const outcome =
    unwanted?.outcome ??
    (await inTurn(context.db, change, work, 60_000).catch((error: unknown) => {
      if (error instanceof NotApplied) return error.outcome;
      throw error;
    }));
  return outcome.ok ? ok({ object: 'catalogue_import', dry_run: isDryRun, changes: outcome.value }) : outcome;
}

/** Ends the transaction without any of its changes. */
class NotApplied extends Error {
  readonly outcome: ChangeResult<EntryChange[]>;
  constructor(outcome: ChangeResult<EntryChange[]>) {
    super('The catalogue stays as it is.');
    this.outcome = outcome;
  }
}

/** Judges the addresses that are new in the document: what is there was judged when it came. */
async function refusedAddresses(document: CatalogueDocument, { db, providerGuard: guard }: ImportOptions['context']) {
  const { address, idOf, name, added, rows } = sections.providers;
  const bodies = document.providers ?? [];
  if (address === undefined || bodies.length === 0) return null;
  const known = new Map((await rows.list(db)).map((entry) => [idOf(entry), address(entry)?.url]));
  const judged = bodies.map(async (body, at) => {
    const id = idOf(added(body, new Date(0)));
    if (known.get(id) === address(body)?.url) return null;
    const error = await addressRefusal(guard, { address }, body);
    return error && refused(error, `providers[${at}]`, `${name} ${id}: `);
  });
  return (await Promise.all(judged)).find((each) => each !== null) ?? null;
}

/** Throws NotApplied with the first refusal. */
async function apply(
  tx: Tx,
  change: ChangeContext,
  document: CatalogueDocument,
  around: Surroundings,
  audit: Note,
): Promise<EntryChange[]> {
  const changes: EntryChange[] = [];
  // Only aliases have such warnings, and they come when all that they name is there.
  const beside = warningsBeside(tx);
  const note = (kind: AnyKind, id: string, { before, after }: Difference, warnings: readonly string[]) =>
    changes.push({ kind: kind.name, id, ...plain({ before, after }), warnings: [...warnings] });
  const isGiven = (section: Section) => document[section] !== undefined;
  const remove = async (section: Section) => {
    const kind = sections[section];
    const named = new Set(idsOf(section, document));
    const other = sharesIdsWith[section];
    const kept = new Set(other && idsOf(other, document));
    for (const id of (await kind.rows.list(tx)).map(kind.idOf)) {
      if (named.has(id)) continue;
      const outcome = await changesOf(tx, change, kind, audit).remove(id, kept.has(id));
      if (!outcome.ok) throw refused(outcome.error, section);
      note(kind, id, outcome.value, []);
    }
  };
  const put = async (section: Section, isDue: (isThere: boolean) => boolean) => {
    const kind = sections[section];
    const before = new Map((await kind.rows.list(tx)).map((entry) => [kind.idOf(entry), entry]));
    const ids = idsOf(section, document);
    for (const [at, body] of (document[section] ?? []).entries()) {
      if (at % entriesAtOnce === 0) await nextTurn();
      const id = String(ids[at]);
      if (!isDue(before.has(id))) continue;
      const outcome = await changesOf(tx, change, unjudged(kind), audit).put(before.get(id) ?? null, body);
      if (!outcome.ok) throw refused(outcome.error, `${section}[${at}]`, `${kind.name} ${id}: `);
      if (outcome.value === null) continue;
      const entry = await kind.rows.find(tx, id);
      const moved = kind.moved?.(outcome.value) ?? [];
      const warnings = entry ? [...moved, ...kind.warnings(entry, around), ...(await beside(kind, entry))] : [];
      note(kind, id, outcome.value, warnings);
    }
  };
  // Sections that refer to others are removed first and added last.
  for (const section of referring) if (isGiven(section)) await remove(section);
  for (const section of sectionNames) await put(section, (isThere) => isThere || section !== 'aliases');
  for (const section of sectionNames) if (!referring.includes(section) && isGiven(section)) await remove(section);
  // A new alias can have the id of a model that is gone only now.
  await put('aliases', (isThere) => !isThere);
  await judgeTogether(tx, document);
  return changes;
}

/** Leaves out the checks that are made once all entries are there. */
const unjudged = (kind: AnyKind): AnyKind => (kind.isJudgedTogether ? { ...kind, refusal: async () => null } : kind);

/** Throws NotApplied with the first refusal. */
async function judgeTogether(tx: Tx, document: CatalogueDocument): Promise<void> {
  for (const section of sectionNames) {
    const kind = sections[section];
    if (!kind.isJudgedTogether) continue;
    for (const [at, id] of idsOf(section, document).entries()) {
      const entry = await kind.rows.find(tx, id);
      const error = entry && (await kind.refusal(tx, entry));
      if (error) throw refused(error, `${section}[${at}]`, `${kind.name} ${id}: `);
    }
  }
}

/** Throws NotApplied if an id is there twice. */
function idsOf(section: Section, document: CatalogueDocument): string[] {
  const kind = sections[section];
  const ids = (document[section] ?? []).map((body) => kind.idOf(kind.added(body, new Date(0))));
  const twice = ids.findIndex((id, at) => ids.indexOf(id) !== at);
  if (twice === -1) return ids;
  const { idField: field = 'id' } = kind;
  throw refused(fieldError(field, `${field}: is in the list twice.`), `${section}[${twice}]`, `${ids[twice]}: `);
}

function refused(error: ApiError, at: string, whose = ''): NotApplied {
  const param = error.param === null ? at : `${at}.${error.param}`;
  return new NotApplied(err({ ...error, param, message: `${whose}${error.message}` }));
}

const plain = (difference: Difference): Pick<EntryChange, 'before' | 'after'> =>
  z
    .object({
      before: z.record(z.string(), z.unknown()).nullable(),
      after: z.record(z.string(), z.unknown()).nullable(),
    })
    .parse(difference);
