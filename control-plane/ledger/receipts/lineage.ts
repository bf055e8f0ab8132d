/**
 * How a receipt's numbers were made, from the facts that are stored with it.
 *
 * Invariant: a lineage is shown only if it gives every number of the stored receipt, by the methodology that made it.
 */
import { errorText } from '@gw/contract/internal/error-text';
import { type Revision, revisionSchema } from '@gw/contract/lineage';
import type { Receipt } from '@gw/contract/receipt';
import { callOf, type Lineage, lineageOf } from '@gw/methodology/lineage';
import { findMethodology } from '@gw/methodology/methodologies';
import { verify } from '@gw/methodology/recompute';
import type { StoredFacts } from './revision.ts';

/** The reply of `/v1/gw/lineage/{id}`. `lineage` is null if nothing was calculated, and `explanation` says why. */
export interface ReceiptLineage {
  readonly object: 'gw.receipt_lineage';
  readonly receipt_id: string;
  readonly receipt_version: number;
  readonly lineage: Lineage | null;
  readonly explanation: string | null;
  /** Why this version was made; null for the first. */
  readonly revision: Revision | null;
}

interface Explained {
  readonly json: string;
  readonly facts: StoredFacts | null;
}

/** The stored facts do not give the stored numbers. The message names the receipt and at most three differences. */
export class LineageMismatchError extends Error {
  constructor(receiptId: string, mismatches: readonly string[]) {
    super(`The stored facts of ${receiptId} do not give its numbers: ${mismatches.slice(0, 3).join('; ')}`);
  }
}

/**
 * `json` is the receipt's text, `facts` are whole. Throws LineageMismatchError if they contradict each other.
 */
export function receiptLineage({ facts, json }: Explained): ReceiptLineage {
  const receipt = JSON.parse(json) as Receipt;
  const about = { object: 'gw.receipt_lineage', receipt_id: receipt.id, receipt_version: receipt.version } as const;
  const revision = revisionSchema.safeParse(facts?.revision).data ?? null;
  const method = receipt.methodology === null ? null : findMethodology(receipt.methodology);
  if (receipt.tier === 'degraded' || facts === null || method === null) {
    return { ...about, lineage: null, explanation: receipt.explanation ?? 'Nothing was calculated.', revision };
  }
  const result = explained(receipt, () => lineageOf(facts, method.id, callOf(receipt, facts)));
  if (!result.ok) throw new LineageMismatchError(receipt.id, [result.explanation]);
  // The lineage was made here, so what its verification throws is a fault of the program.
  const verified = explained(receipt, () =>
    verify(result.lineage, receipt, (fault) => {
      throw fault;
    }),
  );
  if (!verified.ok) throw new LineageMismatchError(receipt.id, verified.mismatches);
  return { ...about, lineage: result.lineage, explanation: null, revision };
}

/**
 * Runs a step of the calculation, and turns what it throws into a LineageMismatchError: facts can have another shape.
 */
function explained<T>(receipt: Receipt, step: () => T): T {
  try {
    return step();
  } catch (error) {
    throw new LineageMismatchError(receipt.id, [errorText(error)]);
  }
}
