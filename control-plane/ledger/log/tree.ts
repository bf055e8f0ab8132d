/**
 * The Merkle log of an account as it is stored: its leaves are rows of `receipt_log`, and of the nodes above each fourth level
 * is kept.
 *
 * Invariant: rows are added alone, by whoever holds the lock of the account's log until the end of the transaction. Each entry is sealed, for
 * its place: what somebody else has added is none (tail.ts). An entry is of a receipt, or of an archived month (archived-leaf.ts).
 */
import { defined, elementAt } from '@gw/contract/internal/defined';
import { type Checkpoint, checkpointIn } from '@gw/evidence/checkpoint';
import {
  childrenOf,
  completedNodes,
  consistencySpans,
  inclusionSpans,
  joined,
  nodesOf,
  type Span,
  spanHash,
  type TreeNode,
} from '@gw/evidence/merkle';
import { noteLinesIn } from '@gw/evidence/note';
import { Prisma, type Queryable } from '@gw/prisma/client';
import type { Seals, TextSeal } from '../receipts/sealed-rows.ts';

export interface Leaf {
  readonly receiptId: string;
  readonly version: number;
  readonly createdAt: Date;
  /** Hexadecimal. */
  readonly hash: string;
  readonly contentSha256: string;
  /** The content of the entry of an archived month; absent or null: it is of a receipt. */
  readonly archived?: string | null;
}

export interface SealedLeaf extends Leaf, TextSeal {}

/** Returns the text that the seal of an entry is over. */
export const entrySeal = (
  accountId: string,
  index: number,
  { contentSha256, createdAt, hash, receiptId, version }: Leaf,
): string => JSON.stringify([accountId, index, receiptId, version, createdAt, hash, contentSha256]);

/** The newest checkpoint of a log as it is stored. */
export interface StoredCheckpoint {
  readonly checkpoint: unknown;
  /** The lines of its witnesses; null: it has none. */
  readonly lines: string | null;
}

/** Selects a StoredCheckpoint, or no row. */
export const selectNewest = (accountId: string): Prisma.Sql => Prisma.sql`
  SELECT checkpoint, (
    SELECT string_agg(line, '' ORDER BY witness) FROM receipt_log_cosignatures s
    WHERE s.account_id = c.account_id AND s.tree_size = c.tree_size) AS lines
  FROM receipt_log_checkpoints c WHERE account_id = ${accountId} ORDER BY tree_size DESC LIMIT 1`;

/** Returns a stored checkpoint with its cosignatures; null if it cannot be read. */
export function cosignedCheckpoint({ checkpoint: stored, lines }: StoredCheckpoint): Checkpoint | null {
  const checkpoint = checkpointIn(stored);
  // Without lines that are none, because they would spoil the others.
  if (checkpoint === null || lines === null || noteLinesIn(lines) === null) return checkpoint;
  return { ...checkpoint, note: checkpoint.note + lines };
}

/** Returns the newest checkpoint with its cosignatures; null if there is none, or if it cannot be read (see `hasCheckpoints`). */
export async function newestCheckpoint(db: Queryable, accountId: string): Promise<Checkpoint | null> {
  const [found] = await db.$queryRaw<StoredCheckpoint[]>`${selectNewest(accountId)}`;
  return found === undefined ? null : cosignedCheckpoint(found);
}

export async function hasCheckpoints(db: Queryable, accountId: string): Promise<boolean> {
  const found = await db.$queryRaw<unknown[]>`
    SELECT 1 FROM receipt_log_checkpoints WHERE account_id = ${accountId} LIMIT 1`;
  return found.length > 0;
}

export const lockLog = (tx: Queryable, accountId: string): Promise<unknown> =>
  tx.$executeRaw`SELECT pg_advisory_xact_lock(hashtextextended('receipt_log:' || ${accountId}, 0))`;

export async function logSize(db: Queryable, accountId: string): Promise<number> {
  const found = await db.$queryRaw<{ size: number }[]>`
    SELECT (coalesce(max(index), -1) + 1)::float8 AS size FROM receipt_log WHERE account_id = ${accountId}`;
  return elementAt(found, 0).size;
}

/** `tx` has to hold the lock. Returns the new size. */
export async function appendLeaves(
  tx: Queryable,
  seals: Seals,
  accountId: string,
  leaves: readonly Leaf[],
): Promise<number> {
  const before = await logSize(tx, accountId);
  const size = before + leaves.length;
  const rows = leaves.map((leaf, at) => {
    const { archived = null, contentSha256, createdAt, hash, receiptId, version } = leaf;
    const index = before + at;
    const { id, seal } = seals.sealText('gw.log_entry', entrySeal(accountId, index, leaf));
    const created_at = createdAt.toISOString();
    const content_sha256 = contentSha256;
    const own = { index, receipt_id: receiptId, version, created_at, leaf_hash: hash, content_sha256, archived };
    return { ...own, seal, seal_key: id };
  });
  await tx.$executeRaw`
    INSERT INTO receipt_log (account_id, index, receipt_id, version, created_at, leaf_hash, content_sha256, archived, seal, seal_key)
    SELECT ${accountId}, index, receipt_id, version, created_at, decode(leaf_hash, 'hex'), content_sha256, archived, decode(seal, 'hex'),
      seal_key
    FROM json_to_recordset(${JSON.stringify(rows)}::json) AS r (index bigint, receipt_id text, version int,
      created_at timestamptz, leaf_hash text, content_sha256 text, archived text, seal text, seal_key smallint)`;
  await storeNodes(
    tx,
    accountId,
    completedNodes(before, size),
    new Map(leaves.map(({ hash }, at) => [before + at, hash])),
  );
  return size;
}

