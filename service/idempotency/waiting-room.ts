/**
 * Calls that wait for the reply of another one with their key.
 *
 * Invariants: for one key Redis is asked by one of them, with growing pauses, however many wait. What waits is bounded
 * in number and in bytes, in all and for each account; what finds no room does not wait.
 */

export interface Waiting {
  /** How long it can wait, ms. */
  readonly mostMs: number;
  /** How much memory the call holds meanwhile. */
  readonly bytes: number;
  /** Sets what is done when the client goes. */
  readonly onGone: (then: () => void) => void;
}

interface Waiter<T> {
  readonly until: number;
  readonly accountId: string;
  readonly bytes: number;
  readonly answer: (found: T) => void;
}

interface Group<T> {
  readonly waiters: Set<Waiter<T>>;
  wake: () => void;
}

/** What one question has found: nothing yet, something for one of those who wait, or for all of them. */
export type Look<T> = { readonly for: 'nobody' } | { readonly for: 'one' | 'all'; readonly found: T };

const bounds = { waiters: 2048, bytes: 64 * 1024 * 1024, waitersOfAccount: 256, bytesOfAccount: 16 * 1024 * 1024 };
const firstPauseMs = 25;
const longestPauseMs = 500;
const growth = 1.5;

export interface RoomOptions<T> {
  /** What those hear for whom it takes too long, or who find no room. */
  readonly tooLong: (waited: boolean) => T;
  /** Takes back what was found for one, where all have gone meanwhile. */
  readonly unclaimed: (found: T) => void;
}

export class WaitingRoom<T> {
  readonly #options: RoomOptions<T>;
  readonly #groups = new Map<string, Group<T>>();
  readonly #held = new Map<string, { waiters: number; bytes: number }>();
  #waiters = 0;
  #bytes = 0;
  #stopped = false;

  constructor(options: RoomOptions<T>) {
    this.#options = options;
  }

  /** Waits with all others of the same `name`. `look` asks for them; it never rejects. */
  wait(name: string, accountId: string, { bytes, mostMs, onGone }: Waiting, look: () => Promise<Look<T>>): Promise<T> {
    if (!this.#hasRoom(accountId, bytes)) return Promise.resolve(this.#options.tooLong(false));
    return new Promise((resolve) => {
      const group = this.#groups.get(name) ?? this.#open(name, look);
      const answer = (found: T) => {
        this.#leave(group, waiter);
        resolve(found);
      };
      const waiter: Waiter<T> = { until: performance.now() + mostMs, accountId, bytes, answer };
      this.#enter(group, waiter);
      onGone(() => answer(this.#options.tooLong(true)));
    });
  }

  /** Has those of this name look at once. */
  wake(name: string): void {
    this.#groups.get(name)?.wake();
  }

  stop(): void {
    this.#stopped = true;
    for (const { wake } of this.#groups.values()) wake();
  }

  #open(name: string, look: () => Promise<Look<T>>): Group<T> {
    const group: Group<T> = { waiters: new Set(), wake: () => undefined };
    this.#groups.set(name, group);
    void this.#serve(name, group, look);
    return group;
  }

  async #serve(name: string, group: Group<T>, look: () => Promise<Look<T>>): Promise<void> {
    for (let pauseMs = firstPauseMs; ; pauseMs = Math.min(longestPauseMs, pauseMs * growth)) {
      await pause(pauseMs, group);
      const now = performance.now();
      for (const { answer, until } of [...group.waiters])
        if (until <= now || this.#stopped) answer(this.#options.tooLong(true));
      if (group.waiters.size === 0) break;
      const seen = await look();
      if (seen.for === 'nobody') continue;
      const [first] = group.waiters;
      if (seen.for === 'all') for (const { answer } of [...group.waiters]) answer(seen.found);
      else if (first) first.answer(seen.found);
      else this.#options.unclaimed(seen.found);
      if (group.waiters.size === 0) break;
      pauseMs = firstPauseMs;
    }
    this.#groups.delete(name);
  }

  #hasRoom(accountId: string, bytes: number): boolean {
    const own = this.#held.get(accountId) ?? { waiters: 0, bytes: 0 };
    return (
      this.#waiters < bounds.waiters &&
      this.#bytes + bytes <= bounds.bytes &&
      own.waiters < bounds.waitersOfAccount &&
      own.bytes + bytes <= bounds.bytesOfAccount
    );
  }

  #enter(group: Group<T>, waiter: Waiter<T>): void {
    const own = this.#held.get(waiter.accountId) ?? { waiters: 0, bytes: 0 };
    this.#held.set(waiter.accountId, own);
    group.waiters.add(waiter);
    this.#waiters += 1;
    this.#bytes += waiter.bytes;
    own.waiters += 1;
    own.bytes += waiter.bytes;
  }

  #leave(group: Group<T>, waiter: Waiter<T>): void {
    if (!group.waiters.delete(waiter)) return;
    this.#waiters -= 1;
    this.#bytes -= waiter.bytes;
    const own = this.#held.get(waiter.accountId);
    if (!own) return;
    own.waiters -= 1;
    own.bytes -= waiter.bytes;
    if (own.waiters === 0) this.#held.delete(waiter.accountId);
  }
}

/** Resolves after the time, or earlier if the group is woken. */
function pause(ms: number, group: { wake: () => void }): Promise<void> {
  return new Promise((resolve) => {
    const timer = setTimeout(resolve, ms);
    group.wake = () => {
      clearTimeout(timer);
      resolve();
    };
  });
}
