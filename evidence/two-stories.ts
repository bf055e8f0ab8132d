/**
 * Finds what two packs of one log contradict each other in, whether or not one proves to go on from the other: two auditors who were told two stories
 * have, sooner or later, packs with another entry at one index.
 *
 * Invariant: only entries that lead to the root of a checkpoint count, so that neither a pack nor a file of its own can make up a contradiction.
 */
import { archivedPlaces } from './archived-check.ts';
import { CappedList } from './capped-list.ts';
import type { Checkpoint } from './checkpoint.ts';
import type { KeptPack } from './kept-pack.ts';
import { type Entry, entryOf, type ProvenEntry } from './log-entries.ts';
import { isNode, type Node, type PackMismatch } from './receipt-node.ts';

export const twoStories = 'the log tells two stories';

export class StoryCheck {
  /** The hashes of the entries of the kept pack, by their indexes. */
  readonly #leaves = new Map<number, string>();
  /** The indexes that each of its receipts has. */
  readonly #indexes = new Map<string, readonly number[]>();
  readonly #told = new CappedList<PackMismatch>();

  constructor({ head, receipts }: KeptPack, checkpoint: Checkpoint) {
    for (const node of receipts) {
      const { places } = entryOf(node, checkpoint);
      this.#indexes.set(String(node.id), places.map(this.#keep));
    }
    for (const place of archivedPlaces(head, checkpoint)) this.#keep(place);
  }

  readonly #keep = ({ index, leaf }: ProvenEntry): number => {
    this.#leaves.set(index, leaf);
    return index;
  };

  /** `size`: the entries of the log of the pack that is checked. */
  add({ node, places }: Entry, size: number): void {
    const receipt = String(node.id);
    this.#compare(receipt, places);
    if (places.length === 0) return;
    const lacking = (this.#indexes.get(receipt) ?? []).filter(
      (index) => index < size && !places.some((place) => place.index === index),
    );
    for (const index of lacking) this.#tell(receipt, index);
  }

  #compare(receipt: string | null, places: readonly ProvenEntry[]): void {
    for (const { index, leaf } of places) {
      const before = this.#leaves.get(index);
      if (before !== undefined && before !== leaf) this.#tell(receipt, index);
    }
  }

  #tell(receipt: string | null, index: number): void {
    const found = `another entry: ${twoStories}`;
    this.#told.add({ receipt, field: 'log', expected: `at index ${index} the entry of the earlier pack`, found });
  }

  finish(head: Node, checkpoint: Checkpoint | null): readonly PackMismatch[] {
    if (checkpoint !== null && isNode(head.log)) this.#compare(null, archivedPlaces(head, checkpoint));
    return this.#told.list;
  }
}
