/** The time inside a receipt id: it places the row in its partition, so that a replay finds the same one. */
import { receiptIdPattern } from '@gw/contract/management';

/** Returns the time, ms exact; null if this is not a receipt id, or its year is beyond 9999. */
export function timeOfReceipt(id: string): Date | null {
  if (!receiptIdPattern.test(id)) return null;
  const digits = id.slice('rcpt_'.length).replaceAll('-', '').slice(0, 12);
  const time = new Date(Number.parseInt(digits, 16));
  return Number.isNaN(time.getTime()) || time.getUTCFullYear() > 9999 ? null : time;
}
