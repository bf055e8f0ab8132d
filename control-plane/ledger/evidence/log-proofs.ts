/**
 * Adds to a pack what the log of the account proves: the newest checkpoint, the hours of the period, the path of each receipt to its root, also of a receipt as it was
 * before it was settled, and the entries whose receipts are gone.
 *
 * Invariant: every entry that the log has of a receipt in the pack is in the pack, whatever it says.
 */
import type { Checkpoint } from '@gw/evidence/checkpoint';
import type { ArchivedInLog, Excluded, PackAbout, PackContents, PackedReceipt, PackLog } from '@gw/evidence/pack';
import { type Database, Prisma } from '@gw/prisma/client';
import { entryHash } from '../log/append.ts';
import { archivedOf, isArchived, isReceipt } from '../log/archived-leaf.ts';
import { goingOn } from '../log/routes.ts';
import { hasCheckpoints, inclusionPaths, LogBrokenError } from '../log/tree.ts';
import { replacedBodies } from '../receipts/read-rows.ts';
import { readHours, shownHours } from './log-hours.ts';
import { notGenuine } from './select.ts';

type Contents = Omit<PackContents, 'log'>;
type Proven = Pick<PackContents, 'excluded' | 'log' | 'receipts'>;

interface LogEntry {
  readonly index: number;
  readonly receipt_id: string;
  readonly version: number;
  /** Hexadecimal. */
  readonly leaf: string;
  readonly content: string;
}

/** Adds the proofs to the receipts and the exclusions. */
export async function withProofs(
  db: Database,
  contents: Contents,
  { archived, log }: { readonly archived: readonly string[]; readonly log: PackLog | null },
): Promise<Proven> {
  const { excluded, receipts } = contents;
  const checkpoint = log?.checkpoint;
  if (!checkpoint) return { excluded, receipts, log };
  const entries = await entriesOf(db, contents, checkpoint.tree_size);
  const removed = [
    ...removedOf(contents, entries),
    ...(await missedByFilter(db, contents, { archived, size: checkpoint.tree_size })),
  ];
  const left = [...excluded.map(markedBy(contents, entries)), ...removed];
  try {
    return { receipts: await withPaths(db, contents, { checkpoint, entries }), excluded: left, log };
  } catch (error) {
    if (!(error instanceof LogBrokenError)) throw error;
    return { receipts, excluded: left, log: { checkpoint, consistency: null, fault: error.message } };
  }
}

/**
 * Resolves with the state of the log as a whole; null: the account has no log yet. It is to be read before the receipts, so that whatever it counts was stored
 * by then. `earlierSize`: prove too that the log continues the one of that size.
 */
export async function logOf(
  db: Database,
  { accountId, period, selection }: Pick<PackAbout, 'accountId' | 'period' | 'selection'>,
  earlierSize: number | null,
): Promise<PackLog | null> {
  const all = isOfSome(selection) ? null : period;
  const { checkpoint, ...register } = await readHours(db, accountId, all);
  if (checkpoint === null) {
    if (!(await hasCheckpoints(db, accountId))) return null;
    return { checkpoint, consistency: null, fault: 'The newest checkpoint cannot be read.' };
  }
  try {
    const consistency = earlierSize === null ? null : await goingOn(db, checkpoint, earlierSize);
    const hours = all === null ? undefined : await shownHours(db, all, { checkpoint, ...register });
    const archived = await archivedIn(db, accountId, checkpoint.tree_size);
    return { checkpoint, consistency, ...(hours && { hours }), ...(archived.length > 0 && { archived }) };
  } catch (error) {
    if (!(error instanceof LogBrokenError)) throw error;
    return { checkpoint, consistency: null, fault: error.message };
  }
}

/** Whether receipts were chosen by more than their times. */
const isOfSome = (selection: Contents['selection']): boolean =>
  ['model', 'region', 'receipt_ids'].some((filter) => selection[filter] !== undefined);

