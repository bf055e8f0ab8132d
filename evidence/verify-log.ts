/**
 * Whether the receipts of a pack are in the log of their account, and whether that goes on from a checkpoint that somebody has kept.
 *
 * Invariant: a receipt that was changed, taken out or put between after a kept checkpoint gives a mismatch, and is named wherever its
 * name can be known: from the pack, or from the earlier pack that the checkpoint is of.
 */
import { canonicalText } from './canonical.ts';
import { type Checkpoint, checkCheckpoint, checkpointIn } from './checkpoint.ts';
import { isConsistent, isIncluded, leafHash } from './merkle.ts';
import { isNode, type Node, ofPack, type PackMismatch, receiptOf, shown } from './receipt-node.ts';
import type { Trust } from './signature.ts';

export interface LogVerification {
  readonly mismatches: readonly PackMismatch[];
  /** Receipts that the checkpoint of the pack proves. */
  readonly proven: number;
  /** Receipts that came into the log after the kept checkpoint, although the hour of their call was over before it. */
  readonly late: readonly string[];
}

interface Packed {
  readonly head: Node;
  readonly receipts: readonly Node[];
}

interface LogState {
  readonly log: Node;
  readonly checkpoint: Checkpoint;
}

/** Null: the head has none. */
export function logIn(head: Node): LogState | null {
  const log = isNode(head.log) ? head.log : null;
  const checkpoint = checkpointIn(log?.checkpoint);
  return log === null || checkpoint === null ? null : { log, checkpoint };
}

/** `earlier`: a checkpoint, or a pack with one; undefined: nobody kept any. */
export async function verifyLog(pack: Packed, trust: Trust, earlier?: unknown): Promise<LogVerification> {
  const { head, receipts } = pack;
  const check = new LogCheck(earlier);
  for (const node of receipts) check.add(node, logIn(head)?.checkpoint ?? null);
  const { mismatches, ...found } = await check.finish(head, trust);
  return { mismatches: [...removedEntries(head), ...mismatches], ...found };
}

/** Receipts that are told one by one; the others are counted. */
const mostTold = 1000;

/** Checks receipts one after the other, and keeps none of them. */
export class LogCheck {
  readonly #earlier: unknown;
  readonly #kept: Checkpoint | null;
  /** Receipts of the earlier pack that have not come yet. */
  readonly #before: Map<unknown, Node>;
  readonly #altered: Node[] = [];
  readonly #mismatches: PackMismatch[] = [];
  readonly #late: string[] = [];
  #proven = 0;
  #isStated = false;

  constructor(earlier?: unknown) {
    this.#earlier = earlier;
    const pack = isNode(earlier) && isNode(earlier.log) ? earlier : null;
    this.#kept = checkpointIn(isNode(pack?.log) ? pack.log.checkpoint : earlier);
    const receipts = Array.isArray(pack?.receipts) ? pack.receipts.filter(isNode) : [];
    this.#before = new Map(receipts.filter(({ log }) => log !== undefined).map((node) => [node.id, node]));
  }

