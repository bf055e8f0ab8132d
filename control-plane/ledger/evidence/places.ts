/**
 * Places for what only few may do at once, because each of them holds memory.
 *
 * Invariants: an account has a share of the places, and never more, so that whoever takes all that it can get leaves room for others.
 * Nobody waits for a place (closed: who finds none is told to ask again).
 */
import { type ApiError, apiError } from '@gw/contract/errors';

export interface PlaceBounds {
  readonly inAll: number;
  readonly ofAccount: number;
  /** What they are for, in a sentence behind how many the account has: `evidence packs being made`. */
  readonly what: string;
  readonly retryAfterS: number;
}

export interface Place {
  /** Gives it back; more than once does nothing. */
  leave(): void;
}

export class Places {
  readonly #bounds: PlaceBounds;
  readonly #taken = new Map<string, number>();
  #inAll = 0;

  constructor(bounds: PlaceBounds) {
    this.#bounds = bounds;
  }

  take(accountId: string): Place | { readonly refused: ApiError } {
    const { inAll, ofAccount, retryAfterS, what } = this.#bounds;
    const own = this.#taken.get(accountId) ?? 0;
    if (own >= ofAccount) {
      const message = `This account has ${ofAccount} ${what} already, as many as it may at once. Ask again after the time in Retry-After.`;
      return { refused: apiError('overloaded', { message, retryAfterS }) };
    }
    if (this.#inAll >= inAll) return { refused: apiError('overloaded', { retryAfterS }) };
    this.#taken.set(accountId, own + 1);
    this.#inAll += 1;
    let isTaken = true;
    return {
      leave: () => {
        if (isTaken) this.#leave(accountId);
        isTaken = false;
      },
    };
  }

  #leave(accountId: string): void {
    this.#inAll -= 1;
    const left = (this.#taken.get(accountId) ?? 1) - 1;
    if (left === 0) this.#taken.delete(accountId);
    else this.#taken.set(accountId, left);
  }
}
