/**
 * The receipt that a client was shown for certain, from Envoy's access log: the last resort has finished a reply without
 * the sidecar, or the sidecar has found no store for it (`unsaved`).
 *
 * Invariant: it is told to the sidecar and to ext-authz, so that the death of the sidecar does not take this word with it. The ledger takes it from either; twice is as good as once.
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
  if (unsaved) return { receiptId, entry: unsaved };
  const degraded = gw.degraded?.stringValue;
  if (!degraded) return null;
  const caller = loggedCaller(logged);
  const endpoint = logged.request?.path?.split('?', 1)[0];
  if (!caller || !endpoint) return null;
  const head = JSON.stringify({ ...caller, endpoint });
  const entry = `${head.slice(0, -1)},"receipt":${degraded},"routingTrace":null,"facts":null,"shown":true}`;
  return { receiptId, entry };
}
