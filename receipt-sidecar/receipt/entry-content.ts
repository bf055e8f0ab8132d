/** The entry of a call for the ledger: whose it is, the columns of its receipt, and its texts. */
import type { Amounts } from '@gw/contract/internal/budgets';
import type { EntryColumns, EntryContent, EntrySealer } from '@gw/contract/internal/sealed-entry';
import type { ReceiptNumbers } from '@gw/contract/receipt';
import { countsIn, receiptCounts } from '@gw/contract/receipt-counts';
import { unknownNumbers } from '@gw/contract/unknown-numbers';
import { shapeOf } from '../api/shapes.ts';
import type { Caller } from '../guards/caller.ts';
import { type CallIdentity, type CallOutcome, modelServed, unattended, unattendedReceipt } from './receipt.ts';

/** Envoy and the readers of its log finish a call with this if this process does not. */
export interface StandIn {
  /** The receipt that the client gets. */
  readonly degraded: string;
  /** The amounts that then count in the budgets of the call, as JSON; null if it has none. */
  readonly assumed: string | null;
  /** Makes an entry of the two (`standIn` of the contract), in base64. */
  readonly sealed: string;
}

interface EntryTexts {
  readonly receipt: string;
  /** Null or empty: there is none. */
  readonly trace: string | null;
  readonly facts: string | null;
  /** Counts in budgets where the receipt has no number; null if it has all, or the call has no budgets. */
  readonly assumed: Amounts | null;
}

type Owner = Pick<Caller, 'accountId' | 'keyId'>;

/** `numbers`: null if the receipt of the call has none. */
export function entryContent(
  { accountId, keyId }: Owner,
  call: CallIdentity,
  { numbers, outcome }: { readonly outcome: ColumnFacts; readonly numbers: ReceiptNumbers | null },
  { assumed, facts, receipt, trace }: EntryTexts,
): EntryContent {
  const { path: endpoint } = shapeOf(call.request.endpoint);
  const texts = { receipt, trace, facts, assumed: assumed === null ? null : JSON.stringify(assumed) };
  return { account_id: accountId, key_id: keyId, endpoint, ...columnsOf(call, outcome, numbers), ...texts };
}

type ColumnFacts = Pick<CallOutcome, 'servedBy' | 'status' | 'usage'>;

function columnsOf(
  call: CallIdentity,
  { servedBy, status, usage }: ColumnFacts,
  numbers: ReceiptNumbers | null,
): Omit<EntryColumns, 'account_id' | 'endpoint' | 'key_id'> {
  const { energy_wh, carbon_g } = numbers ?? unknownNumbers;
  return {
    id: call.receiptId,
    version: 1,
    model: modelServed(call.route, servedBy).id,
    region: servedBy?.region.code ?? null,
    tier: numbers?.tier ?? 'degraded',
    status,
    ...countsIn(numbers ?? receiptCounts(usage)),
    energy_wh,
    carbon_g,
  };
}

/** Returns what stands in for a call if this process dies, and its entry while it runs. */
export function standInOf(
  sealer: Pick<EntrySealer, 'sealStandIn'>,
  owner: Owner,
  call: CallIdentity,
  assumed: Amounts | null,
): readonly [StandIn, pending: Buffer] {
  const degraded = unattendedReceipt(call);
  const texts = { receipt: degraded, trace: null, facts: null, assumed };
  const content = entryContent(owner, call, { outcome: unattended, numbers: null }, texts);
  const [sealed, pending] = sealer.sealStandIn(content);
  return [{ degraded, assumed: content.assumed, sealed }, pending];
}
