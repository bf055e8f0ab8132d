/** Reads, for a pack of all receipts of a period, what it shows of the register of the hours of the log (log/hours.ts). */
import type { Checkpoint } from '@gw/evidence/checkpoint';
import {
  blockSize,
  entriesIn,
  type HourLeaf,
  hourHash,
  isCut,
  mostTimes,
  type Placed,
  pathOfRange,
  placesOf,
  rootOfRange,
} from '@gw/evidence/hours';
import type { PackHours, ShownHour } from '@gw/evidence/pack';
import type { Database } from '@gw/prisma/client';
import { isReceipt } from '../log/archived-leaf.ts';
import { leafOfRow } from '../log/hours.ts';
import { cosignedCheckpoint, LogBrokenError, type StoredCheckpoint, selectNewest } from '../log/tree.ts';
import type { Period } from './select-archived.ts';

interface StoredHour extends Placed {
  readonly level: number;
  readonly ranges: HourLeaf['ranges'];
  readonly times_digest: string;
}

export interface StoredHours {
  readonly checkpoint: Checkpoint | null;
  readonly rows: readonly StoredHour[];
}

const placesIn = ({ from, to }: Period) => placesOf(from.getTime(), to.getTime());

/** Reads the newest checkpoint, and the hours in one statement with it, so that they are those of this checkpoint. */
export async function readHours(db: Database, accountId: string, period: Period | null): Promise<StoredHours> {
  const { begin, end } = period === null ? { begin: 0, end: 0 } : placesIn(period);
  // Whole blocks, for the hashes on both sides.
  const [first, last] = [begin - (begin % blockSize), Math.ceil(end / blockSize) * blockSize];
  const [found] = await db.$queryRaw<(StoredCheckpoint & { readonly rows: StoredHour[] | null })[]>`
    SELECT newest.checkpoint, newest.lines,
      CASE WHEN ${period !== null} THEN (
        SELECT json_agg(json_build_object('level', level, 'place', place, 'hash', encode(hash, 'hex'),
          'ranges', ranges, 'times_digest', times_digest) ORDER BY place)
        FROM receipt_log_hours
        WHERE account_id = ${accountId} AND (level = 1 OR (level = 0 AND place >= ${first} AND place < ${last}))) END AS rows
    FROM (${selectNewest(accountId)}) newest`;
  return { checkpoint: found === undefined ? null : cosignedCheckpoint(found), rows: found?.rows ?? [] };
}

const ofContent = (row: StoredHour): StoredHour => ({ ...row, hash: hourHash(leafOfRow(row)) });

/** Throws LogBrokenError if the hours are not those that were signed. */
export async function shownHours(
  db: Database,
  period: Period,
  { checkpoint, rows }: StoredHours & { readonly checkpoint: Checkpoint },
): Promise<PackHours> {
  const range = placesIn(period);
  const leaves = rows.filter(({ level }) => level === 0);
  const inside = leaves.filter(({ place }) => place >= range.begin && place < range.end).map(ofContent);
  const path = pathOfRange(
    range,
    leaves,
    rows.filter(({ level }) => level === 1),
  );
  if (rootOfRange(range, inside, path) !== checkpoint.hours_root)
    throw new LogBrokenError('The hours of the log of receipts are not those that were signed.');
  const shown: ShownHour[] = [];
  for (const row of inside) {
    const leaf = leafOfRow(row);
    const times = isCut(leaf, period.from.getTime(), period.to.getTime()) ? await timesOf(db, checkpoint, leaf) : null;
    shown.push({ ...leaf, ...(times !== null && { times }) });
  }
  return { shown, path };
}

/** Null: there are too many. */
async function timesOf(
  db: Database,
  { account, tree_size }: Checkpoint,
  { hour, ranges }: HourLeaf,
): Promise<number[] | null> {
  if (entriesIn(ranges) > mostTimes) return null;
  const found = await db.$queryRaw<{ ms: number }[]>`
    SELECT (extract(epoch FROM created_at) * 1000)::float8 AS ms FROM receipt_log
    WHERE account_id = ${account} AND index < ${tree_size} AND created_at >= ${hour}::timestamptz
      AND created_at < ${hour}::timestamptz + INTERVAL '1 hour' AND ${isReceipt}
    ORDER BY index`;
  return found.map(({ ms }) => ms);
}
