/**
 * Sums the small bodies of each account, so that they count from the first byte and few calls take from the bucket of bytes, which is another
 * key for Redis.
 *
 * Invariant: of what an account was let in to send, at most `smallKib` an instance are not taken yet, besides calls that are being decided.
 */
import { dropOldest } from '../drop-oldest.ts';

/** Smaller bodies are summed up to this, KiB. */
const smallKib = 64;
/** The most accounts whose sums are remembered. */
const mostAccounts = 10_000;

export interface SmallBodies {
  /** Returns the KiB that a call with a body of `kib` has to take; mostly none if the body is small. */
  due(accountId: string, kib: number): number;
  /** Undoes that, for a call that was not let in: what others have sent is still to be taken, and its own body is not. */
  undo(accountId: string, kib: number, due: number): void;
}

export function openSmallBodies(): SmallBodies {
  const sums = new Map<string, number>();
  const remember = (accountId: string, sum: number): void => {
    if (!sums.has(accountId)) dropOldest(sums, mostAccounts);
    sums.set(accountId, sum);
  };
  return {
    due(accountId, kib) {
      if (kib === 0 || kib >= smallKib) return kib;
      const before = sums.get(accountId);
      const sum = before === undefined ? kib : before + kib;
      if (sum >= smallKib) {
        sums.delete(accountId);
        return sum;
      }
      remember(accountId, sum);
      return 0;
    },
    undo(accountId, kib, due) {
      if (kib === due) return;
      const since = sums.get(accountId);
      const sum = due - kib + (since === undefined ? 0 : since);
      // A later call has taken its body meanwhile.
      if (sum > 0) remember(accountId, sum);
      else sums.delete(accountId);
    },
  };
}
