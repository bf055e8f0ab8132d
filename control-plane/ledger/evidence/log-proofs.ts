/**
 * What a pack says of the log of the account: the newest checkpoint, the way of each receipt to its root, and the entries whose
 * receipts are gone.
 */
import type { Checkpoint } from '@gw/evidence/checkpoint';
import type { Excluded, PackContents, PackedReceipt } from '@gw/evidence/pack';
import { type Database, Prisma } from '@gw/prisma/client';
import { entryHash } from '../log/append.ts';
import { goingOn } from '../log/routes.ts';
import { inclusionPaths, LogBrokenError } from '../log/tree.ts';

type Contents = Omit<PackContents, 'log'>;
type Proven = Pick<PackContents, 'excluded' | 'log' | 'receipts'>;

interface LogEntry {
  readonly index: number;
  readonly receipt_id: string;
  readonly version: number;
  /** Hexadecimal. */
  readonly leaf: string;
}

/** Returns the receipts and the exclusions with what the log says of them. `earlierSize`: to prove that it goes on from there. */
export async function withProofs(
  db: Database,
  contents: Contents,
  { checkpoint, earlierSize }: { readonly checkpoint: Checkpoint | null; readonly earlierSize: number | null },
): Promise<Proven> {
  const { excluded, receipts } = contents;
  if (checkpoint === null) return { excluded, receipts, log: null };
  const entries = await entriesOf(db, contents, checkpoint.tree_size);
  const left = [...excluded.map(markedBy(contents, entries)), ...removedOf(contents, entries)];
  try {
    const proven = await withPaths(db, contents, { checkpoint, entries });
    const consistency = earlierSize === null ? null : await goingOn(db, checkpoint, earlierSize);
    return { receipts: proven, excluded: left, log: { checkpoint, consistency } };
  } catch (error) {
    if (!(error instanceof LogBrokenError)) throw error;
    return { receipts, excluded: left, log: { checkpoint, consistency: null, fault: error.message } };
  }
}

const nameOf = (id: string, version: number | null): string => `${id}:${version}`;

/** The entries of the log by the version that they are of; one that was settled has two. */
type Entries = ReadonlyMap<string, readonly LogEntry[]>;

async function entriesOf(
  db: Database,
  { accountId, excluded, period, receipts, selection }: Contents,
  size: number,
): Promise<Entries> {
  const ids = [...receipts.map(({ receipt }) => receipt.id), ...excluded.map(({ receipt_id }) => receipt_id)];
  const isFiltered = ['model', 'region', 'receipt_ids'].some((filter) => selection[filter] !== undefined);
  // One of the two: for both at once Postgres would read the whole log.
  const those =
    period === null || isFiltered
      ? Prisma.sql`receipt_id = ANY (${ids})`
      : Prisma.sql`created_at >= ${period.from} AND created_at < ${period.to}`;
  const found = await db.$queryRaw<LogEntry[]>`
    SELECT index::float8 AS index, receipt_id, version, encode(leaf_hash, 'hex') AS leaf FROM receipt_log
    WHERE account_id = ${accountId} AND index < ${size} AND ${those}
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

/** Says of what is not in the pack, although it was logged, where it was. Those whose lineage alone is missing are in the pack. */
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
  return gone.map(({ index, receipt_id, version }) => ({
    receipt_id,
    version,
    reason: 'The log of the account has it, and it is not stored any more.',
    log_index: index,
  }));
}

/** A version that was settled since the checkpoint has no entry for its content yet. */
function entryFor({ receipt }: PackedReceipt, entries: Entries): LogEntry | undefined {
  const own = entries.get(nameOf(receipt.id, receipt.version));
  const leaf = own && entryHash(JSON.stringify(receipt));
  return own?.find((entry) => entry.leaf === leaf);
}

async function withPaths(
  db: Database,
  { accountId, receipts }: Contents,
  { checkpoint, entries }: { readonly checkpoint: Checkpoint; readonly entries: Entries },
): Promise<PackedReceipt[]> {
  const indexes = receipts.map((each) => entryFor(each, entries)?.index ?? null);
  const known = indexes.filter((index) => index !== null);
  const paths = await inclusionPaths(db, accountId, known, checkpoint.tree_size);
  const byIndex = new Map(known.map((index, at) => [index, paths[at] ?? []]));
  return receipts.map((each, at) => {
    const index = indexes[at] ?? null;
    return index === null ? each : { ...each, log: { index, path: byIndex.get(index) ?? [] } };
  });
}
