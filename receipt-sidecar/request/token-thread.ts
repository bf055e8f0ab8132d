/**
 * The thread that counts and reads tokens. It is started by the first job, since a vocabulary takes tens of megabytes and
 * many installations need none.
 *
 * Invariant: a job always has an end: its answer, or null when the thread is overloaded, too slow or dead. What null means
 * is said where it is asked: a text goes on uncounted, a list of tokens is refused.
 */
import { Worker } from 'node:worker_threads';
import type { Tokenizer } from '@gw/contract/internal/tokenizers';

export interface CountJob {
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

export type Decoded = { readonly texts: readonly string[] } | { readonly unknown: number };

type Job = { readonly count: CountJob & { readonly timeMs: number } } | { readonly decode: DecodeJob };
interface DecodeJob {
  readonly lists: readonly Float64Array[];
  readonly tokenizer: Tokenizer;
}
type Answer = { readonly id: number; readonly result?: Counted | Decoded | null; readonly fault?: string };

export interface TokenThreadOptions {
  /** How long counting one request may take before it ends itself, ms. */
  readonly countMs: number;
  /** After this long without an answer, waiting in the queue included, the thread counts as stuck, ms. */
  readonly answerMs: number;
  /** What may wait for the thread, in jobs and in characters or tokens. */
  readonly maxJobs: number;
  readonly maxSize: number;
  /** Told when the thread has ended without being asked, and of faults in it; never with text of a client. */
  readonly onFault: (reason: string) => void;
  readonly start?: () => Worker;
}

/** What keeps the thread busy for seconds is refused rather than queued: the caller has waited long enough. */
export const tokenThreadBounds = { countMs: 2000, answerMs: 3500, maxJobs: 32, maxSize: 32 * 1024 * 1024 } as const;

/** A runaway vocabulary or text ends the thread, not the process. */
const resourceLimits = { maxOldGenerationSizeMb: 512 };

/** The bundle of the thread lies beside that of the service, as its source does beside this file. */
const startThread = (): Worker => new Worker(new URL('./token-worker.js', import.meta.url), { resourceLimits });

interface Waiting {
  readonly size: number;
  readonly resolve: (result: Counted | Decoded | null) => void;
  readonly timer: NodeJS.Timeout;
}

export class TokenThread {
  readonly #options: TokenThreadOptions;
  #worker: Worker | null = null;
  readonly #waiting = new Map<number, Waiting>();
  #size = 0;
  #nextId = 0;

  constructor(options: TokenThreadOptions) {
    this.#options = options;
  }

  count(job: CountJob): Promise<Counted | null> {
    const size = job.texts.reduce((sum, text) => sum + text.length, 0);
    return this.#run({ count: { ...job, timeMs: this.#options.countMs } }, size) as Promise<Counted | null>;
  }

  /** The text of each list; `unknown` is the first number that stands for nothing. */
  decode(lists: readonly (readonly number[])[], tokenizer: Tokenizer): Promise<Decoded | null> {
    const size = lists.reduce((sum, list) => sum + list.length, 0);
    const typed = lists.map((list) => Float64Array.from(list));
    return this.#run({ decode: { lists: typed, tokenizer } }, size) as Promise<Decoded | null>;
  }

  async stop(): Promise<void> {
    const worker = this.#worker;
    this.#drop();
    await worker?.terminate();
  }

  #run(job: Job, size: number): Promise<Counted | Decoded | null> {
    const { answerMs, maxJobs, maxSize } = this.#options;
    if (this.#waiting.size >= maxJobs || (this.#waiting.size > 0 && this.#size + size > maxSize))
      return Promise.resolve(null);
    const worker = this.#started();
    const id = this.#nextId++;
    return new Promise((resolve) => {
      const timer = setTimeout(() => this.#abandon(worker, 'gave no answer'), answerMs);
      this.#waiting.set(id, { size, resolve, timer });
      this.#size += size;
      worker.ref();
      worker.postMessage({ id, ...job });
    });
  }

  #started(): Worker {
    if (this.#worker) return this.#worker;
    const { onFault, start = startThread } = this.#options;
    const worker = start();
    this.#worker = worker;
    worker.on('message', ({ id, result, fault }: Answer) => {
      if (fault) onFault(fault);
      this.#settle(id, result ?? null);
    });
    worker.once('error', (fault) => this.#abandon(worker, fault instanceof Error ? fault.name : 'fault'));
    worker.once('exit', () => this.#abandon(worker, 'ended'));
    return worker;
  }

  #settle(id: number, result: Counted | Decoded | null): void {
    const waiting = this.#waiting.get(id);
    if (!waiting) return;
    clearTimeout(waiting.timer);
    this.#waiting.delete(id);
    this.#size -= waiting.size;
    if (this.#waiting.size === 0) this.#worker?.unref();
    waiting.resolve(result);
  }

  /** The next job starts a new thread. */
  #abandon(worker: Worker, reason: string): void {
    if (this.#worker !== worker) return;
    this.#options.onFault(reason);
    this.#drop();
    void worker.terminate();
  }

  #drop(): void {
    this.#worker = null;
    for (const id of [...this.#waiting.keys()]) this.#settle(id, null);
  }
}
