/** Makes the hours of a log anew from its entries, and compares what is stored and signed with them. */
import { checkpointIn } from '@gw/evidence/checkpoint';
import { blockHash, blockSize, type HourLeaf, hourHash, type Placed, rootOfBlocks } from '@gw/evidence/hours';
import type { Database } from '@gw/prisma/client';
import { hoursAnew } from '../log/hours.ts';
import type { Fault } from './faults.ts';

interface StoredHour {
  readonly level: number;
  readonly place: number;
  readonly hash: string;
  readonly ranges: unknown;
  readonly times_digest: string | null;
}

/** The faults of a log whose entries have all been checked. Their numbers are those of the first entry of an hour, or of the checkpoint. */
export async function hourFaults(db: Database, accountId: string): Promise<Pick<Fault, 'fault' | 'number'>[]> {
  // One statement, so that the hours are those of the checkpoint.
  const [found] = await db.$queryRaw<{ checkpoint: unknown; rows: StoredHour[] | null }[]>`
    SELECT (SELECT checkpoint FROM receipt_log_checkpoints WHERE account_id = ${accountId} ORDER BY tree_size DESC LIMIT 1) AS checkpoint,
      (SELECT json_agg(json_build_object('level', level, 'place', place, 'hash', encode(hash, 'hex'),
        'ranges', ranges, 'times_digest', times_digest)) FROM receipt_log_hours WHERE account_id = ${accountId}) AS rows`;
  const checkpoint = checkpointIn(found?.checkpoint);
  // A checkpoint that cannot be read is told by itself.
  if (checkpoint === null) return [];
  const leaves = await hoursAnew(db, accountId, checkpoint.tree_size);
  const hours = [...leaves].map(([place, leaf]) => ({ level: 0, place, ...leaf, hash: hourHash(leaf) }));
  const blocks = blocksOver(hours);
  const stored = new Map((found?.rows ?? []).map((row) => [nameOf(row), row]));
  const follows = [...hours, ...blocks.map((block) => ({ ...block, level: 1, ranges: null, times_digest: null }))];
  const altered = follows.filter((each) => {
    const row = stored.get(nameOf(each));
    stored.delete(nameOf(each));
    return row === undefined || contentOf(row) !== contentOf(each);
  });
  const isSigned = rootOfBlocks(blocks) === checkpoint.hours_root;
  return [
    ...altered.map(({ ranges }) => ({ number: firstOf(ranges), fault: 'hour altered' })),
    ...(stored.size > 0 ? [{ number: 0, fault: 'hour without entries' }] : []),
    ...(isSigned ? [] : [{ number: checkpoint.tree_size, fault: 'checkpoint of other hours' }]),
  ];
}

/** The number for 256 hours is that of the first entry of the log. */
const firstOf = (ranges: HourLeaf['ranges'] | null): number => (ranges?.[0] === undefined ? 0 : ranges[0][0]);

const nameOf = ({ level, place }: Pick<StoredHour, 'level' | 'place'>): string => `${level}:${place}`;
const contentOf = ({ hash, ranges, times_digest }: Omit<StoredHour, 'level' | 'place'>): string =>
  JSON.stringify([hash, ranges, times_digest]);

function blocksOver(hours: readonly Placed[]): Placed[] {
  const own = new Map<number, Placed[]>();
  for (const hour of hours) {
    const block = Math.floor(hour.place / blockSize);
    own.set(block, [...(own.get(block) ?? []), hour]);
  }
  return [...own]
    .map(([block, leaves]) => ({ place: block, hash: blockHash(block, leaves) }))
    .toSorted((one, other) => one.place - other.place);
}
