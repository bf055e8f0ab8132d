/**
 * The end of a log that no checkpoint is over yet.
 *
 * Invariant: what is signed is over entries that are sealed and follow each other, whoever else writes to the tables meanwhile. Rows that
 * somebody with the database has put there are taken out, kept in `receipt_log_set_aside`, and named; nothing is built upon them.
 */
import { elementAt } from '@gw/contract/internal/defined';
import { storedEvery } from '@gw/evidence/merkle';
import type { Queryable } from '@gw/prisma/client';
import type { Seals } from '../receipts/sealed-rows.ts';
import { appendLeaves, entrySeal, type Leaf, type SealedLeaf } from './tree.ts';

interface TailRow extends SealedLeaf {
  /** As text: somebody with the database can have written one beyond what a double tells apart. */
  readonly place: string;
}

const pageSize = 1000;
/** How many are named of those that were put there at once. */
const mostNamed = 100;

/** The entries behind the last checkpoint that the table has, whoever put it there: the first is not built upon either. */
export async function signedSize(tx: Queryable, accountId: string): Promise<number> {
  const found = await tx.$queryRaw<{ size: number }[]>`
    SELECT least(coalesce(max(tree_size), 0), ${Number.MAX_SAFE_INTEGER})::float8 AS size FROM receipt_log_checkpoints WHERE account_id = ${accountId}`;
  return elementAt(found, 0).size;
}

/**
 * Takes what is not sealed out of the log behind its first `signed` entries, and puts the entries that stood behind it in its place. `tx` has
 * to hold the lock. Returns the size of the log from then on, and the indexes of what was taken out.
 */
export async function cleanTail(
  tx: Queryable,
  seals: Seals,
  accountId: string,
  signed: number,
): Promise<{ readonly size: number; readonly planted: readonly number[] }> {
  let size = signed;
  const behind: Leaf[] = [];
  const planted: number[] = [];
  for (let after = String(signed - 1); ; ) {
    const page = await tailAfter(tx, accountId, after);
    for (const { place, ...leaf } of page) {
      const index = Math.min(Number(place), Number.MAX_SAFE_INTEGER);
      if (seals.textFault('gw.log_entry', entrySeal(accountId, index, leaf), leaf) !== null) {
        if (planted.length < mostNamed) planted.push(index);
      } else if (index === size) size += 1;
      else behind.push(leaf);
    }
    const last = page.at(-1);
    if (last === undefined || page.length < pageSize) break;
    after = last.place;
  }
  const isWhole = planted.length === 0 && behind.length === 0 && !(await hasNodesPast(tx, accountId, size));
  if (isWhole) return { size, planted };
  await tx.$executeRaw`SELECT set_aside_receipt_log(${accountId}, ${size}::bigint)`;
  return { size: behind.length === 0 ? size : await appendLeaves(tx, seals, accountId, behind), planted };
}

/** Tells of rows that were taken out, once the transaction is over. */
export async function reportPlanted(seals: Seals, accountId: string, planted: readonly number[]): Promise<void> {
  if (planted.length === 0) return;
  await seals.report(
    planted.map((index) => ({ id: accountId, version: index, fault: 'forged' })),
    'log',
  );
}

const tailAfter = (tx: Queryable, accountId: string, after: string): Promise<TailRow[]> => tx.$queryRaw<TailRow[]>`
  SELECT index::text AS place, receipt_id AS "receiptId", version, created_at AS "createdAt", encode(leaf_hash, 'hex') AS hash,
    content_sha256 AS "contentSha256", archived, encode(seal, 'hex') AS seal, seal_key::int AS id
  FROM receipt_log WHERE account_id = ${accountId} AND index > ${after}::bigint ORDER BY index LIMIT ${pageSize}`;

/** The levels that are stored, above the entries, of a log as large as a double can count. */
const levels = Array.from({ length: 13 }, (_, at) => (at + 1) * storedEvery);

/** Whether there is a node over an entry behind the first `size`: the next entries would find its place taken. */
async function hasNodesPast(tx: Queryable, accountId: string, size: number): Promise<boolean> {
  const first = levels.map((level) => Math.floor(size / 2 ** level));
  const found = await tx.$queryRaw<unknown[]>`
    SELECT 1 FROM unnest(${levels}::int[], ${first}::bigint[]) AS f (level, index)
    JOIN receipt_log_nodes n ON n.account_id = ${accountId} AND n.level = f.level AND n.index >= f.index LIMIT 1`;
  return found.length > 0;
}
