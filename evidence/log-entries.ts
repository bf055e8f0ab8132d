/** Checks, receipt by receipt, what a pack says of the log of its account. */
import { canonicalText } from './canonical.ts';
import { type Checkpoint, checkCheckpoint } from './checkpoint.ts';
import { hourMs } from './hours.ts';
import { isIncluded, leafHash } from './merkle.ts';
import { isNode, type Node, ofPack, type PackMismatch, receiptOf, shown } from './receipt-node.ts';
import { maySettle } from './settled.ts';
import type { Trust } from './signature.ts';

/** An entry that leads to the root. */
export interface ProvenEntry {
  readonly index: number;
  readonly leaf: string;
}

/** The entries of a version of a receipt. */
export interface Entry {
  readonly node: Node;
  readonly faults: readonly PackMismatch[];
  /** Whether the receipt, as it is in the pack, is in the log. */
  readonly isProven: boolean;
  /** The indexes in the order of the log, including those of the receipt before it was settled. */
  readonly indexes: readonly number[];
  /** The index of the present content; null: the log does not have it yet. */
  readonly index: number | null;
  readonly places: readonly ProvenEntry[];
}

/** Follows the paths of a receipt to the root. */
export function entryOf(node: Node, checkpoint: Checkpoint | null): Entry {
  const receipt = String(node.id);
  const nothing = { node, isProven: false, indexes: [], index: null, places: [] };
  if (node.log === undefined) return { ...nothing, faults: [] };
  const log = isNode(node.log) ? node.log : {};
  const { replaced = [], ...own } = log;
  if (checkpoint === null || !Array.isArray(replaced) || !replaced.every(isNode) || replaced.length > mostSteps)
    return { ...nothing, faults: [{ receipt, field: 'log', expected: 'a place in a log', found: shown(node.log) }] };
  const isThere = own.index !== undefined && own.index !== null;
  const fits = (leaf: string, { index, path }: Node): boolean =>
    isIncluded(leaf, { index, path, size: checkpoint.tree_size, root: checkpoint.root_hash });
  const present = leafOf(node);
  const isProven = isThere && fits(present, own);
  const before = replaced.map((each) => ({ ...each, leaf: replacedLeaf(each) }) as Node & { leaf: string });
  const proven = before.filter((each) => fits(each.leaf, each));
  const faults: PackMismatch[] = [
    ...(isThere && !isProven ? [notIt(receipt, own.index)] : []),
    ...before.flatMap((each) => (proven.includes(each) ? [] : [notIt(receipt, each.index)])),
    ...before.flatMap((each, at) => {
      const next = at + 1 < before.length ? before[at + 1]?.receipt : receiptOf(node);
      if (maySettle(each.receipt, next)) return [];
      return [{ ...notIt(receipt, each.index), field: 'receipt', found: 'what it cannot have become' }];
    }),
  ];
  const numbers = [...before.map(({ index }) => index), ...(isThere ? [own.index] : [])].map(Number);
  return {
    node,
    faults,
    isProven,
    indexes: numbers.toSorted((a, b) => a - b),
    index: isThere ? Number(own.index) : null,
    places: [...proven, ...(isProven ? [{ index: own.index, leaf: present }] : [])].map(placeOf),
  };
}

const placeOf = ({ index, leaf }: { readonly index?: unknown; readonly leaf: string }): ProvenEntry => ({
  index: Number(index),
  leaf,
});

/** A receipt can be settled a few times, and facts that come late can make further entries. */
const mostSteps = 8;

const notIt = (receipt: string, index: unknown): PackMismatch => ({
  receipt,
  field: 'log',
  expected: `the entry ${shown(index)} of the log`,
  found: 'a receipt that is not it',
});

export const leafOf = (node: Node): string => leafHash(canonicalText(receiptOf(node)));
const replacedLeaf = ({ leaf_hash, receipt }: Node): string =>
  isNode(receipt) ? leafHash(canonicalText(receipt)) : String(leaf_hash);

export async function checkSigned(
  checkpoint: Checkpoint,
  head: Node,
  trust: Trust,
  field: string,
): Promise<PackMismatch[]> {
  const signature = await checkCheckpoint(checkpoint, trust);
  if (signature === 'invalid' || signature === 'unknown_key')
    return [ofPack(`${field}.signature`, 'a signature of a key that is trusted', signature)];
  if (checkpoint.account === head.account) return [];
  return [ofPack(`${field}.account`, shown(head.account), shown(checkpoint.account))];
}

/** If nothing is wrong, an hour is logged a quarter of an hour after its end. */
const patienceMs = 2 * hourMs;
export const timeOf = (time: unknown): number => Date.parse(String(time));

/** Whether the log should have had a call by then. */
export const isLongOver = (node: Node, by: unknown): boolean =>
  (Math.floor(timeOf(node.created_at) / hourMs) + 1) * hourMs + patienceMs < timeOf(by);

/** Whether a pack has all receipts of its period. */
export const hasAllOfItsTime = ({ selection, temporal }: Node): boolean =>
  isNode(temporal) &&
  isNode(selection) &&
  ['model', 'region', 'receipt_ids'].every((filter) => selection[filter] === undefined);
