/**
 * Calls that wait for the reply of another call with the same key.
 *
 * Invariants: for each key a single loop polls Redis, with growing pauses. Waiting calls are limited in number and bytes, in total and
 * per account; further calls do not wait. Large replies are sent in turns, and calls count as waiting until their turn.
 */
import { WayOut } from './way-out.ts';

export interface Waiting {
  /** How long it can wait, ms. */
  readonly mostMs: number;
  /** Memory that the call holds meanwhile. */
  readonly bytes: number;
  /** Registers a callback for the end of the call, by its answer or its client's disconnect. Runs it immediately if it has ended. */
  readonly onGone: (then: () => void) => void;
}

interface Waiter<T> {
  readonly until: number;
  readonly answer: (found: T) => void;
}

interface Group<T> {
  readonly waiters: Set<Waiter<T>>;
  wake: () => void;
}

/** The result of one poll: nothing yet, or a result for one or all of the waiting calls. */
export type Look<T> = { readonly for: 'nobody' } | { readonly for: 'one' | 'all'; readonly found: T };

const bounds = { waiters: 2048, bytes: 64 * 1024 * 1024, waitersOfAccount: 256, bytesOfAccount: 16 * 1024 * 1024 };
const firstPauseMs = 25;
const longestPauseMs = 500;
const growth = 1.5;

export interface RoomOptions<T> {
  /** The result for calls that waited too long or found no room. */
  readonly tooLong: (waited: boolean) => T;
  /** Releases a result for one call if no call is left. */
  readonly unclaimed: (found: T) => void;
  /** The size of a result on its way to the client. */
  readonly bytesOf: (found: T) => number;
}

export class WaitingRoom<T> {
  readonly #options: RoomOptions<T>;
  readonly #groups = new Map<string, Group<T>>();
  readonly #held = new Map<string, { waiters: number; bytes: number }>();
  readonly #wayOut = new WayOut();
  #waiters = 0;
  #bytes = 0;
  #stopped = false;

  constructor(options: RoomOptions<T>) {
    this.#options = options;
  }

  /** Waits together with all calls of the same `name`. `look` polls for them and never rejects. */
  async wait(name: string, accountId: string, waiting: Waiting, look: () => Promise<Look<T>>): Promise<T> {
    if (!this.#hasRoom(accountId, waiting.bytes)) return this.#options.tooLong(false);
    const until = performance.now() + waiting.mostMs;
    const leave = this.#enter(accountId, waiting.bytes);
    try {
      const found = await this.#found(name, until, waiting, look);
      return await this.#sent(found, until, waiting);
    } finally {
      leave();
    }
  }

  /** Waits until a result that was found without waiting may be sent. */
  async pass(found: T, accountId: string, waiting: Waiting): Promise<T> {
    const until = performance.now() + waiting.mostMs;
    const bytes = this.#options.bytesOf(found);
    if (this.#wayOut.isFree(bytes)) return this.#sent(found, until, waiting);
    // Waiting calls share one reply in memory; this call has its own.
    const held = waiting.bytes + bytes;
    if (!this.#hasRoom(accountId, held)) return this.#options.tooLong(false);
    const leave = this.#enter(accountId, held);
    try {
      return await this.#sent(found, until, waiting);
    } finally {
      leave();
    }
  }

  /** Makes the calls of this name poll immediately. */
  wake(name: string): void {
    this.#groups.get(name)?.wake();
  }

  stop(): void {
    this.#stopped = true;
    for (const { wake } of this.#groups.values()) wake();
  }

  async #sent(found: T, until: number, { onGone }: Waiting): Promise<T> {
    const mayGo = await this.#wayOut.enter(this.#options.bytesOf(found), until - performance.now(), onGone);
    return mayGo ? found : this.#options.tooLong(true);
  }

  #found(name: string, until: number, { onGone }: Waiting, look: () => Promise<Look<T>>): Promise<T> {
    return new Promise((resolve) => {
      const group = this.#groups.get(name) ?? this.#open(name, look);
      const answer = (found: T) => {
        group.waiters.delete(waiter);
        resolve(found);
      };
      const waiter: Waiter<T> = { until, answer };
      group.waiters.add(waiter);
      onGone(() => answer(this.#options.tooLong(true)));
    });
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

  /** Returns a function that frees the place. */
  #enter(accountId: string, bytes: number): () => void {
    const own = this.#held.get(accountId) ?? { waiters: 0, bytes: 0 };
    this.#held.set(accountId, own);
    const add = (sign: 1 | -1) => {
      this.#waiters += sign;
      this.#bytes += sign * bytes;
      own.waiters += sign;
      own.bytes += sign * bytes;
    };
    add(1);
    return () => {
      add(-1);
      if (own.waiters === 0) this.#held.delete(accountId);
    };
  }
}

/** Resolves after the time, or when the group is woken. */
function pause(ms: number, group: { wake: () => void }): Promise<void> {
  return new Promise((resolve) => {
    const timer = setTimeout(resolve, ms);
    group.wake = () => {
      clearTimeout(timer);
      resolve();
    };
  });
}
