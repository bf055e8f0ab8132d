/**
 * What has become of a call that comes with an idempotency key, as an answer for its client.
 *
 * Invariant: a call that runs has the claim of its key. Fails closed: where nobody knows who runs, no provider is asked.
 */
import { type ApiError, apiError } from '@gw/contract/errors';
import { replayedHeader } from '@gw/contract/internal/idempotency-key';
import type { Found, Idempotency, StoredReply } from '@gw/service/idempotency';
import type { Claimed, Steps } from '../../admission/admission.ts';
import type { Caller } from '../caller.ts';
import type { IdempotencyMetrics } from './metrics.ts';

export interface FindClaimOptions {
  readonly idempotency: Pick<Idempotency, 'claim'>;
  /** Gives back what a call took of the day of its account and key. */
  readonly giveBack: (caller: Caller) => Promise<unknown>;
  readonly metrics: Pick<IdempotencyMetrics, 'found'>;
}

/** From when the body was whole: Envoy is asked once for more patience than this (`slow` in messages.ts). */
const waitMs = 20_000;
const param = 'Idempotency-Key';
/** Where it has waited already, and where there was no room for it. */
const retryAfterS = { waited: 1, crowded: 5 } as const;

export function makeFindClaim({ giveBack, idempotency, metrics }: FindClaimOptions): Steps['claim'] {
  return async ({ arrivedAt, caller, idempotencyKey: key, onGone, path }, { bodySha256: body, promptBytes: bytes }) => {
    if (key === null || body === undefined) throw new Error('A claim was asked for without an idempotency key.');
    const call = { accountId: caller.accountId, path, key, body };
    const found = await idempotency.claim(call, { mostMs: waitMs - (performance.now() - arrivedAt), bytes, onGone });
    metrics.found(found.is === 'claimed' && found.claim.mayHaveRun ? 'rerun' : found.is);
    if (found.is === 'claimed') return { outcome: 'claimed', claim: found.claim };
    if (found.is !== 'replay') return refused(found);
    // It counts once with the first. Not awaited: a limit that was too strict by one call harms nobody.
    giveBack(caller).catch(() => undefined);
    return { outcome: 'replayed', reply: replayed(found.reply) };
  };
}

const replayed = (reply: StoredReply): StoredReply => ({
  ...reply,
  headers: { ...reply.headers, [replayedHeader]: 'true' },
});

function refused(found: Exclude<Found, { readonly is: 'claimed' | 'replay' }>): Claimed {
  const because = (error: ApiError) => ({ outcome: 'refused', error }) as const;
  switch (found.is) {
    case 'reused':
      return because(apiError('idempotency_key_reused', { param }));
    case 'running':
      return because(
        apiError('idempotency_in_progress', { retryAfterS: retryAfterS[found.waited ? 'waited' : 'crowded'] }),
      );
    case 'unknown':
      return because(apiError('idempotency_unavailable', { retryAfterS: 1 }));
    case 'not_kept': {
      const { reference } = found;
      const message = `A call with this Idempotency-Key was answered, and its reply was not kept. Its receipt is ${reference}.`;
      return { ...because(apiError('idempotency_reply_not_kept', { message, param })), receiptId: reference };
    }
  }
}
