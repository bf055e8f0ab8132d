/**
 * How fast attempts to log in may follow each other, and their counts while Redis is away: by the same rule as the
 * script, in bounded memory.
 */
import { defined } from '@gw/contract/internal/defined';
import { hourMs, minuteMs } from '@gw/contract/internal/durations';

interface Pace {
  /** Failures after which there is no wait yet. */
  readonly free: number;
  readonly longestWaitMs: number;
}

/** Many people may share an address. */
export const addressPace: Pace = { free: 10, longestWaitMs: 15 * minuteMs };
export const subjectPace: Pace = { free: 5, longestWaitMs: 30_000 };
/** How long a counter of failures is kept after its last attempt. */
export const counterLivesMs = hourMs;

/** The Redis keys under which an attempt is counted; only the first two are used here. */
export type CounterKeys = readonly [address: string, subject: string, pair: string];

interface Counter {
  failures: number;
  /** When the next attempt is heard, and when the last one was, ms. */
  next: number;
  last: number;
}

const maxCounters = 10_000;

/** Counts failures in this instance alone. It keeps 10,000 counters at most; the least recently used goes first. */
export class LocalAttempts {
  readonly #counters = new Map<string, Counter>();
  readonly #now: () => Date;

  constructor(now: () => Date) {
    this.#now = now;
  }

  /** Returns how long to wait, ms; 0 means admitted, and counted as failed. */
  admit([address, subject]: CounterKeys): number {
    const now = this.#now().getTime();
    const paced = [
      [this.#find(address, now), addressPace],
      [this.#find(subject, now), subjectPace],
    ] as const;
    const wait = Math.max(0, ...paced.map(([counter]) => counter.next - now));
    if (wait > 0) return wait;
    for (const [counter, pace] of paced) fail(counter, pace, now);
    return 0;
  }

  /** Forgets the failures of the person, and one of the address. */
  succeeded([address, subject]: CounterKeys): void {
    this.#counters.delete(subject);
    const counter = this.#counters.get(address);
    if (counter) counter.failures = Math.max(0, counter.failures - 1);
  }

  /** Takes back one failure. `at`: the time (ms since 1970) from which the next attempt is admitted at the latest. */
  takeBack([address, subject]: CounterKeys, at: number): void {
    for (const key of [address, subject]) {
      const counter = this.#counters.get(key);
      if (counter === undefined || counter.failures === 0) continue;
      counter.failures -= 1;
      counter.next = Math.min(counter.next, at);
    }
  }

  #find(key: string, now: number): Counter {
    const found = this.#counters.get(key);
    const counter = found && now - found.last < counterLivesMs ? found : { failures: 0, next: 0, last: now };
    // The least recently used comes first, and goes first.
    this.#counters.delete(key);
    this.#counters.set(key, counter);
    if (this.#counters.size > maxCounters)
      this.#counters.delete(defined(this.#counters.keys().next().value, 'The oldest counter'));
    return counter;
  }
}

function fail(counter: Counter, { free, longestWaitMs }: Pace, now: number): void {
  counter.failures += 1;
  const over = counter.failures - free;
  counter.next = now + (over > 0 ? Math.min(longestWaitMs, 1000 * 2 ** Math.min(30, over - 1)) : 0);
  counter.last = now;
}
