/** Receipts lie in one partition per month; the default partition takes what comes before its month is made. */
import { elementAt } from '@gw/contract/internal/defined';
import type { Queryable } from './client.ts';

/** How many months are made ahead: the current one and three more, so that a job that fails for weeks loses nothing. */
export const partitionMonths = 4;

/** Makes the missing partitions of `months` months from the month of `from` (UTC) on. Returns how many it made. */
export async function ensurePartitions(db: Queryable, from: Date, months: number = partitionMonths): Promise<number> {
  const firstDay = from.toISOString().slice(0, 10);
  const rows = await db.$queryRaw<{ made: number }[]>`
    SELECT ensure_receipt_partitions(${firstDay}::date, ${months}::int) AS made`;
  return elementAt(rows, 0).made;
}
