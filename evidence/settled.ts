/**
 * A stored first version may change in two ways (the trigger `guard_receipt` refuses all others): it becomes the degraded receipt that the client was
 * shown, or, if it was closed for a sidecar that went away, the receipt that the sidecar had made.
 */
import { isNode } from './receipt-node.ts';

const isWithoutNumbers = ({ carbon_g, energy_wh, tier }: Readonly<Record<string, unknown>>): boolean =>
  tier === 'degraded' && energy_wh === null && carbon_g === null;

/** Both are receipts as clients have them. */
export function maySettle(before: unknown, after: unknown): boolean {
  if (!isNode(before) || !isNode(after)) return false;
  const isSameCall = (['id', 'version', 'created_at'] as const).every((field) => before[field] === after[field]);
  const away = 'sidecar_unavailable';
  const becomesMade = isWithoutNumbers(before) && before.degraded_reason === away && after.degraded_reason !== away;
  return isSameCall && after.version === 1 && (isWithoutNumbers(after) || becomesMade);
}
