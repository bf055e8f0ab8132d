/** The dependencies of a call. */
import type { Addresses } from '@gw/contract/errors';
import type { Gates } from '../admission/admission.ts';
import type { Watchers } from '../attempts/watch-attempts.ts';
import type { Catalogue } from '../catalogue/snapshot.ts';
import type { Caller } from '../guards/caller.ts';
import type { IdempotencyMetrics } from '../guards/idempotency/metrics.ts';
import type { CallLimits } from '../guards/leased-limits.ts';
import type { Books } from '../receipt/books.ts';
import type { Ends } from '../receipt/ends.ts';
import type { ReadReply } from '../reply/reply-reader.ts';
import type { Timeouts } from '../wire/headers.ts';
import type { OverheadMetrics } from '../wire/overhead.ts';
import type { Room } from '../wire/room.ts';

export interface CallContext extends Timeouts, Gates, Watchers, Omit<Books, 'failedAttempts'> {
  readonly addresses: Addresses;
  readonly catalogue: () => Catalogue | null;
  readonly readReply: ReadReply;
  /** For large events of streams that are not complete yet. */
  readonly room: Room;
  readonly idempotencyMetrics: Pick<IdempotencyMetrics, 'ended'>;
  readonly ends: Pick<Ends, 'ask'>;
  readonly now: () => number;
  readonly overhead: Pick<OverheadMetrics, 'of'>;
  readonly limitsOf: (leased: Caller['leased'], length: string | undefined) => CallLimits;
}
