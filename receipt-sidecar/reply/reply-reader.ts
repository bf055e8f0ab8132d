import { ok } from '@gw/contract/internal/result';
import type { MaybePromise } from '../wire/maybe-promise.ts';
import { inlineBytes } from '../wire/threads/body-threads.ts';
import type { JobResult, ThreadPool } from '../wire/threads/thread-pool.ts';
import { type ReplyFacts, type ReplyJob, type ReplyReading, readReply } from './read-reply.ts';

/**
 * Reads JSON replies: a small one immediately, a large one on a thread. A large reply is never read here, even if its
 * thread dies, since what ended a thread would end this process. Its memory goes to the thread and comes back: nothing is
 * copied, and `bytes` are empty afterwards.
 */
export class ReplyReader {
  readonly #threads: Pick<ThreadPool, 'run'>;

  constructor(threads: Pick<ThreadPool, 'run'>) {
    this.#threads = threads;
  }

  /** `account` is whose call it is: accounts take turns on the threads. */
  read(account: string, bytes: Buffer, facts: ReplyFacts): MaybePromise<JobResult<ReplyReading>> {
    if (bytes.length <= inlineBytes) return ok(readReply(bytes, facts));
    const job: ReplyJob = { kind: 'reply', bytes, facts };
    const transfer = bytes.buffer instanceof ArrayBuffer ? [bytes.buffer] : [];
    return this.#threads.run<ReplyReading>({
      lane: 'reply',
      account,
      size: bytes.length,
      message: () => ({ job, transfer }),
    }).outcome;
  }
}
