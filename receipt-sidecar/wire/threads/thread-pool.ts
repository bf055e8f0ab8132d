/**
 * Runs jobs on threads, in an order that is fair to accounts.
 *
 * Invariants: a job that cannot be run in time, or whose thread dies, ends with a failure and its reason, and never with a result. A thread has
 * one job at a time and is terminated only if that job gets stuck; a job that waits too long for its turn ends alone. Waiting and running jobs
 * are bounded in bytes, in total and for each account.
 */
import type { Worker } from 'node:worker_threads';
import { err, ok, type Result } from '@gw/contract/internal/result';
import { FairQueue, type QueueBounds, type Queued } from './fair-queue.ts';

/** Requests and replies have separate bounds, so that neither takes the space of the other. */
export type Lane = 'request' | 'reply';
/** Replies go first, since they are paid for, but only this many in a row, so that requests get their turn. */
const mostRepliesInRow = 3;
const otherLane = { request: 'reply', reply: 'request' } as const;

/**
 * `full`: the queue was full. `late`: it waited too long. `stuck`: it ran too long. `died`: its thread died. `failed`: it threw an error.
 */
export type Failure = 'full' | 'late' | 'stuck' | 'died' | 'failed';
export type JobResult<T> = Result<T, Failure>;

interface Message {
  readonly job: unknown;
  readonly transfer: readonly ArrayBuffer[];
  /** Called when the message was sent. */
  readonly onTold?: () => void;
}
export interface Work {
  readonly lane: Lane;
  /** Accounts take turns. */
  readonly account: string;
  /** In bytes. */
  readonly size: number;
  /** An estimate of the work, in any unit. */
  readonly cost: number;
  /** How long it can wait for its turn, if that is shorter than of others. */
  readonly waitMs?: number;
  /** Makes the message to the thread, when it is the job's turn. */
  readonly message: (thread: Worker) => Message;
}

interface Job extends Queued, Pick<Work, 'lane' | 'message'> {
  readonly end: (outcome: JobResult<unknown>) => void;
  readonly since: number;
  readonly timer: NodeJS.Timeout;
}
interface PoolThread {
  readonly worker: Worker;
  job: Job | null;
  id: number;
  timer: NodeJS.Timeout | undefined;
}
interface WorkerMessage {
  readonly id: number;
  readonly result?: unknown;
  /** The name of the error, which never contains text of a client. */
  readonly error?: string;
}

export interface ThreadPoolOptions {
  readonly bounds: Readonly<Record<Lane, QueueBounds>>;
  readonly threads: number;
  /** How long a job can wait for its turn. */
  readonly waitMs: number;
  /** How long a thread can take for a job before it is terminated as stuck. */
  readonly answerMs: number;
  /** How long a thread can be idle before it is terminated to free its memory. */
  readonly idleMs: number;
  readonly start: () => Worker;
  /** A monotonic clock, ms. */
  readonly clock: () => number;
  /** Called with the reason when a thread has ended by itself or a job has failed. */
  readonly onError: (reason: string) => void;
  readonly onEnd: (lane: Lane, outcome: 'done' | Failure, tookS: number, account: string) => void;
  /** Called when a job has its turn. */
  readonly onTurn: (lane: Lane, waitedS: number) => void;
}

/** `outcome` never rejects; `cancel` ends the job as `late` if it has not had its turn. */
export interface PendingJob<T> {
  readonly outcome: Promise<JobResult<T>>;
  readonly cancel: () => void;
}

export class ThreadPool {
  readonly #options: ThreadPoolOptions;
  readonly #queues: Readonly<Record<Lane, FairQueue<Job>>>;
  readonly #threads = new Set<PoolThread>();
  /** All jobs that have not ended. */
  readonly #open = new Set<Job>();
  /** The number of replies since the last request. */
  #repliesInRow = 0;
  #nextId = 0;
  #stopped = false;

