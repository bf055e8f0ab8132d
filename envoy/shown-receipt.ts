/**
 * Reads receipts that a client has certainly seen from Envoy's access log: degraded.lua finished the reply without the sidecar, or the
 * sidecar found no store (`unsaved`).
 *
 * Invariant: Envoy reports them to the sidecar and to ext-authz, so that they survive the death of the sidecar. The ledger accepts them
 * from either, and more than once.
 */
import { identityNamespace } from '@gw/contract/internal/identity';
import type { StreamAccessLogsMessage } from '@gw/grpc/service';

export type AccessLogEntry = NonNullable<NonNullable<StreamAccessLogsMessage['httpLogs']>['logEntry']>[number];

export interface ShownReceipt {
  readonly receiptId: string;
  /** A LedgerEntry as JSON. */
  readonly entry: string;
}

export const accessLogEntries = (message: StreamAccessLogsMessage): readonly AccessLogEntry[] =>
  message.httpLogs?.logEntry ?? [];

/** Envoy's status if the sidecar did not answer in time. */
const givenUp = 500;

/** Returns the id of a request that was aborted before the sidecar answered, so that no provider was asked; otherwise null. */
export function unsentRequest(logged: AccessLogEntry): string | null {
  if (gwFields(logged)?.receipt_id?.stringValue || logged.response?.responseCode?.value !== givenUp) return null;
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

/** Returns null if the sidecar finished the reply, or if the log lacks the owner. */
export function shownReceipt(logged: AccessLogEntry): ShownReceipt | null {
  const gw = gwFields(logged);
  const receiptId = gw?.receipt_id?.stringValue;
  if (!gw?.shown?.boolValue || !receiptId) return null;
  const unsaved = gw.unsaved?.stringValue;
  const entry = unsaved || degradedEntry(logged, ',"shown":true');
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
  const entry = degradedEntry(logged, '');
  return entry ? { receiptId, entry } : null;
}

/** `rest` has further members of the JSON object. */
function degradedEntry(logged: AccessLogEntry, rest: string): string | null {
  const { degraded: block, assumed: amounts } = gwFields(logged) ?? {};
  const degraded = block?.stringValue;
  const assumed = amounts?.stringValue;
  const caller = loggedCaller(logged);
  const endpoint = logged.request?.path?.split('?', 1)[0];
  if (!degraded || !caller || !endpoint) return null;
  const head = JSON.stringify({ ...caller, endpoint });
  return `${head.slice(0, -1)},"receipt":${degraded},"routingTrace":null,"facts":null${assumed ? `,"assumed":${assumed}` : ''}${rest}}`;
}
