/** Reads the hours that a pack shows, and holds them against the root that its checkpoint signs. */
import type { Checkpoint } from './checkpoint.ts';
import { type EntryRange, hourHash, hourMs, type Placed, placeOf, placesOf, rootOfRange } from './hours.ts';
import { timeOf } from './log-entries.ts';
import { isHash } from './merkle.ts';
import type { ShownHour } from './pack.ts';
import { isNode, type Node } from './receipt-node.ts';

export interface Register {
  readonly hours: ReadonlyMap<number, ShownHour>;
  readonly path: readonly unknown[];
}

const isCount = (value: unknown): value is number => Number.isSafeInteger(value) && Number(value) >= 0;

/** Whether they stand in their order, and none could be joined with the next. */
const areApart = (ranges: readonly EntryRange[]): boolean =>
  ranges.every(([first], at) => {
    const [before, count] = ranges[at - 1] ?? [-1, 0];
    return first > before + count;
  });

function isHour(value: unknown): value is ShownHour {
  if (!isNode(value)) return false;
  const { hour, ranges, times, times_digest } = value;
  const at = typeof hour === 'string' ? Date.parse(hour) : Number.NaN;
  const isRange = (each: unknown) =>
    Array.isArray(each) && each.length === 2 && each.every(isCount) && Number(each[1]) > 0;
  return (
    !Number.isNaN(at) &&
    new Date(at).toISOString() === hour &&
    at % hourMs === 0 &&
    Array.isArray(ranges) &&
    ranges.every(isRange) &&
    areApart(ranges) &&
    isHash(times_digest) &&
    (times === undefined || (Array.isArray(times) && times.every(isCount)))
  );
}

/** Null: there are none in the form that they have. */
export function registerIn({ log }: Node): Register | null {
  const { path, shown: list } = isNode(log) && isNode(log.hours) ? log.hours : {};
  if (!Array.isArray(path) || !Array.isArray(list) || !list.every(isHour)) return null;
  const hours = new Map(list.map((each) => [placeOf(Date.parse(each.hour)), each]));
  return hours.size === list.length ? { hours, path } : null;
}

/** Whether the hours are all of the period that the checkpoint has. */
export function isSigned({ hours, path }: Register, { temporal }: Node, { hours_root }: Checkpoint): boolean {
  const { end, start } = isNode(temporal) ? temporal : {};
  const range = placesOf(timeOf(start), timeOf(end));
  const leaves: Placed[] = [...hours]
    .map(([place, hour]) => ({ place, hash: hourHash(hour) }))
    .toSorted((one, other) => one.place - other.place);
  const isWithin = leaves.every(({ place }) => place >= range.begin && place < range.end);
  return isWithin && rootOfRange(range, leaves, path) === hours_root;
}
