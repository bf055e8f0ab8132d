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

/** `earlier`: a checkpoint, or a pack with one; undefined: nobody kept any. */
export async function verifyLog(pack: Packed, trust: Trust, earlier?: unknown): Promise<LogVerification> {
  const { head, receipts } = pack;
  const removed = removedEntries(head);
  const log = isNode(head.log) ? head.log : null;
  const checkpoint = checkpointIn(log?.checkpoint);
  if (log === null || checkpoint === null) {
    const isMissing = log !== null || earlier !== undefined || receipts.some((node) => node.log !== undefined);
    const fault = ofPack('log', 'a checkpoint of the log of the account', shown(head.log ?? null));
    return { mismatches: isMissing ? [...removed, fault] : removed, proven: 0, late: [] };
  }
  const checked = receipts.map((node) => checkEntry(node, checkpoint));
  const since = earlier === undefined ? null : await checkEarlier(pack, { log, checkpoint }, trust, earlier);
  return {
    mismatches: [
      ...removed,
      ...(await checkSigned(checkpoint, head, trust, 'log.checkpoint')),
      ...checked.flatMap((fault) => fault ?? []),
      ...(since?.mismatches ?? []),
    ],
    proven: receipts.filter((node, at) => node.log !== undefined && checked[at] === null).length,
    late: since?.late ?? [],
  };
}

/** What the gateway itself says of entries of the log whose receipts it does not have any more, or not as they were. */
function removedEntries({ excluded }: Node): PackMismatch[] {
  const stated = Array.isArray(excluded) ? excluded.filter(isNode) : [];
  return stated
    .filter(({ log_index }) => log_index !== undefined)
    .map(({ log_index, reason, receipt_id, version }) => ({
      receipt: `urn:gw:receipt:${receipt_id}:${version}`,
      field: 'receipt',
      expected: `the entry ${log_index} of the log`,
      found: `nothing: ${reason}`,
    }));
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

async function checkEarlier(
  { head, receipts }: Packed,
  { checkpoint, log }: { readonly log: Node; readonly checkpoint: Checkpoint },
  trust: Trust,
  earlier: unknown,
): Promise<Pick<LogVerification, 'late' | 'mismatches'>> {
  const pack = isNode(earlier) && isNode(earlier.log) ? earlier : null;
  const kept = checkpointIn(isNode(pack?.log) ? pack.log.checkpoint : earlier);
  if (kept === null)
    return { mismatches: [ofPack('earlier', 'a checkpoint, or a pack with one', shown(earlier))], late: [] };
  const before = Array.isArray(pack?.receipts) ? pack.receipts.filter(isNode) : [];
  return {
    mismatches: [
      ...(await checkSigned(kept, head, trust, 'earlier')),
      ...checkGoesOn(kept, checkpoint, log),
      ...before.flatMap((node) => checkKept(node, { head, receipts }) ?? []),
    ],
    late: receipts
      .filter((node) => isNode(node.log) && Number(node.log.index) >= kept.tree_size && isDue(node, kept))
      .map(({ id }) => String(id)),
  };
}

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

/** A receipt of the earlier pack, if the new one should have it too. */
function checkKept(node: Node, { head, receipts }: Packed): PackMismatch | null {
  const receipt = String(node.id);
  if (node.log === undefined || !covers(head, node)) return null;
  const now = receipts.find(({ id }) => id === node.id);
  const expected = 'as it was in the earlier pack';
  if (now === undefined) return { receipt, field: 'receipt', expected, found: 'nothing' };
  // A first version may still be settled; then it has a second entry, and the first stays.
  if (leafOf(now) === leafOf(node) || (isNode(now.log) && isNode(node.log) && now.log.index !== node.log.index))
    return null;
  return { receipt, field: 'receipt', expected, found: 'another content' };
}

/** Whether a pack has all receipts of the time of this one. */
function covers({ selection, temporal }: Node, { created_at }: Node): boolean {
  if (!isNode(temporal) || !isNode(selection)) return false;
  if (['model', 'region', 'receipt_ids'].some((filter) => selection[filter] !== undefined)) return false;
  const [at, start, end] = [created_at, temporal.start, temporal.end].map((time) => Date.parse(String(time)));
  return Number(at) >= Number(start) && Number(at) < Number(end);
}
