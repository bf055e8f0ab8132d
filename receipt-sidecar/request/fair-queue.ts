/**
 * What waits for a turn, by account.
 *
 * Invariants: accounts take turns, so that nobody waits for more than one job of each other account; and no account has
 * more in the queue than its own bounds allow, so that one can not fill it for all.
 */

export interface QueueBounds {
  /** Of all accounts together, and of one. What is being worked on counts too. */
  readonly maxJobs: number;
  readonly maxSize: number;
  readonly maxJobsOfAccount: number;
  /** One job may be larger if it is the only one of its account. */
  readonly maxSizeOfAccount: number;
}

export interface Queued {
  readonly account: string;
  readonly size: number;
}

interface Share {
  jobs: number;
  size: number;
}

const fits = (share: Share, size: number, maxJobs: number, maxSize: number): boolean =>
  share.jobs < maxJobs && (share.jobs === 0 || share.size + size <= maxSize);

export class FairQueue<T extends Queued> {
  readonly #bounds: QueueBounds;
  /** In the order of turns. */
  readonly #waiting = new Map<string, T[]>();
  readonly #shares = new Map<string, Share>();
  readonly #all: Share = { jobs: 0, size: 0 };

  constructor(bounds: QueueBounds) {
    this.#bounds = bounds;
  }

  /** False if there is no room for it. */
  add(item: T): boolean {
    const { maxJobs, maxJobsOfAccount, maxSize, maxSizeOfAccount } = this.#bounds;
    const { account, size } = item;
    const own = this.#shares.get(account) ?? { jobs: 0, size: 0 };
    if (!fits(this.#all, size, maxJobs, maxSize) || !fits(own, size, maxJobsOfAccount, maxSizeOfAccount)) return false;
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

  /** Takes out whose turn it is; its room stays taken until `leave`. */
  next(): T | undefined {
    const [first] = this.#waiting;
    if (!first) return undefined;
    const [account, waiting] = first;
    const item = waiting.shift();
    this.#waiting.delete(account);
    if (waiting.length > 0) this.#waiting.set(account, waiting);
    return item;
  }

  /** Of what has its end, whether or not it had its turn. */
  leave(item: T): void {
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
    if (own.jobs === 0) this.#shares.delete(account);
  }
}
