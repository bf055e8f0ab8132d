/**
 * Checks what a pack says of archived months.
 *
 * Invariant: each archived month that a pack states is the entry of the log that it claims to be. A pack with all receipts of such a month has as many as the entry
 * says. Nothing is kept of a receipt but the month that it is counted in.
 */
import { archivedHash, archivedMonthIn } from './archived-month.ts';
import type { Checkpoint } from './checkpoint.ts';
import { hasAllOfItsTime, type ProvenEntry, timeOf } from './log-entries.ts';
import { isIncluded } from './merkle.ts';
import { isNode, type Node, ofPack, type PackMismatch, shown } from './receipt-node.ts';

interface Proven extends ProvenEntry {
  readonly month: string;
  readonly receipts: number;
}

/** No honest pack has more, nor receipts of more. */
const mostMonths = 1200;
const field = 'log.archived';

export class ArchivedCheck {
  readonly #counts = new Map<string, number>();

  add({ created_at }: Node): void {
    const month = String(created_at).slice(0, 7);
    const before = this.#counts.get(month);
    if (before !== undefined) this.#counts.set(month, before + 1);
    else if (this.#counts.size < mostMonths) this.#counts.set(month, 1);
  }

  finish(
    head: Node,
    checkpoint: Checkpoint | null,
  ): { readonly proven: readonly Proven[]; readonly mismatches: readonly PackMismatch[] } {
    const stated = isNode(head.log) && head.log.archived !== undefined ? head.log.archived : [];
    if (!Array.isArray(stated))
      return { proven: [], mismatches: [ofPack(field, 'entries of archived months', shown(stated))] };
    if (stated.length > mostMonths)
      return { proven: [], mismatches: [ofPack(field, `at most ${mostMonths} months`, shown(stated.length))] };
    const proven: Proven[] = [];
    const months = new Set<string>();
    const mismatches: PackMismatch[] = [];
    for (const each of stated) {
      const month = provenIn(each, head, checkpoint);
      const isAgain = month !== null && months.has(month.month);
      if (month === null || isAgain) {
        const { index, month: said } = isNode(each) ? each : {};
        mismatches.push(
          ofPack(field, isAgain ? 'each month once' : `the entry ${shown(index)} of the log`, shown(said)),
        );
        continue;
      }
      proven.push(month);
      months.add(month.month);
      mismatches.push(...this.#compare(head, month));
    }
    return { proven, mismatches };
  }

  #compare(head: Node, { month, receipts }: Proven): PackMismatch[] {
    const counted = this.#counts.get(month);
    const found = counted === undefined ? 0 : counted;
    if (found === receipts || !hasAllOfItsTime(head) || !isWithin(head, month)) return [];
    return [ofPack(field, `${receipts} versions of receipts in ${month}, as were archived`, shown(found))];
  }
}

function provenIn(each: unknown, { account }: Node, checkpoint: Checkpoint | null): Proven | null {
  const { index, month: stated, path } = isNode(each) ? each : {};
  const said = archivedMonthIn(stated);
  if (said === null || said.account !== account || checkpoint === null) return null;
  const { root_hash: root, tree_size: size } = checkpoint;
  const leaf = archivedHash(said);
  if (!isIncluded(leaf, { index, path, size, root })) return null;
  return { index: Number(index), leaf, month: said.month, receipts: said.receipts };
}

/** The entries of archived months that a pack proves, whatever else it says. */
export function archivedPlaces(head: Node, checkpoint: Checkpoint): ProvenEntry[] {
  const stated = isNode(head.log) && Array.isArray(head.log.archived) ? head.log.archived : [];
  return stated.slice(0, mostMonths).flatMap((each) => provenIn(each, head, checkpoint) ?? []);
}

/** Whether the period of the pack has the whole month. */
function isWithin({ temporal }: Node, month: string): boolean {
  const { end, start } = isNode(temporal) ? temporal : {};
  const first = new Date(`${month}-01T00:00:00.000Z`);
  return timeOf(start) <= first.getTime() && timeOf(end) >= new Date(first).setUTCMonth(first.getUTCMonth() + 1);
}
