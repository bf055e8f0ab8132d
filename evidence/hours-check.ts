/**
 * Checks that a pack of all receipts of a period has each entry that the log has of it, by the hours that the checkpoint signs.
 *
 * Invariant: what a pack says of its hours counts only if it leads to the signed root. Of receipts nothing is kept but runs of indexes.
 */
import type { Checkpoint } from './checkpoint.ts';
import { type EntryRange, entriesIn, isCut, mostTimes, nextTimes, placeOf, placesBeside, placesOf } from './hours.ts';
import { isSigned, type Register, registerIn } from './hours-register.ts';
import { IndexRuns, type Run } from './index-runs.ts';
import { type Entry, hasAllOfItsTime, timeOf } from './log-entries.ts';
import { emptyRoot } from './merkle.ts';
import type { ShownHour } from './pack.ts';
import { isNode, type Node, ofPack, type PackMismatch, shown } from './receipt-node.ts';

/** How far a pack is proven to be whole. */
export interface Wholeness {
  /** No entry that the log has of the period up to here is missing; null: the checkpoint says nothing of the period. */
  readonly until: string | null;
  /** How many hours with calls all entries are there of. */
  readonly hours: number;
  /** Hours that the period cuts, and that have too many calls to show which are within. */
  readonly open: readonly string[];
}

const field = 'log.hours';

const runOf = ([first, count]: EntryRange): Run => [first, first + count - 1];
const inOrder = (runs: readonly Run[]): Run[] => runs.toSorted(([a], [b]) => a - b);

export class HoursCheck {
  readonly #seen = new IndexRuns();
  #register: Register | null | undefined;

