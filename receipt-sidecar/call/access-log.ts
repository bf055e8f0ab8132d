/**
 * Reads Envoy's access log. It reports calls that ended without this process: a connection broke, or Envoy's last resort finished the
 * reply or refused the call, because an answer did not come in time. It also reports running streams (every ten seconds), failed
 * attempts, and requests that ended in an error before a provider was asked.
 *
 * Invariant: the ledger ends up with the receipt that the client was shown, even if this process, having stood still,
 * has made another one meanwhile.
 */

import {
  type AccessLogEntry,
  accessLogEntries,
  gwFields,
  loggedCaller,
  shownReceipt,
  unsentRequest,
} from '@gw/envoy/shown-receipt';
import type { StreamAccessLogsMessage } from '@gw/grpc/service';
import { type FirstAttempts, lostAttempt } from '../attempts/direct-first-attempts.ts';
import { type FailedAttempts, failedAttempt } from '../attempts/failed-attempts.ts';
import type { Lease } from '../guards/slots/leases.ts';
import type { LedgerWriter } from '../ledger/writer.ts';
import type { Ends } from '../receipt/ends.ts';

export interface AccessLogReaders {
  readonly ends: Pick<Ends, 'tell'>;
  readonly failedAttempts: Pick<FailedAttempts, 'tell'>;
  readonly firstAttempts: Pick<FirstAttempts, 'lost'>;
  readonly ledger: Pick<LedgerWriter, 'finish' | 'keep'>;
  /** Called for each stream with a slot that Envoy reports as running. */
  readonly runs: (lease: Lease) => void;
  /** Called for each request that ended with this status of an error and asked no provider. */
  readonly refused: (status: number) => void;
}

/** The numbers that the proto gives to `DownstreamPeriodic` and `UpstreamEnd`. */
const [underWay, attempt] = [5, 9];

/** Acts on each entry of a message, and waits for no store. */
export function readAccessLog(
  message: StreamAccessLogsMessage,
  { ends, failedAttempts, firstAttempts, ledger, refused, runs }: AccessLogReaders,
): void {
  for (const logged of accessLogEntries(message)) {
    const failed = failedAttempt(logged);
    if (failed) {
      failedAttempts.tell(failed.receiptId, failed.attempt);
      continue;
    }
    if (isOfAttempt(logged)) {
      const lost = lostAttempt(logged);
      if (lost) firstAttempts.lost(lost);
      continue;
    }
    if (isUnderWay(logged)) {
      const id = gwFields(logged)?.slot?.stringValue;
      const caller = loggedCaller(logged);
      if (id && caller) runs({ id, ...caller });
      continue;
    }
    const receiptId = gwFields(logged)?.receipt_id?.stringValue;
    if (!receiptId) {
      const status = logged.response?.responseCode?.value ?? 0;
      if (status >= 400) refused(status);
      const requestId = unsentRequest(logged);
      if (requestId !== null) ends.tell(requestId, 'unsent');
      continue;
    }
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

/** Whether the entry only reports a stream that runs, so that it says nothing of an end. */
const isUnderWay = (entry: AccessLogEntry): boolean => typeOf(entry) === underWay;

/** Whether the entry is of an attempt alone. */
const isOfAttempt = (entry: AccessLogEntry): boolean => typeOf(entry) === attempt;

const typeOf = ({ commonProperties }: AccessLogEntry): number => Number(commonProperties?.accessLogType ?? 0);
