/** The entry of a call for the ledger, put together from JSON texts. */
import type { Amounts } from '@gw/contract/internal/budgets';
import { shapeOf } from '../api/shapes.ts';
import type { Caller } from '../guards/caller.ts';

interface EntryTexts {
  readonly receipt: string;
  readonly trace: string;
  readonly facts: string;
  /** Counts in budgets where the receipt has no number; null if it has all, or the call has no budgets. */
  readonly assumed: Amounts | null;
  /** Whether the client has seen the receipt. */
  readonly isShown?: boolean;
}

/** Returns a LedgerEntry as JSON. `endpoint`: the name of the API's shape. */
export function entryText(
  { accountId, keyId }: Pick<Caller, 'accountId' | 'keyId'>,
  endpoint: string,
  { assumed, facts, isShown = false, receipt, trace }: EntryTexts,
): string {
  const head = JSON.stringify({ accountId, keyId, endpoint: shapeOf(endpoint).path });
  const tail = `${assumed === null ? '' : `,"assumed":${JSON.stringify(assumed)}`}${isShown ? ',"shown":true' : ''}`;
  return `${head.slice(0, -1)},"receipt":${receipt},"routingTrace":${trace},"facts":${facts}${tail}}`;
}
