/** A receipt as a node of a pack, and back. Nothing of it is lost on the way. */
import type { Receipt } from '@gw/contract/receipt';
import { isDecimal, plainDecimal } from './decimal.ts';
import { isAmount } from './quantities.ts';

/** What can be said in a pack of one version of a receipt. */
export interface PackedReceipt {
  readonly receipt: Receipt;
  /** As `GET /v1/gw/lineage/{id}` gives it; null if it was not asked for. */
  readonly lineage: unknown;
}

export type Node = Readonly<Record<string, unknown>>;

const urnOf = (id: unknown, version: unknown): string => `urn:gw:receipt:${id}:${version}`;
export const gatewayOf = (baseUrl: string): string => `${baseUrl}/#gateway`;
export const planOf = (hash: string): string => `urn:gw:methodology:${hash.replace('sha256:', '')}`;

export function receiptNode({ receipt, lineage }: PackedReceipt, baseUrl: string): Node {
  const { id, object: _, ...fields } = receipt;
  const stated = Object.entries(fields).map(([field, value]) => [
    field,
    isAmount(field) && typeof value === 'number' ? plainDecimal(value) : value,
  ]);
  return {
    id: urnOf(id, receipt.version),
    type: ['prov:Entity', 'gw:Receipt'],
    receipt_id: id,
    ...Object.fromEntries(stated),
    ...(receipt.supersedes !== null && { wasRevisionOf: urnOf(id, receipt.supersedes) }),
    ...(receipt.methodology_hash !== null && { wasGeneratedBy: assessment(receipt.methodology_hash, baseUrl) }),
    ...(lineage !== null && { lineage }),
  };
}

const assessment = (hash: string, baseUrl: string): Node => ({
  type: ['prov:Activity'],
  qualifiedAssociation: { type: ['prov:Association'], agent: gatewayOf(baseUrl), hadPlan: planOf(hash) },
});

const ofNode = ['id', 'type', 'receipt_id', 'wasRevisionOf', 'wasGeneratedBy', 'lineage'];

/** The fields of the receipt that a node states; amounts are numbers again. */
export function receiptOf(node: Node): Readonly<Record<string, unknown>> {
  const fields = Object.entries(node)
    .filter(([field]) => !ofNode.includes(field))
    .map(([field, value]) => [field, isAmount(field) && isDecimal(value) ? Number(value) : value]);
  return { id: node.receipt_id, object: 'gw.receipt', ...Object.fromEntries(fields) };
}
