/**
 * Keeps one part running.
 *
 * Invariants: while a part is wanted, its end is followed by a new start, with a growing pause, so that a killed process
 * heals by itself and a broken one does not burn the machine. There are never two processes of a part, whatever is asked at once.
 */
import { setTimeout as delay } from 'node:timers/promises';
import { errorText } from '@gw/contract/internal/error-text';
import type { Child } from './machine/child.ts';

/** A running process of a part, and its orderly end. */
export interface Running {
  readonly child: Child;
  stop(): Promise<void>;
}

export interface PartPlan {
  readonly name: string;
  readonly logFile: string;
  start(): Promise<Running>;
}

export interface Part {
  readonly name: string;
  readonly logFile: string;
  /** Null while it is down. */
  readonly pid: number | null;
  /** Unwanted ends in a row. */
  readonly crashes: number;
  /** Signals the process; unless it was stopped, it comes back by itself. */
  kill(signal: NodeJS.Signals): void;
  /** Starts it after `stop`. */
  start(): Promise<void>;
  /** An orderly end; it stays down. */
  stop(): Promise<void>;
  restart(): Promise<void>;
}

const firstPauseMs = 100;
const longestPauseMs = 5000;
/** A process that has run for this long was healthy: its next pause is short again. */
const healthyAfterMs = 10_000;

export interface Watcher {
  readonly log: (line: string) => void;
  /** Told when the process of a part is another one, or gone. */
  readonly changed: () => void;
}

class Supervised implements Part {
  readonly name: string;
  readonly logFile: string;
  crashes = 0;
  readonly #plan: PartPlan;
  readonly #watcher: Watcher;
  #running: Running | null = null;
  #wanted = false;
  /** The start that is under way, which another one joins, and the orderly end, which it waits for. */
  #starting: Promise<void> | null = null;
  #ending: Promise<void> = Promise.resolve();
  /** The pause before a new start; aborted when the part is stopped meanwhile. */
  #pause = new AbortController();

  constructor(plan: PartPlan, watcher: Watcher) {
    this.name = plan.name;
    this.logFile = plan.logFile;
    this.#plan = plan;
    this.#watcher = watcher;
  }

  get pid(): number | null {
    return this.#running?.child.pid ?? null;
  }

  kill(signal: NodeJS.Signals): void {
    this.#running?.child.kill(signal);
  }

  async start(): Promise<void> {
    this.#wanted = true;
    if (this.#running) return;
    this.#starting ??= this.#begin().finally(() => {
      this.#starting = null;
    });
    await this.#starting;
    // It was stopped, and wanted again, while that start was being taken back.
    if (this.#wanted && !this.#running) await this.start();
  }

  async #begin(): Promise<void> {
    await this.#ending;
    const running = await this.#plan.start();
    if (!this.#wanted) {
      await running.stop();
      return;
    }
    this.#running = running;
    this.#watcher.changed();
    const startedAt = performance.now();
    void running.child.exited.then(({ code, signal }) => {
      if (this.#running !== running) return;
      this.#running = null;
      this.#watcher.changed();
      if (!this.#wanted) return;
      if (performance.now() - startedAt > healthyAfterMs) this.crashes = 0;
      void this.#revive(signal ? `by ${signal}` : `with exit code ${code}`);
    });
  }

  async stop(): Promise<void> {
    this.#wanted = false;
    this.#pause.abort();
    const running = this.#running;
    this.#running = null;
    if (running !== null) this.#ending = running.stop();
    await this.#ending;
    this.#watcher.changed();
  }

  async restart(): Promise<void> {
    await this.stop();
    await this.start();
  }

  async #revive(how: string): Promise<void> {
    const pauseMs = Math.min(firstPauseMs * 2 ** this.crashes, longestPauseMs);
    this.crashes += 1;
    this.#watcher.log(`${this.name} was ended ${how}; starting it again in ${pauseMs} ms`);
    this.#pause = new AbortController();
    const waited = await delay(pauseMs, true, { signal: this.#pause.signal }).catch(() => false);
    if (!waited || !this.#wanted) return;
    await this.start().catch((cause: unknown) => this.#revive(`at its start (${errorText(cause)})`));
  }
}

/** Starts a part and keeps it running until it is stopped. */
export async function supervise(plan: PartPlan, watcher: Watcher): Promise<Part> {
  const part = new Supervised(plan, watcher);
  await part.start();
  return part;
}
