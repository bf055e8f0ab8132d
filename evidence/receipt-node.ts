/** A receipt as a node of a pack, and back. Nothing of it is lost on the way. */
import type { Receipt } from '@gw/contract/receipt';
import { canonicalText } from './canonical.ts';
import { isDecimal, plainDecimal } from './decimal.ts';
import { isAmount } from './quantities.ts';

/** What can be said in a pack of one version of a receipt. */
export interface PackedReceipt {
  readonly receipt: Receipt;
  /** As `GET /v1/gw/lineage/{id}` gives it; null if it was not asked for. */
  readonly lineage: unknown;
  /** Where it is in the log of the account; absent: not yet. */
  readonly log?: ReceiptInLog;
}

/** A place in a log, with the way from there to the root. */
interface LogPlace {
  readonly index: number;
  readonly path: readonly string[];
}

/** `index` null: the log has only what the receipt was before it was settled. */
export interface ReceiptInLog {
  readonly index: number | null;
  readonly path: readonly string[] | null;
  /** What the log has of the same version, and is not the receipt as it is now, in the order of the log. */
  readonly replaced?: readonly (LogPlace & {
    readonly leaf_hash: string;
    /** As it was; null: nobody knows. */
    readonly receipt: unknown;
  })[];
}

export interface PackMismatch {
  /** `id` of a receipt in the pack; null: of the pack itself. */
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

export function receiptNode({ lineage, log, receipt }: PackedReceipt, baseUrl: string): Node {
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
    ...(log !== undefined && { log }),
  };
}

/** What of a node follows from the fields of its receipt. */
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

const ofNode: readonly string[] = [...provenanceFields, 'receipt_id', 'lineage', 'log'];

/** The fields of the receipt that a node states; amounts are numbers again. */
export function receiptOf(node: Node): Readonly<Record<string, unknown>> {
  const fields = Object.entries(node)
    .filter(([field]) => !ofNode.includes(field))
    .map(([field, value]) => [field, isAmount(field) && isDecimal(value) ? Number(value) : value]);
  return { id: node.receipt_id, object: 'gw.receipt', ...Object.fromEntries(fields) };
}
