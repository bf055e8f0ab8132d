/**
 * Batches: what one statement added to the ledger, or settled in it, as a Merkle tree (RFC 6962) in a chain.
 *
 * Invariant: the database makes each batch when it stores the rows, and puts it into the chain when it commits (the migration has both
 * forms). It cannot seal one: that is done here, for rows of which this process knows what they had to be, or which it finds genuine. From then on
 * no row of the batch can be taken out, put in, moved or exchanged without contradicting the seal of its head, and no batch
 * without contradicting those behind it. The newest heads are in Redis too, each until a later one is signed, so that the end of the chain cannot be cut off.
 *
 * Several control planes add batches at once. Each waits for another only while that commits, in a trigger at the end of the transaction.
 */
import { hash } from 'node:crypto';
import { textDigest } from '@gw/contract/internal/ledger-entry';
import { type Database, Prisma, type Queryable } from '@gw/prisma/client';
import type { Redis } from 'ioredis';
import { readRows, storedColumns } from './read-rows.ts';
import type { Seals } from './sealed-rows.ts';

/** A row of a batch. */
export interface BatchEntry {
  readonly id: string;
  readonly version: number;
  readonly content_sha256: string;
  /** The digest of the row that it replaced; absent where it was added. */
  readonly replaces?: string;
}

/** Hashes are in hexadecimal. */
export interface ChainedBatch {
  readonly number: number;
  readonly kind: 'added' | 'settled';
  /** When it was put into the chain, ms since 1970. */
  readonly at_ms: number;
  readonly count: number;
  readonly total: number;
  readonly root: string;
  readonly previous: string;
  readonly head: string;
  readonly seal: string | null;
  readonly seal_key: number | null;
}

export interface Batch extends ChainedBatch {
  readonly arrived: bigint;
}

export const batchColumns = `number::float8 AS number, kind, (extract(epoch FROM at) * 1000)::float8 AS at_ms, count, total::float8 AS total, encode(root_hash, 'hex') AS root,
  encode(previous, 'hex') AS previous, encode(head, 'hex') AS head, seal, seal_key`;

export const entryText = ({ content_sha256, id, replaces, version }: BatchEntry): string =>
  `${id} ${version} ${content_sha256}${replaces === undefined ? '' : ` ${replaces}`}`;

const leafOf = (text: string): Buffer => hash('sha256', `\0${text}`, 'buffer');

const pair = Buffer.alloc(65, 1);

function pairHash(left: Buffer, right: Buffer): Buffer {
  left.copy(pair, 1);
  right.copy(pair, 33);
  return hash('sha256', pair, 'buffer');
}

/** The levels of the tree over entries, from the leaves up; a last hash without a partner rises. */
export function levelsOf(texts: readonly string[]): Buffer[][] {
  let level = texts.map(leafOf);
  const levels = [level];
  while (level.length > 1) {
    const above: Buffer[] = [];
    for (let at = 0; at < level.length; at += 2) {
      const [left, right] = [level[at], level[at + 1]];
      if (left !== undefined) above.push(right === undefined ? left : pairHash(left, right));
    }
    level = above;
    levels.push(level);
  }
  return levels;
}

/** The root over the entries, which are in their order. */
export const rootOf = (texts: readonly string[]): string => rootAbove(levelsOf(texts));

export const rootAbove = (levels: readonly (readonly Buffer[])[]): string =>
  levels.at(-1)?.[0]?.toString('hex') ?? emptyRoot;

/** The path of a leaf to the root, from the leaf up. */
export const pathIn = (levels: readonly (readonly Buffer[])[], index: number): string[] =>
  levels.flatMap((level, height) => level[Math.floor(index / 2 ** height) ^ 1]?.toString('hex') ?? []);

/** No batch is empty. */
const emptyRoot = textDigest('');

/** Ids are ASCII, so this is the order of their bytes. */
export const inOrder = (entries: readonly BatchEntry[]): readonly BatchEntry[] =>
  [...entries].sort((a, b) => (a.id === b.id ? a.version - b.version : a.id < b.id ? -1 : 1));

export const firstPrevious = '0'.repeat(64);

type Headed = Pick<ChainedBatch, 'at_ms' | 'count' | 'kind' | 'number' | 'previous' | 'root' | 'total'>;

export const headOf = ({ at_ms, count, kind, number, previous, root, total }: Headed): string =>
  textDigest(['gw.batch', number, kind, at_ms, count, total, root, previous].join('\n'));

/**
 * Seals a batch if it has just these rows; otherwise it stays as it is, and the check names it. Returns its head as `pinHeads` takes it; null: it was
 * not sealed.
 */
export async function sealBatch(
  db: Queryable,
  seals: Seals,
  batch: ChainedBatch,
  entries: readonly BatchEntry[],
): Promise<string | null> {
  const isWhole = batch.count === entries.length && rootOf(inOrder(entries).map(entryText)) === batch.root;
  if (!isWhole || headOf(batch) !== batch.head) return null;
  const { seal, seal_key } = seals.sealHead(batch.head);
  // It does not wait for the disk: a crash that takes the seal away leaves the rows, and the batch is sealed once more.
  await db.$executeRaw`
    UPDATE receipt_batches SET seal = ${seal}, seal_key = ${seal_key}
    FROM (SELECT set_config('synchronous_commit', 'off', TRUE) AS waits) AS disk
    WHERE disk.waits = 'off' AND number = ${batch.number} AND seal IS NULL`;
  return [batch.number, batch.head, seal, seal_key].join(' ');
}

