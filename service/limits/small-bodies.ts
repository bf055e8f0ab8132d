/**
 * Sums the small bodies of each account, so that they count from the first byte and few calls take from the bucket of bytes, which is another
 * key for Redis.
 *
 * Invariant: of what an account was let in to send, at most `smallKib` an instance are not taken yet.
 */
import { dropOldest } from '../drop-oldest.ts';

/** Smaller bodies are summed up to this, KiB. */
const smallKib = 64;
/** The most accounts whose sums are remembered. */
const mostAccounts = 10_000;

export interface SmallBodies {
  /** Returns the KiB that a call with a body of `kib` has to take; mostly none if the body is small. */
  due(accountId: string, kib: number): number;
}

export function openSmallBodies(): SmallBodies {
  const sums = new Map<string, number>();
  return {
    due(accountId, kib) {
      if (kib === 0 || kib >= smallKib) return kib;
      const before = sums.get(accountId);
      const sum = before === undefined ? kib : before + kib;
      if (sum >= smallKib) {
        sums.delete(accountId);
        return sum;
      }
      if (before === undefined) dropOldest(sums, mostAccounts);
      sums.set(accountId, sum);
      return 0;
    },
  };
}
