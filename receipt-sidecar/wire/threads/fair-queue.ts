/**
 * Queues jobs by account.
 *
 * Invariants: accounts take turns by what their jobs cost, so that nobody waits for more than one job of each other account, and who sends
 * costlier jobs has fewer turns; no account has more in the queue than its own bounds allow; and when the queue is full, the account that holds
 * most gives way, so that no accounts can fill the queue for others.
 */

/** Running jobs count too. */
export interface QueueBounds {
  readonly maxJobs: number;
  readonly maxSize: number;
  readonly maxJobsOfAccount: number;
  /** A single job of an account may be larger. */
  readonly maxSizeOfAccount: number;
}

/** `size` is in the unit of the bounds, which is bytes here; `cost` is an estimate of the work, in any unit. */
export interface Queued {
  readonly account: string;
  readonly size: number;
  readonly cost: number;
}

interface QueueShare {
  jobs: number;
  size: number;
}
interface AccountShare extends QueueShare {
  /** The cost at which the next turn of the account begins. The account where it is least is next. */
  turnAt: number;
}

const fits = (share: QueueShare, size: number, maxJobs: number, maxSize: number): boolean =>
  share.jobs < maxJobs && (share.jobs === 0 || share.size + size <= maxSize);

export class FairQueue<T extends Queued> {
  readonly #bounds: QueueBounds;
  readonly #displaced: (item: T) => void;
  /** Accounts that have had as much are in the order of their turns. */
  readonly #waiting = new Map<string, T[]>();
  readonly #shares = new Map<string, AccountShare>();
  readonly #all: QueueShare = { jobs: 0, size: 0 };
  /** Where the last turn began: what an account is taken to have had that was not there before. */
  #turnAt = 0;
  readonly #held = new Set<T>();

  /** `displaced` is called with each item that had to give way, after its removal. */
  constructor(bounds: QueueBounds, displaced: (item: T) => void) {
    this.#bounds = bounds;
    this.#displaced = displaced;
  }

  /** The total size of waiting and running jobs. */
  get size(): number {
    return this.#all.size;
  }

  /** How many jobs wait. */
  get waiting(): number {
    let jobs = 0;
    for (const waiting of this.#waiting.values()) jobs += waiting.length;
    return jobs;
  }

  /** Returns false if the item does not fit, even if accounts that hold more give way. */
  add(item: T): boolean {
    const { maxJobsOfAccount, maxSizeOfAccount } = this.#bounds;
    const { account, size } = item;
    const own = this.#shares.get(account) ?? { jobs: 0, size: 0, turnAt: this.#turnAt };
    if (!fits(own, size, maxJobsOfAccount, maxSizeOfAccount)) return false;
    if (!this.#makeRoom(size, own)) return false;
    this.#held.add(item);
    this.#shares.set(account, own);
    for (const share of [this.#all, own]) {
      share.jobs += 1;
      share.size += size;
    }
    const waiting = this.#waiting.get(account);
    if (waiting) waiting.push(item);
    else this.#waiting.set(account, [item]);
    return true;
  }

  /** Removes and returns the item whose turn it is; its space stays taken until `leave`. Undefined if none waits. */
  next(): T | undefined {
    let next: { account: string; waiting: T[]; share: AccountShare } | undefined;
    for (const [account, waiting] of this.#waiting) {
      const share = this.#shares.get(account) as AccountShare;
      if (!next || share.turnAt < next.share.turnAt) next = { account, waiting, share };
    }
    const item = next?.waiting.shift();
    if (!next || !item) return undefined;
    const { account, share, waiting } = next;
    this.#turnAt = Math.max(this.#turnAt, share.turnAt);
    share.turnAt = this.#turnAt + item.cost;
    this.#waiting.delete(account);
    if (waiting.length > 0) this.#waiting.set(account, waiting);
    return item;
  }

  /** Frees the space of an item that has ended, whether it had its turn or not. Does nothing if the item is unknown. */
  leave(item: T): void {
    if (!this.#held.delete(item)) return;
    const { account, size } = item;
    const waiting = this.#waiting.get(account)?.filter((other) => other !== item);
    if (waiting && waiting.length > 0) this.#waiting.set(account, waiting);
    else this.#waiting.delete(account);
    const own = this.#shares.get(account);
    if (!own) return;
    for (const share of [this.#all, own]) {
      share.jobs -= 1;
      share.size -= size;
    }
    // The cost of an account's jobs counts until nobody waits or works, even if it sends one after the other.
    if (this.#all.jobs === 0) this.#shares.clear();
    else if (own.jobs === 0 && own.turnAt <= this.#turnAt) this.#shares.delete(account);
  }

  /** Removes the latest items of accounts that would hold more than `own`. Returns false, and changes nothing, if that is not enough. */
  #makeRoom(size: number, own: QueueShare): boolean {
    const { maxJobs, maxSize } = this.#bounds;
    if (fits(this.#all, size, maxJobs, maxSize)) return true;
    const gone: T[] = [];
    const left = { jobs: this.#all.jobs, size: this.#all.size };
    const shares = new Map(
      [...this.#waiting].map(([account]) => [account, { ...(this.#shares.get(account) as QueueShare) }]),
    );
    while (!fits(left, size, maxJobs, maxSize)) {
      const item = this.#largest(shares, gone, { jobs: own.jobs + 1, size: own.size + size });
      if (!item) return false;
      gone.push(item);
      for (const share of [left, shares.get(item.account) as QueueShare]) {
        share.jobs -= 1;
        share.size -= item.size;
      }
    }
    for (const item of gone) {
      this.leave(item);
      this.#displaced(item);
    }
    return true;
  }

  /** Returns the last waiting job of the account that holds most, if it holds more than `own`. */
  #largest(shares: ReadonlyMap<string, QueueShare>, gone: readonly T[], own: QueueShare): T | undefined {
    const isFull = this.#all.jobs - gone.length >= this.#bounds.maxJobs;
    const [account] =
      [...shares]
        .filter(([, share]) => (isFull ? share.jobs > own.jobs : share.size > own.size))
        .sort(([, a], [, b]) => (isFull ? b.jobs - a.jobs : b.size - a.size))[0] ?? [];
    if (account === undefined) return undefined;
    return this.#waiting.get(account)?.findLast((item) => !gone.includes(item));
  }
}
