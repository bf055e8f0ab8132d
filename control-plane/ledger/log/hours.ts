/**
 * The register of the hours of a log (evidence/hours.ts) as it is stored: a row for each hour, and one for each 256 of them.
 *
 * Invariant: it is as the newest checkpoint has signed it, and changes only together with the next one. What is stored is built upon only if it
 * leads to the signed root; otherwise it is made anew from the entries of the log.
 */
import { elementAt } from '@gw/contract/internal/defined';
import type { Checkpoint } from '@gw/evidence/checkpoint';
import {
  blockHash,
  blockSize,
  emptyHour,
  enter,
  type HourLeaf,
  hourHash,
  type Placed,
  placeOf,
  rootOfBlocks,
  type TimedEntry,
} from '@gw/evidence/hours';
import { emptyRoot } from '@gw/evidence/merkle';
import type { Queryable } from '@gw/prisma/client';
import { isReceipt } from './archived-leaf.ts';
import { LogBrokenError } from './tree.ts';

/** The hours of a log of `tree_size` entries, and their root. */
type Signed = Pick<Checkpoint, 'hours_root' | 'tree_size'>;
const nothing: Signed = { tree_size: 0, hours_root: emptyRoot };

/**
 * Enters the entries of a log behind its last checkpoint, up to its size. `tx` has to hold the lock. Returns the new root. Throws LogBrokenError if the
 * entries before do not give what was signed.
 */
export async function enterHours(
  tx: Queryable,
  accountId: string,
  { before, size }: { readonly before: Signed | null; readonly size: number },
): Promise<string> {
  const signed = before ?? nothing;
  try {
    return await grow(tx, accountId, signed, size);
  } catch (error) {
    if (!(error instanceof LogBrokenError)) throw error;
  }
  await tx.$executeRaw`DELETE FROM receipt_log_hours WHERE account_id = ${accountId}`;
  if ((await grow(tx, accountId, nothing, signed.tree_size)) !== signed.hours_root)
    throw new LogBrokenError('The entries of the log of receipts are of other hours than its last checkpoint says.');
  return grow(tx, accountId, signed, size);
}

async function grow(tx: Queryable, accountId: string, signed: Signed, size: number): Promise<string> {
  const blocks = new Map((await blocksOf(tx, accountId)).map(({ hash, place }) => [place, hash]));
  const root = () => rootOfBlocks(placed(blocks));
  if (root() !== signed.hours_root)
    throw new LogBrokenError('The hours of the log of receipts are not those that were signed.');
  const leaves = new Map<number, HourLeaf>();
  await eachEntry(tx, accountId, { from: signed.tree_size, to: size }, async (page) => {
    const missing = page.map(({ ms }) => placeOf(ms)).filter((place) => !leaves.has(place));
    for (const [place, leaf] of await leavesAt(tx, accountId, missing)) leaves.set(place, leaf);
    enter(page, leaves);
  });
  const changed = [...leaves].map(([place, leaf]) => ({ place, leaf, hash: hourHash(leaf) }));
  for (const block of new Set(changed.map(({ place }) => Math.floor(place / blockSize)))) {
    const stored = new Map((await hashesOf(tx, accountId, block)).map(({ hash, place }) => [place, hash]));
    if (blockHash(block, placed(stored)) !== (blocks.get(block) ?? emptyRoot))
      throw new LogBrokenError('An hour of the log of receipts is not what was signed.');
    for (const { hash, place } of changed) if (Math.floor(place / blockSize) === block) stored.set(place, hash);
    blocks.set(block, blockHash(block, placed(stored)));
    await store(tx, accountId, 1, [{ place: block, hash: blocks.get(block) ?? emptyRoot }]);
  }
  await store(tx, accountId, 0, changed);
  return root();
}

const placed = (hashes: ReadonlyMap<number, string>): Placed[] =>
  [...hashes].map(([place, hash]) => ({ place, hash })).toSorted((one, other) => one.place - other.place);