  add(node: Node, checkpoint: Checkpoint | null): void {
    this.#isStated ||= node.log !== undefined;
    this.#compare(node);
    if (checkpoint === null) return;
    const fault = checkEntry(node, checkpoint);
    if (fault !== null) {
      if (this.#mismatches.length < mostTold) this.#mismatches.push(fault);
    } else if (node.log !== undefined) this.#proven += 1;
    if (this.#kept === null || !isNode(node.log) || Number(node.log.index) < this.#kept.tree_size) return;
    if (isDue(node, this.#kept) && this.#late.length < mostTold) this.#late.push(String(node.id));
  }

  async finish(head: Node, trust: Trust): Promise<LogVerification> {
    const state = logIn(head);
    if (state === null) {
      const isMissing = (head.log ?? null) !== null || this.#earlier !== undefined || this.#isStated;
      const fault = ofPack('log', 'a checkpoint of the log of the account', shown(head.log ?? null));
      return { mismatches: isMissing ? [fault] : [], proven: 0, late: [] };
    }
    const mismatches = [
      ...(await checkSigned(state.checkpoint, head, trust, 'log.checkpoint')),
      ...this.#mismatches,
      ...(await this.#sinceEarlier(head, state, trust)),
    ];
    return { mismatches, proven: this.#proven, late: this.#late };
  }

  /** With the receipt of the earlier pack, if that had it. */
  #compare(now: Node): void {
    const node = this.#before.get(now.id);
    if (node === undefined) return;
    this.#before.delete(now.id);
    // A first version may still be settled; then it has a second entry, and the first stays.
    const isSettled = isNode(now.log) && isNode(node.log) && now.log.index !== node.log.index;
    if (leafOf(now) !== leafOf(node) && !isSettled) this.#altered.push(node);
  }

  async #sinceEarlier(head: Node, { checkpoint, log }: LogState, trust: Trust): Promise<PackMismatch[]> {
    if (this.#earlier === undefined) return [];
    const kept = this.#kept;
    if (kept === null) return [ofPack('earlier', 'a checkpoint, or a pack with one', shown(this.#earlier))];
    const told = (nodes: Iterable<Node>, found: string): PackMismatch[] =>
      [...nodes]
        .filter((node) => covers(head, node))
        .map(({ id }) => ({ receipt: String(id), field: 'receipt', expected: 'as it was in the earlier pack', found }));
    return [
      ...(await checkSigned(kept, head, trust, 'earlier')),
      ...checkGoesOn(kept, checkpoint, log),
      ...told(this.#before.values(), 'nothing'),
      ...told(this.#altered, 'another content'),
    ];
  }
}

/** What the gateway itself says of entries of the log whose receipts it does not have any more, or not as they were. */
const removedEntries = ({ excluded }: Node): PackMismatch[] =>
  Array.isArray(excluded) ? excluded.filter(isNode).flatMap((each) => removedEntry(each) ?? []) : [];

/** Null: it is not an entry of the log. */
export function removedEntry({ log_index, reason, receipt_id, version }: Node): PackMismatch | null {
  if (log_index === undefined) return null;
  return {
    receipt: `urn:gw:receipt:${receipt_id}:${version}`,
    field: 'receipt',
    expected: `the entry ${log_index} of the log`,
    found: `nothing: ${reason}`,
  };
}

async function checkSigned(checkpoint: Checkpoint, head: Node, trust: Trust, field: string): Promise<PackMismatch[]> {
  const signature = await checkCheckpoint(checkpoint, trust);
  if (signature === 'invalid' || signature === 'unknown_key')
    return [ofPack(`${field}.signature`, 'a signature of a key that is trusted', signature)];
  if (checkpoint.account === head.account) return [];
  return [ofPack(`${field}.account`, shown(head.account), shown(checkpoint.account))];
}

/** The job looks every minute; receipts of an hour are there soon after it. */
const patienceMs = 3_600_000;
const hourMs = 3_600_000;
const hourEnd = (node: Node): number => (Math.floor(Date.parse(String(node.created_at)) / hourMs) + 1) * hourMs;
/** Whether the log should have had the first version of a receipt at that time. Later versions are made at any time. */
const isDue = (node: Node, { issued }: Checkpoint): boolean =>
  node.version === 1 && hourEnd(node) + patienceMs < Date.parse(issued);

function checkEntry(node: Node, checkpoint: Checkpoint): PackMismatch | null {
  const receipt = String(node.id);
  if (node.log === undefined) {
    if (!isDue(node, checkpoint)) return null;
    return { receipt, field: 'log', expected: `an entry in the log of ${checkpoint.issued}`, found: 'nothing' };
  }
  const { index, path } = isNode(node.log) ? node.log : { index: null, path: null };
  const proof = { index, path, size: checkpoint.tree_size, root: checkpoint.root_hash };
  if (isIncluded(leafOf(node), proof)) return null;
  return { receipt, field: 'log', expected: `the entry ${shown(index)} of the log`, found: 'a receipt that is not it' };
}

const leafOf = (node: Node): string => leafHash(canonicalText(receiptOf(node)));

function checkGoesOn(kept: Checkpoint, checkpoint: Checkpoint, log: Node): PackMismatch[] {
  const { from, path } = isNode(log.consistency) ? log.consistency : { from: null, path: [] };
  const [earlier, later] = [kept, checkpoint].map(({ root_hash: root, tree_size: size }) => ({ root, size }));
  const isSame = kept.tree_size === checkpoint.tree_size;
  if (!isSame && from !== kept.tree_size) {
    const order = `a proof from ${kept.tree_size} entries on; ask for the pack with "earlier_tree_size": ${kept.tree_size}`;
    return [ofPack('log.consistency', order, shown(log.consistency ?? null))];
  }
  if (earlier && later && isConsistent(earlier, later, isSame ? [] : path)) return [];
  return [ofPack('log', `one that goes on from the checkpoint of ${kept.issued}`, 'another log')];
}

/** Whether a pack has all receipts of the time of this one. */
function covers({ selection, temporal }: Node, { created_at }: Node): boolean {
  if (!isNode(temporal) || !isNode(selection)) return false;
  if (['model', 'region', 'receipt_ids'].some((filter) => selection[filter] !== undefined)) return false;
  const [at, start, end] = [created_at, temporal.start, temporal.end].map((time) => Date.parse(String(time)));
  return Number(at) >= Number(start) && Number(at) < Number(end);
}