  constructor(options: ThreadPoolOptions) {
    this.#options = options;
    const queue = (lane: Lane) => new FairQueue<Job>(options.bounds[lane], (job) => this.#end(job, 'full'));
    this.#queues = { request: queue('request'), reply: queue('reply') };
  }

  /** Returns the bytes of waiting and running jobs. */
  bytes(lane: Lane): number {
    return this.#queues[lane].size;
  }

  /** Returns how many jobs wait. */
  waiting(lane: Lane): number {
    return this.#queues[lane].waiting;
  }

  run<T>({ account, cost, lane, message, size, waitMs = this.#options.waitMs }: Work): PendingJob<T> {
    let job: Job | undefined;
    const outcome = new Promise<JobResult<T>>((resolve) => {
      const end = resolve as Job['end'];
      const since = this.#options.clock();
      const timer = setTimeout(() => job && this.#end(job, 'late'), waitMs);
      job = { account, cost, lane, message, size, end, since, timer };
      this.#open.add(job);
      if (this.#stopped || !this.#queues[lane].add(job)) this.#end(job, 'full');
      else this.#advance();
    });
    const cancel = () => {
      if (job && ![...this.#threads].some((thread) => thread.job === job)) this.#end(job, 'late');
    };
    return { outcome, cancel };
  }

  async stop(): Promise<void> {
    this.#stopped = true;
    const threads = [...this.#threads];
    for (const thread of threads) this.#drop(thread, 'died');
    for (const job of [...this.#open]) this.#end(job, 'died');
    await Promise.all(threads.map(({ worker }) => worker.terminate()));
  }

  /** Gives each idle thread a job, and starts threads while more jobs wait. */
  #advance(): void {
    for (;;) {
      const idle = [...this.#threads].find(({ job }) => job === null);
      if (!idle && this.#threads.size >= this.#options.threads) return;
      const job = this.#next();
      if (!job) return;
      this.#give(idle ?? this.#started(), job);
    }
  }

  #next(): Job | undefined {
    const lane = this.#repliesInRow < mostRepliesInRow ? 'reply' : 'request';
    const job = this.#queues[lane].next() ?? this.#queues[otherLane[lane]].next();
    this.#repliesInRow = job?.lane === 'reply' ? this.#repliesInRow + 1 : 0;
    return job;
  }

  #give(thread: PoolThread, job: Job): void {
    clearTimeout(job.timer);
    clearTimeout(thread.timer);
    this.#options.onTurn(job.lane, (this.#options.clock() - job.since) / 1000);
    thread.job = job;
    thread.id = this.#nextId++;
    thread.timer = setTimeout(() => this.#abandon(thread, 'stuck'), this.#options.answerMs);
    thread.worker.ref();
    try {
      const { job: message, transfer, onTold } = job.message(thread.worker);
      thread.worker.postMessage({ id: thread.id, job: message }, transfer);
      onTold?.();
    } catch (error) {
      // The thread got no message, so it can take the next job.
      this.#options.onError(error instanceof Error ? error.name : 'failed');
      this.#finish(thread, err('failed'));
    }
  }

  #started(): PoolThread {
    const worker = this.#options.start();
    const thread: PoolThread = { worker, job: null, id: -1, timer: undefined };
    this.#threads.add(thread);
    worker.on('message', ({ id, result, error }: WorkerMessage) => {
      if (thread.id !== id || !thread.job) return;
      if (error !== undefined) this.#options.onError(error);
      this.#finish(thread, error === undefined ? ok(result) : err('failed'));
      this.#advance();
    });
    worker.once('error', (error) => this.#abandon(thread, 'died', error instanceof Error ? error.name : 'failed'));
    worker.once('exit', () => this.#abandon(thread, 'died'));
    return thread;
  }

  /** Ends the job of a thread, which then takes another job or idles. */
  #finish(thread: PoolThread, outcome: JobResult<unknown>): void {
    const { job, worker } = thread;
    clearTimeout(thread.timer);
    thread.job = null;
    thread.timer = setTimeout(() => this.#rest(thread), this.#options.idleMs).unref();
    worker.unref();
    if (job) this.#end(job, outcome);
  }

  #rest(thread: PoolThread): void {
    this.#threads.delete(thread);
    void thread.worker.terminate();
  }

  #end(job: Job, outcome: JobResult<unknown> | Failure): void {
    if (!this.#open.delete(job)) return;
    clearTimeout(job.timer);
    this.#queues[job.lane].leave(job);
    const ended: JobResult<unknown> = typeof outcome === 'string' ? err(outcome) : outcome;
    const tookS = (this.#options.clock() - job.since) / 1000;
    this.#options.onEnd(job.lane, ended.ok ? 'done' : ended.error, tookS, job.account);
    job.end(ended);
  }

  /** The thread's job is lost with it; the next job starts a new thread. */
  #abandon(thread: PoolThread, why: 'stuck' | 'died', reason: string = why): void {
    if (!this.#threads.has(thread)) return;
    this.#options.onError(reason);
    this.#drop(thread, why);
    void thread.worker.terminate();
    this.#advance();
  }

  #drop(thread: PoolThread, why: Failure): void {
    this.#threads.delete(thread);
    clearTimeout(thread.timer);
    const { job } = thread;
    thread.job = null;
    if (job) this.#end(job, why);
  }
}
