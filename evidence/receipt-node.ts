/** Turns a receipt into a node of a pack and back, without loss. */
import type { Receipt } from '@gw/contract/receipt';
import { canonicalText } from './canonical.ts';
import { isDecimal, plainDecimal } from './decimal.ts';
import { isAmount } from './quantities.ts';

/** One version of a receipt, with what a pack says of it. */
export interface PackedReceipt {
  readonly receipt: Receipt;
  /** The lineage as `GET /v1/gw/lineage/{id}` returns it; null if it was not asked for. */
  readonly lineage: unknown;
  /** The routing trace; null if there is none, absent if it was not asked for. */
  readonly routing?: unknown;
  /** Where the receipt is in the log of the account; absent: it is not in it yet. */
  readonly log?: ReceiptInLog;
}

/** A place in a log, with the path from there to the root. */
interface LogPlace {
  readonly index: number;
  readonly path: readonly string[];
}

/** `index` null: the log has the receipt only as it was before it was settled. */
export interface ReceiptInLog {
  readonly index: number | null;
  readonly path: readonly string[] | null;
  /** Entries of the same version that are not the receipt as it is now, in the order of the log. */
  readonly replaced?: readonly (LogPlace & {
    readonly leaf_hash: string;
    /** The receipt as it was; null: it is not known. */
    readonly receipt: unknown;
  })[];
}

export interface PackMismatch {
  /** The `id` of a receipt in the pack; null: the pack itself. */
  readonly receipt: string | null;
  readonly field: string;
  readonly expected: string;
  readonly found: string;
}

export const ofPack = (field: string, expected: string, found: string): PackMismatch => ({
  receipt: null,
  field,
  expected,
  found,
});
export const isNode = (value: unknown): value is Node =>
  typeof value === 'object' && value !== null && !Array.isArray(value);
export const shown = (value: unknown): string => {
  const text = value === undefined ? 'nothing' : canonicalText(value);
  return text.length > 120 ? `${text.slice(0, 117)}…` : text;
};

export type Node = Readonly<Record<string, unknown>>;

const urnOf = (id: unknown, version: unknown): string => `urn:gw:receipt:${id}:${version}`;
export const gatewayOf = (baseUrl: string): string => `${baseUrl}/#gateway`;
export const planOf = (hash: string): string => `urn:gw:methodology:${hash.replace('sha256:', '')}`;

export function receiptNode({ lineage, log, receipt, routing }: PackedReceipt, baseUrl: string): Node {
  const { id, object: _, ...fields } = receipt;
  const stated = Object.entries(fields).map(([field, value]) => [
    field,
    isAmount(field) && typeof value === 'number' ? plainDecimal(value) : value,
  ]);
  const node = { receipt_id: id, ...Object.fromEntries(stated) };
  return {
    ...provenanceOf(node, baseUrl),
    ...node,
    ...(lineage !== null && { lineage }),
    ...(routing !== undefined && { routing }),
    ...(log !== undefined && { log }),
  };
}

/** Returns the members of a node that follow from the fields of its receipt. */
export function provenanceOf({ methodology_hash, receipt_id, supersedes, version }: Node, baseUrl: string): Node {
  return {
    id: urnOf(receipt_id, version),
    type: ['prov:Entity', 'gw:Receipt'],
    ...(supersedes !== null && { wasRevisionOf: urnOf(receipt_id, supersedes) }),
    ...(typeof methodology_hash === 'string' && { wasGeneratedBy: assessment(methodology_hash, baseUrl) }),
  };
}
export const provenanceFields = ['id', 'type', 'wasRevisionOf', 'wasGeneratedBy'] as const;

const assessment = (hash: string, baseUrl: string): Node => ({
  type: ['prov:Activity'],
  qualifiedAssociation: { type: ['prov:Association'], agent: gatewayOf(baseUrl), hadPlan: planOf(hash) },
});

const ofNode: readonly string[] = [...provenanceFields, 'receipt_id', 'lineage', 'routing', 'log'];

/** Returns the receipt that a node states; amounts are numbers again. */
export function receiptOf(node: Node): Readonly<Record<string, unknown>> {
  const fields = Object.entries(node)
    .filter(([field]) => !ofNode.includes(field))
    .map(([field, value]) => [field, isAmount(field) && isDecimal(value) ? Number(value) : value]);
  return { id: node.receipt_id, object: 'gw.receipt', ...Object.fromEntries(fields) };
}
