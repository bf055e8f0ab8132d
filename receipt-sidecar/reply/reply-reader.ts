import { ok } from '@gw/contract/internal/result';
import type { MaybePromise } from '../wire/maybe-promise.ts';
import { inlineBytes } from '../wire/threads/body-threads.ts';
import type { JobResult, ThreadPool } from '../wire/threads/thread-pool.ts';
import { type ReplyFacts, type ReplyJob, type ReplyReading, readReply } from './read-reply.ts';

/** Reads a reply. `account` is whose call it is: accounts take turns on the threads. */
export type ReadReply = (account: string, bytes: Buffer, facts: ReplyFacts) => MaybePromise<JobResult<ReplyReading>>;

/**
 * Reads JSON replies: a small one immediately, a large one on a thread. A large reply is never read here, even if its
 * thread dies, since what ended a thread would end this process. Its memory goes to the thread and comes back: nothing is
 * copied, and `bytes` are empty afterwards.
 */
export const replyReader =
  (threads: Pick<ThreadPool, 'run'>): ReadReply =>
  (account, bytes, facts) => {
    if (bytes.length <= inlineBytes) return ok(readReply(bytes, facts));
    const job: ReplyJob = { kind: 'reply', bytes, facts };
    const transfer = bytes.buffer instanceof ArrayBuffer ? [bytes.buffer] : [];
    const message = () => ({ job, transfer });
    return threads.run<ReplyReading>({ lane: 'reply', account, size: bytes.length, message }).outcome;
  };
