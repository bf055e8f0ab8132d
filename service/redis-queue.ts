/** Groups of commands that wait for their replies, in the order of sending. */
import type { Reply } from './redis-replies.ts';

export interface Group {
  readonly replies: Reply[];
  readonly size: number;
  /** Measured by a monotonic clock, ms. */
  readonly sentAt: number;
  /** Has no time-out. */
  readonly isPatient: boolean;
  readonly resolve: (replies: readonly Reply[]) => void;
  readonly reject: (error: Error) => void;
}

export function openQueue() {
  const groups: (Group | undefined)[] = [];
  let head = 0;
  /** Groups before this index have timed out, and were rejected once. */
  let late = 0;
  const first = (): Group | undefined => groups[head];
  const shift = (): void => {
    groups[head] = undefined;
    head += 1;
    if (head < 1024) return;
    groups.splice(0, head);
    late = Math.max(late - head, 0);
    head = 0;
  };
  return {
    add: (group: Group): void => void groups.push(group),
    /** Returns whether a group was waiting for a reply. */
    take(reply: Reply): boolean {
      const group = first();
      if (group === undefined) return false;
      group.replies.push(reply);
      if (group.replies.length < group.size) return true;
      shift();
      const error = group.replies.find((each) => each instanceof Error);
      if (error instanceof Error) group.reject(error);
      else group.resolve(group.replies);
      return true;
    },
    oldestSentAt: (): number | undefined => first()?.sentAt,
    /** Rejects groups sent before `time`. They stay in the queue, so that later groups get their own replies. */
    giveUpBefore(time: number): void {
      for (late = Math.max(late, head); late < groups.length; late++) {
        const group = groups[late];
        if (group === undefined || group.sentAt > time) return;
        if (!group.isPatient) group.reject(new Error('Redis took too long.'));
      }
    },
    failAll(error: Error): void {
      for (; head < groups.length; head++) first()?.reject(error);
      groups.length = 0;
      head = 0;
      late = 0;
    },
  };
}
