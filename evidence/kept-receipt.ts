/**
 * Checks a receipt that a client has kept: whether the gateway proves it, in the chain of batches and in the log of its account.
 *
 * Invariant: nothing that the gateway says is believed but for its signatures. The receipt itself is the client's.
 */
import { type BatchProven, checkBatchProof } from './batch-proof.ts';
import { canonicalText } from './canonical.ts';
import { checkCheckpoint, checkpointIn } from './checkpoint.ts';
import { type Cosignature, checkCosignatures } from './cosignatures.ts';
import { differences } from './differences.ts';
import { isIncluded, leafHash } from './merkle.ts';
import type { NoteKey } from './note.ts';
import { isNode, type Node } from './receipt-node.ts';
import { maySettle } from './settled.ts';
import type { SignatureCheck, Trust } from './signature.ts';
import type { Verdict } from './verdict.ts';

export interface ReceiptVerification {
  readonly receipt: string;
  readonly version: number;
  /** The chain of batches; null: it is not proven there. */
  readonly batch: BatchProven | null;
  /** The log of its account; null: it is not proven there. */
  readonly log: {
    readonly index: number;
    readonly entries: number;
    readonly vkey: string | null;
    readonly cosigned: readonly Cosignature[];
    /** The witnesses that were asked for and have not cosigned yet. */
    readonly waiting: readonly string[];
    readonly unknownLines: number;
    readonly signature: SignatureCheck;
  } | null;
  /** Contradictions of the receipt. */
  readonly mismatches: readonly string[];
  /** States that an honest gateway can come to. */
  readonly notes: readonly string[];
}

/** The receipt in a kept reply (its `gw`) without the salt beside it, or the kept receipt itself; null: neither. */
export function receiptIn(kept: unknown): Node | null {
  const found = isNode(kept) && isNode(kept.gw) ? kept.gw : kept;
  if (!isNode(found) || found.object !== 'gw.receipt' || typeof found.id !== 'string') return null;
  const { salt: _, ...receipt } = found;
  return Number.isSafeInteger(receipt.version) ? receipt : null;
}

export interface Served {
  /** The reply of `…/proof`; null: the gateway has no such receipt. */
  readonly proof: unknown;
  /** The same version as it is served now, and the newest; absent: nobody asked. */
  readonly same?: unknown;
  readonly newest?: unknown;
}

export async function verifyReceipt(
  receipt: Node,
  { newest, proof, same }: Served,
  trust: Trust,
  witnesses: readonly NoteKey[] = [],
): Promise<ReceiptVerification> {
  const of = { receipt: String(receipt.id), version: Number(receipt.version) };
  if (proof === null) return { ...of, batch: null, log: null, mismatches: [missing], notes: [] };
  const leaf = leafHash(canonicalText(receipt));
  const isOf = isNode(proof) && proof.receipt_id === receipt.id && proof.version === receipt.version;
  if (!isNode(proof) || !isOf)
    return { ...of, batch: null, log: null, mismatches: ['the proof is of another receipt'], notes: [] };
  const changed = changes(receipt, same);
  const notes = [...changed.notes, ...newerThan(receipt, newest)];
  // The proof is of something else, perhaps of the receipt that it became.
  if (proof.leaf_hash !== leaf) {
    const other = changed.notes.length > 0 ? [] : ['the gateway proves a receipt with other content under this id'];
    return { ...of, batch: null, log: null, mismatches: [...changed.mismatches, ...other], notes };
  }
  const { mismatches: ofLog, proven: log } = await logOf(leaf, proof, trust, witnesses);
  const batch = await batchOf(receipt, proof, trust);
  const proven = { batch: typeof batch === 'string' ? null : batch, log };
  const mismatches = [
    ...changed.mismatches,
    ...ofLog,
    ...(typeof batch === 'string' ? [batch] : []),
    ...[proven.log, proven.batch].flatMap((each) => (isBad(each?.signature) ? badSignature : [])),
  ];
  const isOpen = proven.log === null && (proven.batch?.signed ?? null) === null;
  if (isOpen) notes.push(notYet);
  else if (log === null && witnesses.length > 0) notes.push(notCosigned);
  return { ...of, ...proven, mismatches, notes };
}

const missing =
  'missing: the gateway has no such receipt. Keep the file, and send it to the operator: whoever has it can show that the call was made';
const notYet =
  'it is not signed yet: ask again in a minute. If it stays so, keep the file, and send it to the operator';
const notCosigned = 'it is not in the log yet, whose checkpoints witnesses cosign: ask again two hours after the call';
const badSignature = 'a signature is by none of the keys that you trust, or does not fit';

const isBad = (signature: SignatureCheck | null | undefined): boolean =>
  signature === 'invalid' || signature === 'unknown_key';

type Log = ReceiptVerification['log'];

async function logOf(
  leaf: string,
  { checkpoint: stated, index, path }: Node,
  trust: Trust,
  witnesses: readonly NoteKey[],
): Promise<{ readonly proven: Log; readonly mismatches: readonly string[] }> {
  if (index === null || index === undefined) return { proven: null, mismatches: [] };
  const checkpoint = checkpointIn(stated);
  if (checkpoint === null) return { proven: null, mismatches: ['the log has no checkpoint in a known form'] };
  const { root_hash: root, tree_size: entries } = checkpoint;
  if (!isIncluded(leaf, { index, path, size: entries, root }))
    return { proven: null, mismatches: ['it is not the entry of the log that it is said to be'] };
  const signature = await checkCheckpoint(checkpoint, trust);
  const { mismatches, ...cosignatures } = await checkCosignatures(checkpoint, witnesses);
  return {
    proven: { index: Number(index), entries, ...cosignatures, signature },
    mismatches: mismatches.map(({ expected, found }) => `its checkpoint needs ${expected}, and has ${found}`),
  };
}

async function batchOf(receipt: Node, proof: Node, trust: Trust): Promise<BatchProven | string | null> {
  if (typeof proof.batch_fault === 'string') return `the gateway cannot prove it: ${proof.batch_fault}`;
  return proof.batch === null ? null : checkBatchProof(receipt, proof.batch, trust);
}

function changes(receipt: Node, same: unknown): { readonly mismatches: string[]; readonly notes: string[] } {
  const differing = same === undefined ? [] : differences('receipt', receipt, same);
  if (differing.length === 0) return { mismatches: [], notes: [] };
  if (maySettle(receipt, same))
    return { mismatches: [], notes: ['it was settled since: it was made while its sidecar was away'] };
  const told = differing.map(({ expected, field, found }) => `${field}: kept ${expected}, served now ${found}`);
  return { mismatches: told, notes: [] };
}

const newerThan = ({ version }: Node, newest: unknown): string[] =>
  isNode(newest) && Number(newest.version) > Number(version) ? [`version ${newest.version} has superseded it`] : [];

/** A later version is no fault. */
export function receiptVerdict({ batch, log, mismatches, notes }: ReceiptVerification): Verdict {
  if (mismatches.length > 0) return 'fails';
  if (notes.some((note) => !note.startsWith('version ')) || (log !== null && log.waiting.length > 0)) return 'ask';
  return [log, batch].some((each) => each?.signature === 'trusted') ? 'holds' : 'unauthenticated';
}
