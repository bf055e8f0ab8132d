/**
 * What Envoy's access log tells of calls that ended without this process: a connection broke, or Envoy's last resort
 * finished the reply because an answer did not come in time.
 *
 * Invariant: the ledger ends up with the receipt that the client was shown, even if this process, having stood still,
 * has made another one meanwhile.
 */
import type { StreamAccessLogsMessage } from '@gw/envoy/rpc/service';
import { accessLogEntries, gwFields, shownReceipt } from '@gw/envoy/shown-receipt';
import type { Ends } from './ends.ts';
import type { LedgerWriter } from './ledger/writer.ts';

export function readAccessLog(message: StreamAccessLogsMessage, ends: Ends, ledger: LedgerWriter): void {
  for (const logged of accessLogEntries(message)) {
    const receiptId = gwFields(logged)?.receipt_id?.stringValue;
    if (!receiptId) continue;
    const shown = shownReceipt(logged);
    if (shown) {
      ends.tell(receiptId, 'nobody');
      void ledger.finish(receiptId, shown.entry).then((stored) => {
        if (!stored) ledger.keep(receiptId, shown.entry);
      });
    } else {
      const flags = logged.commonProperties?.responseFlags;
      ends.tell(
        receiptId,
        flags?.downstreamConnectionTermination || flags?.downstreamRemoteReset ? 'client' : 'provider',
      );
    }
  }
}
