/** What calls are given. */
import type { Addresses } from '@gw/contract/errors';
import type { Watchers } from './attempt-watch.ts';
import type { Books } from './call-record.ts';
import type { Caller } from './caller.ts';
import type { Ends } from './ends.ts';
import type { IdempotencyMetrics } from './idempotency/metrics.ts';
import type { CallLimits } from './leased-limits.ts';
import type { OverheadMetrics } from './overhead.ts';
import type { Steps } from './request/admission.ts';
import type { Timeouts } from './request/headers.ts';
import type { ReadReply } from './response/json-reply.ts';
import type { Catalogue } from './snapshot.ts';

export interface CallContext extends Timeouts, Steps, Watchers, Omit<Books, 'failedAttempts'> {
  readonly addresses: Addresses;
  readonly catalogue: () => Catalogue | null;
  readonly readReply: ReadReply;
  readonly idempotencyMetrics: Pick<IdempotencyMetrics, 'ended'>;
  readonly ends: Pick<Ends, 'ask'>;
  readonly now: () => number;
  readonly overhead: Pick<OverheadMetrics, 'of'>;
  readonly limitsOf: (leased: Caller['leased']) => CallLimits;
}
