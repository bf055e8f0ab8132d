/**
 * The thread that counts and reads tokens. It is started by the first job, since a vocabulary takes tens of megabytes and
 * many installations need none.
 *
 * Invariants: a job always has an end: its answer, or null when the thread is overloaded, too slow or dead. What null means
 * is said where it is asked: a text goes on uncounted, a list of tokens is refused. The thread has one job at a time and is
 * ended only if that one gets stuck; a job that waits too long for its turn ends alone.
 */
import { Worker } from 'node:worker_threads';
import type { Tokenizer } from '@gw/contract/internal/tokenizers';
import { FairQueue, type QueueBounds, type Queued } from './fair-queue.ts';
import { maxBodyBytes } from './headers.ts';

export interface CountJob {
  /** Whose it is: accounts take turns. */
  readonly account: string;
  readonly texts: readonly string[];
  /** Whether they are one prompt, else each is one. */
  readonly together: boolean;
  readonly tokenizer: Tokenizer;
  /** Tokens that a prompt may have. */
  readonly limit: number;
  /** Counting ends above this many. */
  readonly stopAbove: number;
}

export interface Counted {
  /** The first prompt with more tokens than the limit, if there is one. `whole`: false if it has at least so many. */
  readonly over: { readonly at: number; readonly tokens: number; readonly whole: boolean } | null;
}

/** The text of each list, or the first number that stands for nothing, or that all texts are longer than is read. */
export type Decoded = { readonly texts: readonly string[] } | { readonly unknown: number } | { readonly tooLong: true };

interface DecodeJob {
  readonly account: string;
  readonly lists: readonly (readonly number[])[];
  readonly tokenizer: Tokenizer;
}

interface Job extends Queued {
  /** What the thread is told; made when it is its turn. */
  readonly message: () => object;
  readonly resolve: (result: Counted | Decoded | null) => void;
  readonly timer: NodeJS.Timeout;
}
type Answer = { readonly id: number; readonly result?: Counted | Decoded | null; readonly fault?: string };

export interface TokenThreadOptions extends QueueBounds {
  /** How long counting or reading one request may take before it ends itself, ms. */
  readonly workMs: number;
  /** After this long without an answer to the job that it has, the thread counts as stuck, ms. */
  readonly answerMs: number;
  /** How long a job may wait for its turn, ms. */
  readonly waitMs: number;
  /** How much text the lists of one request may become, in UTF-8 bytes. */
  readonly maxTextBytes: number;
  /** Told when the thread has ended without being asked, and of faults in it; never with text of a client. */
  readonly onFault: (reason: string) => void;
  readonly start?: () => Worker;
}

/**
 * What keeps the thread busy for seconds is refused rather than queued: the caller has waited long enough. Sizes are in
 * characters or tokens. A list becomes no more text than a body may have: a token of five digits can be 128 bytes.
 */
export const tokenThreadBounds = {
  ...{ workMs: 2000, answerMs: 3500, waitMs: 4000, maxTextBytes: maxBodyBytes },
  ...{ maxJobs: 32, maxSize: 32 * 1024 * 1024, maxJobsOfAccount: 8, maxSizeOfAccount: 4 * 1024 * 1024 },
} as const;

/** A runaway vocabulary or text ends the thread, not the process. */
const resourceLimits = { maxOldGenerationSizeMb: 512 };

/** The bundle of the thread lies beside that of the service, as its source does beside this file. */
const startThread = (): Worker => new Worker(new URL('./token-worker.js', import.meta.url), { resourceLimits });

const lengthOf = (parts: readonly { readonly length: number }[]): number =>
  parts.reduce((sum, { length }) => sum + length, 0);

export class TokenThread {
  readonly #options: TokenThreadOptions;
  readonly #queue: FairQueue<Job>;
  /** All that have no end yet. */
  readonly #open = new Set<Job>();
  #worker: Worker | null = null;
  /** What the thread has, and by which number it will answer. */
  #running: { readonly id: number; readonly job: Job; readonly timer: NodeJS.Timeout } | null = null;
  #nextId = 0;

  constructor(options: TokenThreadOptions) {
    this.#options = options;
    this.#queue = new FairQueue(options);
  }

  count({ account, ...count }: CountJob): Promise<Counted | null> {
    const message = () => ({ count: { ...count, timeMs: this.#options.workMs } });
    return this.#run(account, lengthOf(count.texts), message) as Promise<Counted | null>;
  }

  decode({ account, lists, tokenizer }: DecodeJob): Promise<Decoded | null> {
    const { maxTextBytes, workMs: timeMs } = this.#options;
    const message = () => ({
      decode: { lists: lists.map((list) => Float64Array.from(list)), tokenizer, maxTextBytes, timeMs },
    });
    return this.#run(account, lengthOf(lists), message) as Promise<Decoded | null>;
  }

  async stop(): Promise<void> {
    const worker = this.#worker;
    this.#drop();
    for (const job of [...this.#open]) this.#end(job, null);
    await worker?.terminate();
  }

  #run(account: string, size: number, message: () => object): Promise<Counted | Decoded | null> {
    return new Promise((resolve) => {
      const timer = setTimeout(() => this.#end(job, null), this.#options.waitMs);
      const job: Job = { account, size, message, resolve, timer };
      this.#open.add(job);
      if (this.#queue.add(job)) this.#advance();
      else {
        this.#open.delete(job);
        clearTimeout(timer);
        resolve(null);
      }
    });
  }

  #advance(): void {
    if (this.#running) return;
    const job = this.#queue.next();
    if (!job) {
      this.#worker?.unref();
      return;
    }
    clearTimeout(job.timer);
    const worker = this.#started();
    const id = this.#nextId++;
    const timer = setTimeout(() => this.#abandon(worker, 'gave no answer'), this.#options.answerMs);
    this.#running = { id, job, timer };
    worker.ref();
    worker.postMessage({ id, ...job.message() });
  }

  #started(): Worker {
    if (this.#worker) return this.#worker;
    const { onFault, start = startThread } = this.#options;
    const worker = start();
    this.#worker = worker;
    worker.on('message', ({ id, result, fault }: Answer) => {
      if (this.#running?.id !== id) return;
      if (fault) onFault(fault);
      this.#finish(result ?? null);
      this.#advance();
    });
    worker.once('error', (fault) => this.#abandon(worker, fault instanceof Error ? fault.name : 'fault'));
    worker.once('exit', () => this.#abandon(worker, 'ended'));
    return worker;
  }

  /** Of the job that the thread has. */
  #finish(result: Counted | Decoded | null): void {
    if (!this.#running) return;
    const { job, timer } = this.#running;
    clearTimeout(timer);
    this.#running = null;
    this.#end(job, result);
  }

  #end(job: Job, result: Counted | Decoded | null): void {
    clearTimeout(job.timer);
    if (!this.#open.delete(job)) return;
    this.#queue.leave(job);
    job.resolve(result);
  }

  /** The job that the thread had is lost with it; the next one starts a new thread. */
  #abandon(worker: Worker, reason: string): void {
    if (this.#worker !== worker) return;
    this.#options.onFault(reason);
    this.#drop();
    void worker.terminate();
    this.#advance();
  }

  #drop(): void {
    this.#worker = null;
    this.#finish(null);
  }
}
