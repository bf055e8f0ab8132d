/** Groups of commands whose replies are still to come, in the order in which they were sent. */
import type { Reply } from './redis-replies.ts';

export interface Group {
  readonly replies: Reply[];
  readonly size: number;
  /** By a monotonic clock, ms. */
  readonly sentAt: number;
  /** It is waited for without a time-out. */
  readonly isPatient: boolean;
  readonly resolve: (replies: readonly Reply[]) => void;
  readonly reject: (error: Error) => void;
}

export function openQueue() {
  const groups: (Group | undefined)[] = [];
  let head = 0;
  /** All before it were sent too long ago: each is told so once. */
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
    /** Returns whether a reply was waited for. */
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
    /** When the one was sent that has waited longest. */
    oldestSentAt: (): number | undefined => first()?.sentAt,
    /** Those that were sent earlier fail; their replies are waited for all the same, so that the next ones find theirs. */
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
