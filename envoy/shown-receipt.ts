/**
 * Reads receipts that a client has certainly seen from Envoy's access log: degraded.lua finished the reply without the sidecar, or the
 * sidecar found no store (`unsaved`).
 *
 * Invariant: what is put together here opens only if the sidecar has sealed it. Envoy reports them to the sidecar and to ext-authz, so that they survive the death of the sidecar. The ledger accepts them
 * from either, and more than once.
 */
import { identityNamespace } from '@gw/contract/internal/identity';
import { standIn } from '@gw/contract/internal/sealed-entry';
import type { StreamAccessLogsMessage } from '@gw/grpc/service';

export type AccessLogEntry = NonNullable<NonNullable<StreamAccessLogsMessage['httpLogs']>['logEntry']>[number];

export interface ShownReceipt {
  readonly receiptId: string;
  /** The entry that its sidecar has sealed. */
  readonly entry: Buffer;
}

export const accessLogEntries = (message: StreamAccessLogsMessage): readonly AccessLogEntry[] =>
  message.httpLogs?.logEntry ?? [];

/** Whether the sidecar did not answer in time, so that the sink did; or something failed in Envoy itself. */
const isGivenUp = ({ response }: AccessLogEntry): boolean =>
  response?.responseCode?.value === 500 ||
  (response?.responseCode?.value === 503 && response.responseCodeDetails === 'via_upstream');

/** Returns the id of a request that was aborted before the sidecar answered, so that no provider was asked; otherwise null. */
export function unsentRequest(logged: AccessLogEntry): string | null {
  if (gwFields(logged)?.receipt_id?.stringValue || !isGivenUp(logged)) return null;
  return logged.request?.requestId || null;
}

/** The sidecar's metadata. */
export const gwFields = ({ commonProperties }: AccessLogEntry) =>
  commonProperties?.metadata?.filterMetadata?.gw?.fields;

/** Returns the owner of the call; null if the log lacks it, which should not happen. */
export function loggedCaller({ commonProperties }: AccessLogEntry) {
  const identity = commonProperties?.metadata?.filterMetadata?.[identityNamespace]?.fields;
  const accountId = identity?.account_id?.stringValue;
  const keyId = identity?.key_id?.stringValue;
  return accountId && keyId ? { accountId, keyId } : null;
}

/** Returns null if the sidecar finished the reply. */
export function shownReceipt(logged: AccessLogEntry): ShownReceipt | null {
  const gw = gwFields(logged);
  const receiptId = gw?.receipt_id?.stringValue;
  if (!gw?.shown?.boolValue || !receiptId) return null;
  const unsaved = gw.unsaved?.stringValue;
  const entry = unsaved ? Buffer.from(unsaved, 'base64') : degradedEntry(logged, 'shown');
  return entry ? { receiptId, entry } : null;
}

/**
 * Returns the entry of a call whose sidecar has not reported its end, and whose client has seen no receipt because it left or got an
 * error; otherwise null. A report of the sidecar replaces it.
 */
export function unattendedReceipt(logged: AccessLogEntry): ShownReceipt | null {
  const gw = gwFields(logged);
  const receiptId = gw?.receipt_id?.stringValue;
  if (!receiptId || gw?.shown?.boolValue || gw?.done?.boolValue) return null;
  const entry = degradedEntry(logged, 'left');
  return entry ? { receiptId, entry } : null;
}

function degradedEntry(logged: AccessLogEntry, state: 'left' | 'shown'): Buffer | null {
  const { assumed, degraded, stand_in: sealed } = gwFields(logged) ?? {};
  if (!degraded?.stringValue || !sealed?.stringValue) return null;
  const texts = { receipt: degraded.stringValue, assumed: assumed?.stringValue || null };
  return standIn(sealed.stringValue, texts, state);
}
