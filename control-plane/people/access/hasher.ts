/**
 * Runs argon2id outside of the event loop.
 *
 * Invariant: a job is answered or fails, even when the thread dies; the next job then starts a new one. The thread
 * keeps the process alive only while it computes.
 */
import { Worker } from 'node:worker_threads';
import type { argon2id, argon2Verify } from 'hash-wasm';

type HashOptions = Parameters<typeof argon2id>[0];
type VerifyOptions = Parameters<typeof argon2Verify>[0];
type Job = { readonly hash: HashOptions } | { readonly verify: VerifyOptions };
type WorkerReply = { readonly result: string | boolean } | { readonly error: string };

/** Takes one job at a time: the caller has to wait for the answer before the next call. Rejects if the thread dies. */
export class Hasher {
  #worker: Worker | null = null;
  readonly #start: () => Worker;

  /** The bundle of the thread lies beside that of the service, as its source does beside this file. */
  constructor(start: () => Worker = () => new Worker(new URL('./hash-worker.js', import.meta.url))) {
    this.#start = start;
  }

  async hash(options: HashOptions): Promise<string> {
    return String(await this.#run({ hash: options }));
  }

  async verify(options: VerifyOptions): Promise<boolean> {
    return (await this.#run({ verify: options })) === true;
  }

  /** One at a time: whoever calls waits for the answer before. */
  #run(job: Job): Promise<string | boolean> {
    this.#worker ??= this.#start();
    const worker = this.#worker;
    worker.ref();
    return new Promise<string | boolean>((resolve, reject) => {
      const die = (reason: unknown): void => {
        if (this.#worker === worker) this.#worker = null;
        reject(new Error('The thread that hashes credentials has ended.', { cause: reason }));
      };
      worker.removeAllListeners();
      worker.once('message', (reply: WorkerReply) =>
        'error' in reply ? reject(new Error(reply.error)) : resolve(reply.result),
      );
      worker.once('error', die);
      worker.once('exit', die);
      worker.postMessage(job);
    }).finally(() => worker.unref());
  }
}
