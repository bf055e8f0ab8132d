/**
 * Shares the event loop between accounts. Work is done at once while the loop has time for it, and otherwise in turns.
 *
 * Invariants: a turn of the loop does one piece of the work that waits, and then looks at all events that have come; so nobody waits for
 * more than one piece of each other account. Fails closed: work that finds no room or no turn in time is refused, and never begun.
 */
import { FairQueue, type QueueBounds, type Queued } from './fair-queue.ts';
import type { NoTurn } from './turn-watch.ts';

export interface LoopWork<T> {
  /** Accounts take turns. */
  readonly account: string;
  /** In bytes. */
  readonly size: number;
  /** Estimates the work, in any unit; asked only of work that waits. */
  readonly costOf: () => number;
  readonly run: () => T | Promise<T>;
  readonly refuse: (why: NoTurn) => T;
  /** Sets what is done when nobody needs the work any more. */
  readonly onGone: (then: () => void) => void;
}

export interface LoopTurnsOptions {
  readonly bounds: QueueBounds;
  /** How long work is done at once in one turn of the loop. */
  readonly turnMs: number;
  /** How long work can wait for its turn. */
  readonly waitMs: number;
  /** A monotonic clock, ms. */
  readonly clock: () => number;
  /** Calls `then` once the events that have come by now have been handled. */
  readonly afterEvents: (then: () => void) => void;
  /** Called when work that waited has its turn or gets none. */
  readonly onEnd: (outcome: 'done' | NoTurn, waitedS: number, account: string) => void;
}

interface Waiting extends Queued {
  readonly since: number;
  readonly timer: NodeJS.Timeout;
  readonly start: () => void;
  readonly refuse: (why: NoTurn) => void;
}

export class LoopTurns {
  readonly #options: LoopTurnsOptions;
  readonly #queue: FairQueue<Waiting>;
  /** The work that waits. */
  readonly #open = new Set<Waiting>();
  /** When the first work of this turn of the loop began; null: there was none yet, and none waits. */
  #begun: number | null = null;

  constructor(options: LoopTurnsOptions) {
    this.#options = options;
    this.#queue = new FairQueue<Waiting>(options.bounds, (item) => this.#end(item, 'full'));
  }

  /** How many pieces of work wait. */
  get waiting(): number {
    return this.#open.size;
  }

  run<T>(work: LoopWork<T>): T | Promise<T> {
    return this.#hasTime() ? work.run() : this.#wait(work);
  }

  #hasTime(): boolean {
    if (this.#open.size > 0) return false;
    const { clock, turnMs } = this.#options;
    if (this.#begun !== null) return clock() - this.#begun < turnMs;
    this.#nextTurn();
    return true;
  }

  #nextTurn(): void {
    this.#begun = this.#options.clock();
    this.#options.afterEvents(this.#turn);
  }

  #wait<T>({ account, costOf, onGone, refuse, run, size }: LoopWork<T>): Promise<T> {
    return new Promise<T>((resolve, reject) => {
      const item: Waiting = {
        account,
        size,
        cost: costOf(),
        since: this.#options.clock(),
        timer: setTimeout(() => this.#end(item, 'late'), this.#options.waitMs),
        start: () => {
          try {
            resolve(run());
          } catch (error) {
            reject(error);
          }
        },
        refuse: (why) => resolve(refuse(why)),
      };
      this.#open.add(item);
      if (!this.#queue.add(item)) return this.#end(item, 'full');
      onGone(() => this.#end(item, 'late'));
    });
  }

  readonly #turn = (): void => {
    this.#begun = null;
    const item = this.#queue.next();
    if (!item) return;
    this.#end(item, 'done');
    if (this.#open.size > 0) this.#nextTurn();
    item.start();
  };

  #end(item: Waiting, outcome: 'done' | NoTurn): void {
    if (!this.#open.delete(item)) return;
    clearTimeout(item.timer);
    this.#queue.leave(item);
    this.#options.onEnd(outcome, (this.#options.clock() - item.since) / 1000, item.account);
    if (outcome !== 'done') item.refuse(outcome);
  }
}
