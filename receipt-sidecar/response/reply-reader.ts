/**
 * Has a JSON reply read: a small one here and now, a large one on a thread.
 *
 * Invariant: a large reply is never read here, whatever comes of the thread: what ended a thread would end this process. The
 * memory of the reply goes to the thread and comes back with what is left of it; nothing is copied.
 */
import { inlineBytes } from '../threads/body-threads.ts';
import type { ReplyJob } from '../threads/jobs.ts';
import type { ThreadPool } from '../threads/thread-pool.ts';
import type { ReadReply } from './json-reply.ts';
import { readReply } from './read-reply.ts';

export function makeReplyReader(threads: Pick<ThreadPool, 'run'>): ReadReply {
  return (account, bytes, facts) => {
    if (bytes.length <= inlineBytes) return { ok: true, value: readReply(bytes, facts) };
    const job: ReplyJob = { kind: 'reply', bytes, facts };
    const transfer = bytes.buffer instanceof ArrayBuffer ? [bytes.buffer] : [];
    return threads.run<ReturnType<typeof readReply>>({
      ...{ lane: 'reply', account, size: bytes.length },
      message: () => ({ job, transfer }),
    }).outcome;
  };
}
