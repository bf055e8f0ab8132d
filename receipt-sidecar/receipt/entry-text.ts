/** A LedgerEntry as JSON, put together from JSON texts. */
import type { Amounts } from '@gw/contract/internal/budgets';
import type { ParsedRequest } from '../api/port/parsed-request.ts';
import { shapeOf } from '../api/shapes.ts';
import type { Caller } from '../guards/caller.ts';

export interface EntryHead {
  readonly caller: Pick<Caller, 'accountId' | 'keyId'>;
  readonly endpoint: ParsedRequest['endpoint'];
  /** What was reserved of budgets, where that is to be counted. */
  readonly reserved: Amounts | undefined;
  /** Whether the client was shown this very receipt. */
  readonly shown: boolean;
}

export function entryText(
  { caller: { accountId, keyId }, endpoint, reserved, shown }: EntryHead,
  { facts, receipt, trace }: { readonly receipt: string; readonly trace: string; readonly facts: string },
): string {
  const head = JSON.stringify({ accountId, keyId, endpoint: shapeOf(endpoint).path });
  const tail = `${reserved === undefined ? '' : `,"reserved":${JSON.stringify(reserved)}`}${shown ? ',"shown":true' : ''}`;
  return `${head.slice(0, -1)},"receipt":${receipt},"routingTrace":${trace},"facts":${facts}${tail}}`;
}