/** In Redis: the last signed head, and those that are not signed yet, as `<number> <head> <seal> <number of the key>`. */
const headsKey = '{gw:ledger}:heads';

/** Fails open: without it the end of the chain can be cut off unseen until it is signed, within a minute. */
export async function pinHeads(redis: Pick<Redis, 'sadd'>, heads: readonly string[]): Promise<void> {
  if (heads.length > 0) await redis.sadd(headsKey, ...heads).catch(() => {});
}

export interface PinnedHead {
  readonly text: string;
  readonly number: number;
  readonly head: string;
}

/** Only heads that were sealed here: somebody with Redis alone can write none. */
export async function pinnedHeads(redis: Redis, seals: Seals): Promise<PinnedHead[]> {
  return (await redis.smembers(headsKey)).flatMap((text) => {
    const [number = '', head = '', seal = '', key = ''] = text.split(' ');
    return seals.isSealedHead(head, seal, Number(key)) ? { text, number: Number(number), head } : [];
  });
}

export async function unpinHeads(redis: Redis, heads: readonly PinnedHead[]): Promise<void> {
  if (heads.length > 0) await redis.srem(headsKey, ...heads.map(({ text }) => text));
}

/**
 * The entries of batches as the ledger has them now, by their `arrived` and kind, in their order, each a line. A row that was settled since is
 * counted as it was. `from`: exclusive. `most`: somebody can have put any number of rows there, and further ones are left out.
 */
export async function storedEntries(
  db: Queryable,
  { from, most, to }: { readonly from: bigint; readonly to: bigint; readonly most: number },
): Promise<ReadonlyMap<string, readonly string[]>> {
  const found = await db.$queryRaw<{ arrived: bigint; kind: string; lines: string }[]>`
    SELECT arrived, kind, string_agg(line, E'\n' ORDER BY id COLLATE "C", version) AS lines FROM (
      SELECT r.arrived, 'added' AS kind, r.id, r.version, concat_ws(' ', r.id, r.version, r.content_sha256) AS line
      FROM receipts r WHERE r.arrived > ${from} AND r.arrived <= ${to}
        AND NOT (r.version = 1 AND EXISTS (SELECT 1 FROM receipt_replacements p WHERE p.receipt_id = r.id AND p.version = 1))
      UNION ALL
      SELECT p.came, 'added', p.receipt_id, p.version, concat_ws(' ', p.receipt_id, p.version, p.replaced ->> 'content_sha256')
      FROM receipt_replacements p WHERE p.came > ${from} AND p.came <= ${to}
        AND NOT EXISTS (
          SELECT 1 FROM receipt_replacements f WHERE f.receipt_id = p.receipt_id AND f.version = p.version AND f.seq < p.seq)
      UNION ALL
      SELECT p.arrived, 'settled', p.receipt_id, p.version,
        concat_ws(' ', p.receipt_id, p.version, p.content_sha256, p.replaced ->> 'content_sha256')
      FROM receipt_replacements p WHERE p.arrived > ${from} AND p.arrived <= ${to}
      LIMIT ${most}) AS entries GROUP BY arrived, kind`;
  return new Map(found.map(({ arrived, kind, lines }) => [`${arrived} ${kind}`, lines.split('\n')]));
}

/**
 * Seals the batches behind `after` that whoever made them left without a seal: jobs, which make few, and whoever died. Their rows have to be genuine
 * and all there. `ageMs`: those that are younger are left to whoever made them. Others stay as they are, and the check names them.
 */
export async function sealBatches(
  db: Database,
  seals: Seals,
  { after, ageMs }: { readonly after: number; readonly ageMs: number },
): Promise<string[]> {
  const open = await db.$queryRaw<Batch[]>`
    SELECT arrived, ${Prisma.raw(batchColumns)} FROM receipt_batches 
    WHERE seal IS NULL AND number > ${after} AND at <= clock_timestamp() - ${ageMs}::int * INTERVAL '1 millisecond'
    ORDER BY number LIMIT 100`;
  const heads: string[] = [];
  for (const batch of open) {
    const { arrived, kind } = batch;
    const entries = (
      (await storedEntries(db, { from: arrived - 1n, to: arrived, most: batch.count + 1 })).get(`${arrived} ${kind}`) ??
      []
    ).map(entryIn);
    const rows = await readRows(
      db,
      Prisma.sql`SELECT ${storedColumns} FROM receipts r WHERE r.id = ANY (${entries.map(({ id }) => id)})`,
    );
    if ((await seals.check(rows)).some((fault) => fault !== null)) continue;
    const head = await sealBatch(db, seals, batch, entries);
    if (head !== null) heads.push(head);
  }
  return heads;
}

function entryIn(line: string): BatchEntry {
  const [id = '', version = '', content_sha256 = '', replaces] = line.split(' ');
  return { id, version: Number(version), content_sha256, ...(replaces !== undefined && { replaces }) };
}
