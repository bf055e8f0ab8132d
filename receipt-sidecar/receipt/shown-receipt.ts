import type { UsageAdditions } from '../wire/json-body.ts';
import { bindingOf, type CallIdentity, type CallOutcome, type MadeReceipt } from './receipt.ts';

/** The parts of a receipt that the client sees, as JSON texts. */
export interface ShownReceipt extends UsageAdditions {
  /** The receipt, and the salt of its digests if it has any. */
  readonly gw: string;
}

/** Returns a receipt as the client gets it: with the salt of its digests, which nobody else gets. */
export function shownReceipt(
  call: CallIdentity,
  outcome: CallOutcome,
  { inUsage, receipt }: Pick<MadeReceipt, 'inUsage' | 'receipt'>,
): ShownReceipt {
  const binding = bindingOf(call, outcome);
  return { gw: binding ? `${receipt.slice(0, -1)},"salt":"${binding.salt}"}` : receipt, ...inUsage };
}
