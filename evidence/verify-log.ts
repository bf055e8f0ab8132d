/**
 * Whether the receipts of a pack are in the log of their account, and what that says of them.
 *
 * Invariants: what contradicts something that was signed is a mismatch. What an honest gateway can come to as well is none, and is
 * named: a receipt that came late, that the log does not have yet although it should, or that was settled. No receipt is kept.
 */
import { type Checkpoint, checkpointIn } from './checkpoint.ts';
import { IndexRuns } from './index-runs.ts';
import { checkSigned, type Entry, entryOf, hasAllOfItsTime, isLongOver, timeOf } from './log-entries.ts';
import { isNode, type Node, ofPack, type PackMismatch, shown } from './receipt-node.ts';
import type { Trust } from './signature.ts';
import { Told } from './told.ts';
import { EarlierCheck } from './verify-earlier.ts';

export interface LogVerification {
  readonly mismatches: readonly PackMismatch[];
  /** Receipts that the checkpoint of the pack proves. */
  readonly proven: number;
  /** Receipts that are there since the kept checkpoint or pack, although that was complete for the time of their call. */
  readonly late: readonly string[];
  /** First versions that the log should have by now, and does not. */
  readonly unlogged: readonly string[];
  /** First versions that have become something else since the kept checkpoint or pack, as they may. */
  readonly changed: readonly string[];
  /** Receipts that are in none of these lists, which have room for a thousand each. */
  readonly untold: number;
  /**
   * Entries between the first and the last of the pack that are not in it, both ends inclusive: of other times, as far as anybody can tell
   * from this pack. Of packs without a filter.
   */
  readonly gaps: readonly (readonly [number, number])[];
  /** In the gateway's words: why there are no proofs. */
  readonly fault: string | null;
}

const logOf = ({ log }: Node): Node | null => (isNode(log) ? log : null);

/** Checks receipts one after the other. */
export class LogCheck {
  readonly #since: EarlierCheck | null;
  readonly #unlogged = new Told<string>();
  readonly #indexes = new IndexRuns();
  #proven = 0;

  /** `earlier`: a checkpoint, or a pack; undefined: nobody kept any. */
  constructor(earlier?: unknown) {
    this.#since = earlier === undefined ? null : new EarlierCheck(earlier);
  }

  /** `head`: with its `log` and `issued` at least, as they are in the end. */
  add(node: Node, head: Node): readonly PackMismatch[] {
    const checkpoint = checkpointIn(logOf(head)?.checkpoint);
    const entry = entryOf(node, checkpoint);
    if (entry.isProven) this.#proven += 1;
    if (isOverdue(entry, checkpoint, head)) this.#unlogged.add(String(node.id));
    for (const index of entry.indexes) this.#indexes.add(index);
    this.#since?.add(entry);
    return entry.faults;
  }

  exclude({ log_index }: Node): void {
    if (log_index !== undefined) this.#indexes.add(log_index);
  }

  async finish(head: Node, trust: Trust): Promise<LogVerification> {
    const log = logOf(head);
    const checkpoint = checkpointIn(log?.checkpoint);
    const isFaulty = checkpoint === null && head.log !== null && head.log !== undefined;
    const since = await this.#since?.finish({ head, checkpoint }, trust);
    return {
      mismatches: [
        ...(isFaulty ? [ofPack('log', 'a checkpoint of the log of the account', shown(head.log))] : []),
        ...(checkpoint === null ? [] : await checkSigned(checkpoint, head, trust, 'log.checkpoint')),
        ...(since?.mismatches ?? []),
      ],
      proven: this.#proven,
      late: since?.late ?? [],
      unlogged: this.#unlogged.list,
      changed: since?.changed ?? [],
      untold: this.#unlogged.untold + (since?.untold ?? 0),
      gaps: hasAllOfItsTime(head) ? this.#indexes.gaps() : [],
      fault: typeof log?.fault === 'string' ? log.fault : null,
    };
  }
}

/** Later versions are made at any time, so of them nobody can say. */
function isOverdue({ indexes, node }: Entry, checkpoint: Checkpoint | null, { issued }: Node): boolean {
  if (node.version !== 1 || indexes.length > 0) return false;
  return (
    isLongOver(node, issued) || (checkpoint !== null && timeOf(node.created_at) < timeOf(checkpoint.complete_until))
  );
}

export const noLog: Omit<LogVerification, 'mismatches'> = {
  ...{ proven: 0, late: [], unlogged: [], changed: [], untold: 0, gaps: [], fault: null },
};