/** The entries of archived months, whatever the pack was asked for: they are few. */
async function archivedIn(db: Database, accountId: string, size: number): Promise<ArchivedInLog[]> {
  const found = await db.$queryRaw<{ index: number; receipt_id: string; leaf: string; archived: string }[]>`
    SELECT index::float8 AS index, receipt_id, encode(leaf_hash, 'hex') AS leaf, archived FROM receipt_log
    WHERE account_id = ${accountId} AND archived IS NOT NULL AND index < ${size} ORDER BY receipt_log.index`;
  const indexes = found.map(({ index }) => index);
  const paths = found.length === 0 ? [] : await inclusionPaths(db, accountId, indexes, size);
  return found.map((entry, at) => {
    const { index } = entry;
    const month = archivedOf(accountId, entry);
    if (month === null)
      throw new LogBrokenError(`The entry ${index} of the log of receipts does not say what it said.`);
    return { index, path: paths[at] ?? [], month };
  });
}

const nameOf = (id: string, version: number | null): string => `${id}:${version}`;

/** The entries of the log by the version that they belong to. A version that was settled has two. */
type Entries = ReadonlyMap<string, readonly LogEntry[]>;

async function entriesOf(
  db: Database,
  { accountId, excluded, period, receipts, selection }: Contents,
  size: number,
): Promise<Entries> {
  const ids = [...receipts.map(({ receipt }) => receipt.id), ...excluded.map(({ receipt_id }) => receipt_id)];
  // Only one of the two conditions is used, because for both Postgres would read the whole log.
  const those =
    period === null || isOfSome(selection)
      ? Prisma.sql`receipt_id = ANY (${ids})`
      : Prisma.sql`created_at >= ${period.from} AND created_at < ${period.to}`;
  const found = await db.$queryRaw<LogEntry[]>`
    SELECT index::float8 AS index, receipt_id, version, encode(leaf_hash, 'hex') AS leaf, content_sha256 AS content FROM receipt_log
    WHERE account_id = ${accountId} AND index < ${size} AND ${isReceipt} AND ${those}
    ORDER BY index`;
  const entries = new Map<string, LogEntry[]>();
  for (const entry of found) {
    const name = nameOf(entry.receipt_id, entry.version);
    const own = entries.get(name);
    if (own === undefined) entries.set(name, [entry]);
    else own.push(entry);
  }
  return entries;
}

const namesOf = ({ receipts }: Pick<Contents, 'receipts'>): ReadonlySet<string> =>
  new Set(receipts.map(({ receipt }) => nameOf(receipt.id, receipt.version)));

/** Adds the index in the log to an exclusion that was logged. A receipt that lacks only its lineage is in the pack. */
function markedBy(contents: Contents, entries: Entries): (each: Excluded) => Excluded {
  const present = namesOf(contents);
  return (each) => {
    const name = nameOf(each.receipt_id, each.version);
    const entry = entries.get(name)?.at(-1);
    return entry === undefined || present.has(name) ? each : { ...each, log_index: entry.index };
  };
}

function removedOf(contents: Contents, entries: Entries): Excluded[] {
  const left = contents.excluded.map(({ receipt_id, version }) => nameOf(receipt_id, version));
  const known = new Set([...namesOf(contents), ...left]);
  const gone = [...entries].filter(([name]) => !known.has(name)).flatMap(([, [entry]]) => entry ?? []);
  return gone.map(notStored);
}

const notStored = ({ index, receipt_id, version }: Omit<LogEntry, 'content' | 'leaf'>): Excluded => ({
  receipt_id,
  version,
  code: 'not_stored',
  reason: 'The log of the account has it, and it is not stored any more.',
  log_index: index,
});

const isFiltered = ({ selection }: Pick<Contents, 'selection'>): boolean =>
  ['model', 'region'].some((filter) => selection[filter] !== undefined);

/** A thousand are enough, because the pack fails by the first. */
const mostMissed = 1000;

/**
 * Finds the receipts that a filter by content would leave out silently: those of the period that are gone, and those that the checks of the
 * ledger found altered, whose content may be anything.
 */
