/**
 * Bounds how many requests do something at a time that holds memory.
 *
 * Invariants: an account gets at most its share of the places, so that a greedy one leaves room for others.
 * Nobody waits for a place (closed: a request without one is told to ask again).
 */
import { type ApiError, apiError } from '@gw/contract/errors';
import { defined } from '@gw/contract/internal/defined';

export interface PlaceBounds {
  readonly inAll: number;
  readonly ofAccount: number;
  /** The plural noun that follows the number of places in a message: `evidence packs being made`. */
  readonly what: string;
  readonly retryAfterS: number;
}

export interface TakenPlace {
  /** Gives the place back. Further calls do nothing. */
  leave(): void;
}

export class Places {
  readonly #bounds: PlaceBounds;
  readonly #taken = new Map<string, number>();
  #inAll = 0;

  constructor(bounds: PlaceBounds) {
    this.#bounds = bounds;
  }

  take(accountId: string): TakenPlace | { readonly refused: ApiError } {
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
    const left = defined(this.#taken.get(accountId), 'The number of places that the account has') - 1;
    if (left === 0) this.#taken.delete(accountId);
    else this.#taken.set(accountId, left);
  }
}
