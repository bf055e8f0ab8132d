/**
 * Checks whether the receipts of a pack are in the log of their account.
 *
 * Invariants: a contradiction to something that was signed is a mismatch. Whatever can happen to an honest gateway is named, and is no
 * mismatch: a receipt came late, is not in the log yet although it should be, or was settled. No receipt is kept.
 */
import { ArchivedCheck } from './archived-check.ts';
import { CappedList } from './capped-list.ts';
import { type Checkpoint, checkpointIn } from './checkpoint.ts';
import { type Cosignature, checkCosignatures } from './cosignatures.ts';
import { EarlierCheck } from './earlier-check.ts';
import { HoursCheck, type Wholeness } from './hours-check.ts';
import { checkSigned, type Entry, entryOf, isLongOver, timeOf } from './log-entries.ts';
import type { NoteKey } from './note.ts';
import { isNode, type Node, ofPack, type PackMismatch, shown } from './receipt-node.ts';
import type { SealTrust } from './seal.ts';

export interface LogVerification {
  readonly mismatches: readonly PackMismatch[];
  /** How many receipts the checkpoint of the pack proves. */
  readonly proven: number;
  /** Receipts that came after the kept checkpoint or pack, although that was complete for the time of their call. */
  readonly late: readonly string[];
  /** First versions that are not in the log, although they should be by now. */
  readonly unlogged: readonly string[];
  /** First versions that were settled since the kept checkpoint or pack. */
  readonly changed: readonly string[];
  /** How many more receipts belong into these lists, which have room for a thousand each. */
  readonly untold: number;
  /** How far it is proven that the pack lacks no receipt of its period; null: it is not, or does not claim to be of all. */
  readonly whole: Wholeness | null;
  /** The archived months that the log proves, as `2025-01`. */
  readonly archived: readonly string[];
  /** The key of the log, which begins with the origin by which witnesses know it; null: there is no checkpoint. */
  readonly vkey: string | null;
  /** The witnesses that were asked for and have cosigned the checkpoint. */
  readonly cosigned: readonly Cosignature[];
  /** The witnesses that were asked for and have no line there. An honest gateway comes to it within seconds of a checkpoint, or while they are away. */
  readonly waiting: readonly string[];
  /** How many more lines its note has, of keys that nobody has named: they show nothing. */
  readonly unknownLines: number;
  /** Why there are no proofs, in the gateway's words. */
  readonly fault: string | null;
}

const logOf = ({ log }: Node): Node | null => (isNode(log) ? log : null);

/** Checks receipts one after the other. */
export class LogCheck {
  readonly #since: EarlierCheck | null;
  readonly #unlogged = new CappedList<string>();
  readonly #hours = new HoursCheck();
  readonly #archived = new ArchivedCheck();
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
    this.#archived.add(node);
    this.#since?.add(entry, checkpoint?.tree_size ?? 0);
    return [...entry.faults, ...this.#hours.add(entry, head)];
  }

  exclude({ log_index }: Node): void {
    if (log_index !== undefined) this.#hours.exclude(log_index);
  }

  /** `witnesses`: which have to have cosigned the checkpoint. */
  async finish(head: Node, trust: SealTrust, witnesses: readonly NoteKey[] = []): Promise<LogVerification> {
    const log = logOf(head);
    const checkpoint = checkpointIn(log?.checkpoint);
    const isFaulty = checkpoint === null && head.log !== null && head.log !== undefined;
    const archived = this.#archived.finish(head, checkpoint);
    const hours = this.#hours.finish(
      head,
      checkpoint,
      archived.proven.map(({ index }) => index),
    );
    const since = await this.#since?.finish({ head, checkpoint }, trust);
    const { mismatches: uncosigned, ...cosignatures } = await checkCosignatures(checkpoint, witnesses);
    return {
      mismatches: [
        ...(isFaulty ? [ofPack('log', 'a checkpoint of the log of the account', shown(head.log))] : []),
        ...(checkpoint === null ? [] : await checkSigned(checkpoint, head, trust, 'log.checkpoint')),
        ...uncosigned,
        ...archived.mismatches,
        ...hours.mismatches,
        ...(since?.mismatches ?? []),
      ],
      proven: this.#proven,
      late: since?.late ?? [],
      unlogged: this.#unlogged.list,
      changed: since?.changed ?? [],
      untold: this.#unlogged.untold + (since?.untold ?? 0),
      whole: hours.whole,
      archived: archived.proven.map(({ month }) => month),
      ...cosignatures,
      fault: typeof log?.fault === 'string' ? log.fault : null,
    };
  }
}

/** Only a first version can be overdue, because later ones are made at any time. */
function isOverdue({ indexes, node }: Entry, checkpoint: Checkpoint | null, { issued }: Node): boolean {
  if (node.version !== 1 || indexes.length > 0) return false;
  return (
    isLongOver(node, issued) || (checkpoint !== null && timeOf(node.created_at) < timeOf(checkpoint.complete_until))
  );
}

export const noLog: Omit<LogVerification, 'mismatches'> = {
  proven: 0,
  late: [],
  unlogged: [],
  changed: [],
  untold: 0,
  whole: null,
  archived: [],
  vkey: null,
  cosigned: [],
  waiting: [],
  unknownLines: 0,
  fault: null,
};