async function missedByFilter(
  db: Database,
  contents: Contents,
  { archived, size }: { readonly archived: readonly string[]; readonly size: number },
): Promise<Excluded[]> {
  const { accountId, excluded, period } = contents;
  if (period === null || !isFiltered(contents)) return [];
  const gone = await db.$queryRaw<Omit<LogEntry, 'content' | 'leaf'>[]>`
    SELECT min(l.index)::float8 AS index, l.receipt_id, l.version FROM receipt_log l
    WHERE l.account_id = ${accountId} AND l.index < ${size} AND l.created_at >= ${period.from} AND l.created_at < ${period.to}
      AND NOT EXISTS (
        SELECT 1 FROM receipts r
        WHERE r.id = l.receipt_id AND r.created_at = l.created_at AND r.version = l.version)
      AND l.${isReceipt} AND NOT ${isArchived(archived)}
    GROUP BY l.receipt_id, l.version ORDER BY index LIMIT ${mostMissed}`;
  const altered = await db.$queryRaw<{ receipt_id: string; version: number }[]>`
    SELECT r.id AS receipt_id, r.version FROM integrity_faults f
    JOIN receipts r ON r.id = f.name AND r.version = f.number
    WHERE f.kind = 'receipt' AND f.mended_at IS NULL AND r.account_id = ${accountId}
      AND r.created_at >= ${period.from} AND r.created_at < ${period.to}
    ORDER BY r.id, r.version LIMIT ${mostMissed}`;
  const known = new Set([
    ...namesOf(contents),
    ...excluded.map(({ receipt_id, version }) => nameOf(receipt_id, version)),
  ]);
  return [...gone.map(notStored), ...altered.map(({ receipt_id, version }) => notGenuine(receipt_id, version))].filter(
    ({ receipt_id, version }) => !known.has(nameOf(receipt_id, version)),
  );
}

/** The entries of a version: that of its present content, if the log has it yet, and those of other contents. */
interface OwnEntries {
  readonly present: LogEntry | null;
  readonly others: readonly LogEntry[];
}

function ownEntries({ receipt }: PackedReceipt, entries: Entries): OwnEntries {
  const own = entries.get(nameOf(receipt.id, receipt.version)) ?? [];
  const leaf = own.length === 0 ? null : entryHash(JSON.stringify(receipt));
  // Facts that came late made another entry of the same receipt.
  return { present: own.find((each) => each.leaf === leaf) ?? null, others: own.filter((each) => each.leaf !== leaf) };
}

async function withPaths(
  db: Database,
  { accountId, receipts }: Contents,
  { checkpoint, entries }: { readonly checkpoint: Checkpoint; readonly entries: Entries },
): Promise<PackedReceipt[]> {
  const own = receipts.map((each) => ownEntries(each, entries));
  const known = own.flatMap(({ others, present }) => [...(present === null ? [] : [present]), ...others]);
  const indexes = known.map(({ index }) => index);
  const paths = await inclusionPaths(db, accountId, indexes, checkpoint.tree_size);
  const byIndex = new Map(indexes.map((index, at) => [index, paths[at] ?? []]));
  const pathOf = (index: number): readonly string[] => byIndex.get(index) ?? [];
  const bodies = await replacedBodies(
    db,
    own.flatMap(({ others }) => others.map(({ receipt_id }) => receipt_id)),
  );
  return receipts.map((each, at) => {
    const { others = [], present = null } = own[at] ?? {};
    if (present === null && others.length === 0) return each;
    const replaced = others.map(({ content, index, leaf, receipt_id }) => ({
      index,
      path: pathOf(index),
      leaf_hash: leaf,
      receipt: JSON.parse(bodies.get(`${receipt_id}:${content}`) || 'null'),
    }));
    const place = { index: present?.index ?? null, path: present === null ? null : pathOf(present.index) };
    return { ...each, log: replaced.length === 0 ? place : { ...place, replaced } };
  });
}
