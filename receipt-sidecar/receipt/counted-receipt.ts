/** What is counted of a receipt for Prometheus; of a degraded one its tokens alone. */
import type { ReceiptNumbers } from '@gw/contract/receipt';
import { type CallIdentity, type CallOutcome, modelServed, simulatedBy } from './receipt.ts';
import type { CountedReceipt } from './usage-metrics.ts';

/** `numbers`: null where the client was shown none. */
export function countedReceipt(
  { route }: CallIdentity,
  { servedBy, usage }: CallOutcome,
  numbers: ReceiptNumbers | null,
): CountedReceipt {
  return {
    model: modelServed(route, servedBy).id,
    region: servedBy?.region.code ?? null,
    ...simulatedBy(servedBy),
    energy_wh: numbers?.energy_wh ?? null,
    carbon_g: numbers?.carbon_g ?? null,
    water_ml: numbers?.water_ml ?? null,
    promptTokens: usage?.promptTokens ?? null,
    completionTokens: usage?.completionTokens ?? null,
  };
}