  /** `head`: with its `log` at least, as it is in the end. */
  add({ indexes, node }: Entry, head: Node): PackMismatch[] {
    for (const index of indexes) this.#seen.add(index);
    if (this.#register === undefined) this.#register = registerIn(head);
    if (this.#register === null || indexes.length === 0) return [];
    const ms = timeOf(node.created_at);
    const hour = this.#register.hours.get(placeOf(ms));
    return indexes.flatMap((index) => {
      const at = placeIn(hour, index);
      const stated = at === null ? undefined : hour?.times?.[at];
      if (at !== null && (hour?.times === undefined || stated === ms)) return [];
      const expected = `a call of the time that the log has for its entry ${index}`;
      return [{ receipt: String(node.id), field: 'created_at', expected, found: shown(node.created_at) }];
    });
  }

  exclude(index: unknown): void {
    this.#seen.add(index);
  }

  finish(
    head: Node,
    checkpoint: Checkpoint | null,
    archived: readonly number[],
  ): { readonly whole: Wholeness | null; readonly mismatches: readonly PackMismatch[] } {
    const { fault, hours: stated } = isNode(head.log) ? head.log : {};
    const isClaimed = checkpoint !== null && hasAllOfItsTime(head);
    if (!isClaimed) return { whole: null, mismatches: stated === undefined ? [] : [notWhole(stated)] };
    const register = registerIn(head);
    if (register === null || !isSigned(register, head, checkpoint)) {
      const found = stated === undefined ? shown(fault) : 'others';
      return { whole: null, mismatches: [ofPack(field, 'the hours of the period that the checkpoint signs', found)] };
    }
    return this.#compare(register, head, { checkpoint, archived });
  }

  #compare(
    { hours, path }: Register,
    { temporal }: Node,
    { archived, checkpoint }: { readonly checkpoint: Checkpoint; readonly archived: readonly number[] },
  ): { readonly whole: Wholeness; readonly mismatches: readonly PackMismatch[] } {
    const period = isNode(temporal) ? temporal : {};
    const [start, end] = [timeOf(period.start), timeOf(period.end)];
    const mismatches: PackMismatch[] = [];
    const open: string[] = [];
    const wanted = new Map<string, readonly Run[]>();
    for (const hour of hours.values()) {
      const runs = wantedOf(hour, start, end);
      if (runs === 'open') open.push(hour.hour);
      else if (runs === 'false')
        mismatches.push(ofPack(`${field}.times`, `the times of the calls of the hour ${hour.hour}`, 'others'));
      else wanted.set(hour.hour, runs);
    }
    mismatches.push(...this.#missing(wanted));
    const beside = placesBeside(placesOf(start, end)).filter((_, at) => path[at] !== emptyRoot);
    const isAhead = (place: number): boolean => place > placeOf(timeOf(checkpoint.issued));
    if ([...beside, ...hours.keys()].some(isAhead))
      mismatches.push(
        ofPack(field, `no hour after ${checkpoint.issued}, when the checkpoint was signed`, 'such hours'),
      );
    // Nothing that has happened is outside of the period, so that each entry of the log has to be in one of its hours.
    if (beside.every(isAhead) && !isTiled([...hours.values()], archived, checkpoint.tree_size))
      mismatches.push(ofPack(field, 'each entry of the log in one hour, or an archived month', 'others'));
    const until = Math.min(end, timeOf(checkpoint.complete_until));
    const whole = hours.size - open.length - mismatches.length;
    return {
      whole: { until: until > start ? new Date(until).toISOString() : null, hours: Math.max(0, whole), open },
      mismatches,
    };
  }

  /** Asks for the entries of all hours at once, and names the hours that lack some. */
  #missing(wanted: ReadonlyMap<string, readonly Run[]>): PackMismatch[] {
    const gone = this.#seen.missingOf(inOrder([...wanted.values()].flat()));
    if (gone.length === 0) return [];
    // The first are enough, because the pack fails by each.
    const named = gone.slice(0, mostNamed);
    return [...wanted].flatMap(([hour, runs]) => {
      const own = runs.flatMap(([from, to]) =>
        named.filter((each) => each[0] >= from && each[1] <= to).map(([first, last]) => `${first} to ${last}`),
      );
      if (own.length === 0) return [];
      const told = own.length > mostTold ? `${own.slice(0, mostTold).join(', ')}, …` : own.join(', ');
      return [ofPack(field, `the entries ${told} of the hour ${hour}, which the log has`, 'not in the pack')];
    });
  }
}

const mostNamed = 1000;
const mostTold = 20;

const notWhole = (stated: unknown): PackMismatch =>
  ofPack(field, 'no hours, since it is not of all receipts of a period', shown(stated));

/** Where an index is among the entries of an hour; null: it is not. */
function placeIn(hour: ShownHour | undefined, index: number): number | null {
  let before = 0;
  for (const [first, count] of hour?.ranges ?? []) {
    if (index >= first && index < first + count) return before + index - first;
    before += count;
  }
  return null;
}

/** The entries of an hour that are within the period. */
function wantedOf(hour: ShownHour, start: number, end: number): readonly Run[] | 'false' | 'open' {
  const { ranges, times, times_digest } = hour;
  const isOpen = isCut(hour, start, end);
  if (!isOpen) return times === undefined ? ranges.map(runOf) : 'false';
  if (times === undefined) return entriesIn(ranges) > mostTimes ? 'open' : 'false';
  const { digest } = times.reduce((at, ms) => ({ digest: nextTimes(at.digest, ms) }), { digest: '0'.repeat(64) });
  if (times.length !== entriesIn(ranges) || digest !== times_digest) return 'false';
  const runs = new IndexRuns();
  let at = 0;
  for (const [first, count] of ranges)
    for (let index = first; index < first + count; index += 1, at += 1) {
      const ms = Number(times[at]);
      if (ms < start || ms >= end) runs.add(index);
    }
  // The rest is within the period.
  return runs.missingOf(ranges.map(runOf));
}

function isTiled(hours: readonly ShownHour[], archived: readonly number[], size: number): boolean {
  const runs = inOrder([
    ...hours.flatMap(({ ranges }) => ranges.map(runOf)),
    ...archived.map((index): Run => [index, index]),
  ]);
  let next = 0;
  for (const [from, to] of runs) {
    if (from !== next) return false;
    next = to + 1;
  }
  return next === size;
}
