/** A LedgerEntry as JSON, put together from JSON texts. */
import type { Amounts } from '@gw/contract/internal/budgets';
import type { ParsedRequest } from '../api/parsed-request.ts';
import type { Caller } from '../guards/caller.ts';

const path = { chat: '/v1/chat/completions', completions: '/v1/completions', embeddings: '/v1/embeddings' } as const;

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
  const head = JSON.stringify({ accountId, keyId, endpoint: path[endpoint] });
  const tail = `${reserved === undefined ? '' : `,"reserved":${JSON.stringify(reserved)}`}${shown ? ',"shown":true' : ''}`;
  return `${head.slice(0, -1)},"receipt":${receipt},"routingTrace":${trace},"facts":${facts}${tail}}`;
}
