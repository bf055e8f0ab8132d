/** What becomes of a pending receipt whose holder died: the same block, wherever it is closed. */
import type { Receipt } from '../receipt.ts';

const explanation =
  'The part of the gateway that measures a call stopped before this call ended, so its energy is not known.';

/** Closes it as degraded. What the holder already wrote (explanation, reason of the tier) is kept. */
export function closeUnattended(pending: Receipt): Receipt {
  return {
    ...pending,
    status: 'complete',
    tier: 'degraded',
    degraded_reason: 'sidecar_unavailable',
    explanation: pending.explanation ?? explanation,
    recalculable: pending.recalculable ?? false,
  };
}
