import { ok } from '@gw/contract/internal/result';
import type { Encoding } from '../wire/compressed.ts';
import type { MaybePromise } from '../wire/maybe-promise.ts';
import { inlineBytes } from '../wire/threads/body-threads.ts';
import type { JobResult, ThreadPool } from '../wire/threads/thread-pool.ts';
import { type ReplyFacts, type ReplyJob, type ReplyReading, readReply } from './read-reply.ts';

/** A compressed reply can be of any size. */
export const isForThread = (bytes: Buffer, encoding: Encoding | null): boolean =>
  bytes.length > inlineBytes || encoding !== null;

/** Reads a reply. `account` is whose call it is: accounts take turns on the threads. */
export type ReadReply = (account: string, bytes: Buffer, facts: ReplyFacts) => MaybePromise<JobResult<ReplyReading>>;

/**
 * Reads JSON replies: a small one immediately, a large or compressed one on a thread. A large reply is never read here, even if its
 * thread dies, since what ended a thread would end this process. The memory of a large one goes to the thread and comes back:
 * nothing is copied, and `bytes` are empty afterwards.
 */
export const replyReader =
  (threads: Pick<ThreadPool, 'run'>): ReadReply =>
  (account, bytes, facts) => {
    if (!isForThread(bytes, facts.encoding)) return ok(readReply(bytes, facts));
    // A small Buffer can share its memory with others.
    const own = bytes.length > inlineBytes ? bytes : new Uint8Array(bytes);
    const job: ReplyJob = { kind: 'reply', bytes: own, facts };
    const transfer = own.buffer instanceof ArrayBuffer ? [own.buffer] : [];
    const message = () => ({ job, transfer });
    return threads.run<ReplyReading>({ lane: 'reply', account, size: bytes.length, cost: bytes.length, message })
      .outcome;
  };