const pageSize = 10_000;

/** The entries of receipts from one index to before another, page by page. */
export async function eachEntry(
  db: Queryable,
  accountId: string,
  { from, to }: { readonly from: number; readonly to: number },
  take: (page: readonly TimedEntry[]) => Promise<void> | void,
): Promise<void> {
  for (let next = from; next < to; ) {
    const page = await db.$queryRaw<TimedEntry[]>`
      SELECT index::float8 AS index, (extract(epoch FROM created_at) * 1000)::float8 AS ms FROM receipt_log
      WHERE account_id = ${accountId} AND index >= ${next} AND index < ${to} AND ${isReceipt} ORDER BY receipt_log.index LIMIT ${pageSize}`;
    await take(page);
    next = page.length < pageSize ? to : elementAt(page, page.length - 1).index + 1;
  }
}

interface HourRow extends Placed {
  readonly ranges: HourLeaf['ranges'];
  readonly times_digest: string;
}

export const leafOfRow = ({ place, ranges, times_digest }: HourRow): HourLeaf => ({
  ...emptyHour(place),
  ranges,
  times_digest,
});

/** Throws if a row is not what its hash is over. */
async function leavesAt(
  tx: Queryable,
  accountId: string,
  places: readonly number[],
): Promise<(readonly [number, HourLeaf])[]> {
  if (places.length === 0) return [];
  const rows = await tx.$queryRaw<HourRow[]>`
    SELECT place, encode(hash, 'hex') AS hash, ranges, times_digest FROM receipt_log_hours
    WHERE account_id = ${accountId} AND level = 0 AND place = ANY (${[...new Set(places)]}::int[])`;
  return rows.map((row) => {
    const leaf = leafOfRow(row);
    if (hourHash(leaf) !== row.hash)
      throw new LogBrokenError(`The hour ${leaf.hour} of the log of receipts was altered.`);
    return [row.place, leaf];
  });
}

export const blocksOf = (db: Queryable, accountId: string): Promise<Placed[]> => db.$queryRaw<Placed[]>`
  SELECT place, encode(hash, 'hex') AS hash FROM receipt_log_hours WHERE account_id = ${accountId} AND level = 1 ORDER BY place`;

const hashesOf = (db: Queryable, accountId: string, block: number): Promise<Placed[]> => db.$queryRaw<Placed[]>`
  SELECT place, encode(hash, 'hex') AS hash FROM receipt_log_hours
  WHERE account_id = ${accountId} AND level = 0 AND place >= ${block * blockSize} AND place < ${(block + 1) * blockSize}`;

const store = (
  tx: Queryable,
  accountId: string,
  level: number,
  rows: readonly (Placed & { readonly leaf?: HourLeaf })[],
): Promise<unknown> => {
  const made = rows.map(({ hash, leaf, place }) => ({ place, hash, ranges: leaf?.ranges, times: leaf?.times_digest }));
  return tx.$executeRaw`
    INSERT INTO receipt_log_hours (account_id, level, place, hash, ranges, times_digest)
    SELECT ${accountId}, ${level}::smallint, place, decode(hash, 'hex'), ranges, times
    FROM json_to_recordset(${JSON.stringify(made)}::json) AS h (place int, hash text, ranges json, times text)
    ON CONFLICT (account_id, level, place) DO UPDATE SET hash = EXCLUDED.hash, ranges = EXCLUDED.ranges, times_digest = EXCLUDED.times_digest`;
};

/** Makes the hours of a log anew from its entries. */
export async function hoursAnew(
  db: Queryable,
  accountId: string,
  size: number,
): Promise<ReadonlyMap<number, HourLeaf>> {
  const leaves = new Map<number, HourLeaf>();
  await eachEntry(db, accountId, { from: 0, to: size }, (page) => enter(page, leaves));
  return leaves;
}
