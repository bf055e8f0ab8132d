import type { Checkpoint } from './checkpoint.ts';
import { type EntryRange, placesOf } from './hours.ts';
import { isSigned, registerIn } from './hours-register.ts';
import { timeOf } from './log-entries.ts';
import { isNode, type Node, ofPack, type PackMismatch } from './receipt-node.ts';

const field = 'log.hours';

/** Whether the hours of a kept pack go on in a later one: their entries are those that they had, and later ones. */
export function checkKeptHours(
  kept: { readonly head: Node; readonly checkpoint: Checkpoint },
  head: Node,
): PackMismatch[] {
  const [before, now] = [registerIn(kept.head), registerIn(head)];
  if (before === null || now === null) return [];
  if (!isSigned(before, kept.head, kept.checkpoint))
    return [ofPack(`earlier.${field}`, 'the hours of the period that its checkpoint signs', 'others')];
  const size = kept.checkpoint.tree_size;
  const places = new Set([...before.hours.keys(), ...now.hours.keys()].filter(isWithinBoth(kept.head, head)));
  return [...places].flatMap((place) => {
    const [then, since] = [before, now].map(({ hours }) => hours.get(place)?.ranges ?? []);
    const expected = JSON.stringify(then);
    const found = JSON.stringify(firstOf(since ?? [], size));
    const { hour } = before.hours.get(place) ?? now.hours.get(place) ?? {};
    return expected === found
      ? []
      : [ofPack(field, `the entries ${expected} of the hour ${hour}, as in the earlier pack`, found)];
  });
}

/** The part of ranges that is within the first `size` entries. */
const firstOf = (ranges: readonly EntryRange[], size: number): EntryRange[] =>
  ranges.flatMap(([first, count]): EntryRange[] => (first >= size ? [] : [[first, Math.min(count, size - first)]]));

const isWithinBoth =
  (...heads: readonly Node[]) =>
  (place: number): boolean =>
    heads.every(({ temporal }) => {
      const { end, start } = isNode(temporal) ? temporal : {};
      const range = placesOf(timeOf(start), timeOf(end));
      return place >= range.begin && place < range.end;
    });
