/**
 * The receipt that a client was shown for certain, from Envoy's access log: the last resort has finished a reply without
 * the sidecar, or the sidecar has found no store for it (`unsaved`).
 *
 * Invariant: it is told to the sidecar and to ext-authz, so that the death of the sidecar does not take this word with it.
 * The ledger takes it from either; twice is as good as once.
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

/** Envoy's answer where none came in time from the sidecar. */
const givenUp = 500;

/** The id of a request that was given up before Envoy heard from the sidecar, so that no provider was asked; null for all others. */
export function unsentRequest(logged: AccessLogEntry): string | null {
  if (gwFields(logged)?.receipt_id?.stringValue || logged.response?.responseCode?.value !== givenUp) return null;
  return logged.request?.requestId || null;
}

/** What the sidecar left in the metadata `gw`. */
export const gwFields = ({ commonProperties }: AccessLogEntry) =>
  commonProperties?.metadata?.filterMetadata?.gw?.fields;

/** Whose call it is; null if the log does not tell, which it always does. */
export function loggedCaller({ commonProperties }: AccessLogEntry) {
  const identity = commonProperties?.metadata?.filterMetadata?.[identityNamespace]?.fields;
  const accountId = identity?.account_id?.stringValue;
  const keyId = identity?.key_id?.stringValue;
  return accountId && keyId ? { accountId, keyId } : null;
}

/** Null if the sidecar finished the reply, or if the log does not tell whose call it was, which it always does. */
export function shownReceipt(logged: AccessLogEntry): ShownReceipt | null {
  const gw = gwFields(logged);
  const receiptId = gw?.receipt_id?.stringValue;
  if (!gw?.shown?.boolValue || !receiptId) return null;
  const unsaved = gw.unsaved?.stringValue;
  const entry = unsaved || degradedEntry(logged, ',"shown":true');
  return entry ? { receiptId, entry } : null;
}

/**
 * The close of a call whose sidecar has not said that it was done, and whose client was shown no receipt: it left, or got an
 * error. Null for all others. Whatever the sidecar itself tells of the call takes its place.
 */
export function unattendedReceipt(logged: AccessLogEntry): ShownReceipt | null {
  const gw = gwFields(logged);
  const receiptId = gw?.receipt_id?.stringValue;
  if (!receiptId || gw?.shown?.boolValue || gw?.done?.boolValue) return null;
  const entry = degradedEntry(logged, '');
  return entry ? { receiptId, entry } : null;
}

/** `rest`: further members of the JSON object. */
function degradedEntry(logged: AccessLogEntry, rest: string): string | null {
  const { degraded: block, reserved: estimate } = gwFields(logged) ?? {};
  const degraded = block?.stringValue;
  const reserved = estimate?.stringValue;
  const caller = loggedCaller(logged);
  const endpoint = logged.request?.path?.split('?', 1)[0];
  if (!degraded || !caller || !endpoint) return null;
  const head = JSON.stringify({ ...caller, endpoint });
  return `${head.slice(0, -1)},"receipt":${degraded},"routingTrace":null,"facts":null${reserved ? `,"reserved":${reserved}` : ''}${rest}}`;
}
