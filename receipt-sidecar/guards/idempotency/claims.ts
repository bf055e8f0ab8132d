/**
 * Claims the idempotency key of a call, or answers from the call that had the key before.
 *
 * Invariant: a call in flight holds the claim of its key. It fails closed: if it is unknown who holds the claim, no provider is asked.
 */
import { type ApiError, apiError } from '@gw/contract/errors';
import { defined } from '@gw/contract/internal/defined';
import { replayedHeader } from '@gw/contract/internal/idempotency-key';
import type { Claim, ClaimResult, Idempotency, StoredReply } from '@gw/service/idempotency';
import type { ParsedRequest } from '../../api/port/parsed-request.ts';
import type { Caller } from '../caller.ts';
import type { IdempotencyMetrics } from './metrics.ts';

export interface RequestWithKey {
  readonly caller: Caller;
  readonly path: string;
  readonly idempotencyKey: string;
  /** When the whole body had arrived, by `performance.now`. */
  readonly arrivedAt: number;
  /** Calls `then` when the client disconnects, or at once if it has. */
  readonly onGone: (then: () => void) => void;
}

/** `receiptId`: the receipt of the earlier call that the refusal is about. */
export type ClaimOutcome =
  | { readonly outcome: 'claimed'; readonly claim: Claim }
  | { readonly outcome: 'replayed'; readonly reply: StoredReply }
  | { readonly outcome: 'refused'; readonly error: ApiError; readonly receiptId?: string };

export interface ClaimsOptions {
  readonly idempotency: Pick<Idempotency, 'claim'>;
  /** Gives back what the call took from the daily limits of its account and key. */
  readonly giveBack: (caller: Caller) => Promise<unknown>;
  readonly metrics: Pick<IdempotencyMetrics, 'found'>;
}

/** How long a call waits for another one, from when its body had arrived; Envoy is asked once to wait longer than this. */
const waitMs = 20_000;
const param = 'Idempotency-Key';
/** `waited`: the call has waited here; `crowded`: there was no room to wait. */
const retryAfterS = { waited: 1, crowded: 5 } as const;

export class Claims {
  readonly #options: ClaimsOptions;

  constructor(options: ClaimsOptions) {
    this.#options = options;
  }

  async find(keyed: RequestWithKey, request: Pick<ParsedRequest, 'bodySha256' | 'promptBytes'>): Promise<ClaimOutcome> {
    const { giveBack, idempotency, metrics } = this.#options;
    const { arrivedAt, caller, idempotencyKey: key, onGone, path } = keyed;
    const body = defined(request.bodySha256, 'The hash of a body that came with an idempotency key');
    const call = { accountId: caller.accountId, path, key, body };
    const mostMs = waitMs - (performance.now() - arrivedAt);
    const found = await idempotency.claim(call, { mostMs, bytes: request.promptBytes, onGone });
    metrics.found(found.is === 'claimed' && found.claim.mayHaveRun ? 'rerun' : found.is);
    if (found.is === 'claimed') return { outcome: 'claimed', claim: found.claim };
    if (found.is !== 'replay') return refused(found);
    // A replay counts once, with the first call. It is not awaited: a limit that is too strict by one call is harmless.
    giveBack(caller).catch(() => undefined);
    return { outcome: 'replayed', reply: replayed(found.reply) };
  }
}

const replayed = (reply: StoredReply): StoredReply => ({
  ...reply,
  headers: { ...reply.headers, [replayedHeader]: 'true' },
});

function refused(found: Exclude<ClaimResult, { readonly is: 'claimed' | 'replay' }>): ClaimOutcome {
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
