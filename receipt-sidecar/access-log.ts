/**
 * What Envoy's access log tells of calls that ended without this process: a connection broke, or Envoy's last resort
 * finished the reply because an answer did not come in time.
 *
 * Invariant: the ledger ends up with the receipt that the client was shown, even if this process, having stood still,
 * has made another one meanwhile.
 */
import { identityNamespace } from '@gw/contract/internal/identity';
import type { StreamAccessLogsMessage } from '@gw/envoy/rpc/service';
import type { Ends } from './ends.ts';
import type { LedgerWriter } from './ledger/writer.ts';

type Entry = NonNullable<NonNullable<StreamAccessLogsMessage['httpLogs']>['logEntry']>[number];

export function readAccessLog(message: StreamAccessLogsMessage, ends: Ends, ledger: LedgerWriter): void {
  for (const entry of message.httpLogs?.logEntry ?? []) {
    const gw = entry.commonProperties?.metadata?.filterMetadata?.gw?.fields;
    const receiptId = gw?.receipt_id?.stringValue;
    if (!receiptId) continue;
    const shown = gw?.shown?.boolValue ? shownEntry(entry, gw.degraded?.stringValue) : null;
    if (shown !== null) {
      ends.tell(receiptId, 'nobody');
      void ledger.finish(receiptId, shown).then((stored) => {
        if (!stored) ledger.keep(receiptId, shown);
      });
    } else {
      const flags = entry.commonProperties?.responseFlags;
      ends.tell(
        receiptId,
        flags?.downstreamConnectionTermination || flags?.downstreamRemoteReset ? 'client' : 'provider',
      );
    }
  }
}

/** A LedgerEntry; null if the log does not tell whose call it was, which it always does. */
function shownEntry({ request, commonProperties }: Entry, degraded: string | null | undefined): string | null {
  const identity = commonProperties?.metadata?.filterMetadata?.[identityNamespace]?.fields;
  const accountId = identity?.account_id?.stringValue;
  const keyId = identity?.key_id?.stringValue;
  const endpoint = request?.path?.split('?', 1)[0];
  if (!accountId || !keyId || !endpoint || !degraded) return null;
  const head = JSON.stringify({ accountId, keyId, endpoint });
  return `${head.slice(0, -1)},"receipt":${degraded},"routingTrace":null,"facts":null,"shown":true}`;
}