/** Level by level, each from the one below. `newLeaves`: their hashes by index. */
async function storeNodes(
  tx: Queryable,
  accountId: string,
  levels: readonly (readonly TreeNode[])[],
  newLeaves: ReadonlyMap<number, string>,
): Promise<void> {
  let known = new Map([...newLeaves].map(([index, hash]) => [nodeName({ level: 0, index }), hash]));
  const made: (TreeNode & { readonly hash: string })[] = [];
  for (const places of levels) {
    const missing = places.flatMap(childrenOf).filter((place) => !known.has(nodeName(place)));
    for (const [key, hash] of await readNodes(tx, accountId, missing)) known.set(key, hash);
    const nodes = places.map((place) => ({
      ...place,
      hash: joined(childrenOf(place).map((child) => hashIn(known, child))),
    }));
    made.push(...nodes);
    known = new Map(nodes.map((node) => [nodeName(node), node.hash]));
  }
  if (made.length === 0) return;
  await tx.$executeRaw`
    INSERT INTO receipt_log_nodes (account_id, level, index, hash)
    SELECT ${accountId}, level, index, decode(hash, 'hex')
    FROM json_to_recordset(${JSON.stringify(made)}::json) AS n (level smallint, index bigint, hash text)`;
}

/** The name that `readNodes` gives a node. */
export const nodeName = ({ index, level }: TreeNode): string => `${level}:${index}`;

function hashIn(nodes: ReadonlyMap<string, string>, place: TreeNode): string {
  const hash = nodes.get(nodeName(place));
  if (hash === undefined) throw new LogBrokenError(`The log of receipts has no node ${nodeName(place)}.`);
  return hash;
}

/** Rows of the log are gone. */
export class LogBrokenError extends Error {}

/** Returns the stored nodes among these places; the entries are level 0. */
export async function readNodes(
  db: Queryable,
  accountId: string,
  places: readonly TreeNode[],
): Promise<Map<string, string>> {
  if (places.length === 0) return new Map();
  const of = (isLeaf: boolean) => places.filter(({ level }) => (level === 0) === isLeaf);
  const found = await db.$queryRaw<{ level: number; index: number; hash: string }[]>`
    SELECT 0 AS level, index::float8 AS index, encode(leaf_hash, 'hex') AS hash FROM receipt_log
    WHERE account_id = ${accountId} AND index = ANY (${of(true).map(({ index }) => index)}::bigint[])
    UNION ALL
    SELECT n.level::int, n.index::float8, encode(n.hash, 'hex') FROM receipt_log_nodes n
    WHERE n.account_id = ${accountId} AND (n.level, n.index) IN (
      SELECT * FROM unnest(${of(false).map(({ level }) => level)}::int[], ${of(false).map(({ index }) => index)}::bigint[]))`;
  return new Map(found.map(({ hash, index, level }) => [nodeName({ level, index }), hash]));
}

/** The hashes of spans of the log, in their order. Throws LogBrokenError if a row that they follow from is gone. */
async function spanHashes(db: Queryable, accountId: string, spans: readonly Span[]): Promise<string[]> {
  const nodes = await readNodes(db, accountId, spans.flatMap(nodesOf));
  return spans.map((span) => spanHash(span, (place) => hashIn(nodes, place)));
}

export async function rootOf(db: Queryable, accountId: string, size: number): Promise<string> {
  const [root = ''] = await spanHashes(db, accountId, [{ begin: 0, end: size }]);
  return root;
}

/** Proves that each entry is in the log of the first `size` entries. */
export async function inclusionPaths(
  db: Queryable,
  accountId: string,
  indexes: readonly number[],
  size: number,
): Promise<string[][]> {
  const spans = indexes.map((index) => inclusionSpans(index, size));
  // Neighbours have most of their way to the root in common.
  const distinct = new Map(spans.flat().map((span) => [nameOf(span), span]));
  const hashes = await spanHashes(db, accountId, [...distinct.values()]);
  const byName = new Map([...distinct.keys()].map((name, at) => [name, elementAt(hashes, at)]));
  return spans.map((path) => path.map((span) => defined(byName.get(nameOf(span)), 'The hash of a span')));
}

const nameOf = ({ begin, end }: Span): string => `${begin}:${end}`;

/** Proves that the log of the first `size` entries continues that of the first `from`. */
export const consistencyPath = (db: Queryable, accountId: string, from: number, size: number): Promise<string[]> =>
  from === 0 ? Promise.resolve([]) : spanHashes(db, accountId, consistencySpans(from, size));
