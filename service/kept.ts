/**
 * A bounded buffer in memory for entries that clients have seen but no store has taken yet.
 *
 * Invariant: an entry leaves only when a store has it. If the buffer is full, a new entry is refused and counted as lost.
 */
export interface Kept {
  /** Adds an entry or replaces the one with the same id. Returns false and counts it as lost if there is no room. */
  add(receiptId: string, entry: Buffer): boolean;
  /** Passes the entries to `take` in batches until one is not taken. Returns how many were. */
  hand(take: (receiptId: string, entry: Buffer) => Promise<boolean>): Promise<number>;
  readonly size: number;
  readonly lost: number;
}

const batch = 100;

/** `maxBytes` limits all entries together. */
export function openKept(maxBytes: number): Kept {
  const entries = new Map<string, Buffer>();
  let bytes = 0;
  let lost = 0;
  const remove = (receiptId: string): void => {
    bytes -= entries.get(receiptId)?.length ?? 0;
    entries.delete(receiptId);
  };
  return {
    add(receiptId, entry) {
      const former = entries.get(receiptId)?.length ?? 0;
      if (bytes - former + entry.length > maxBytes) {
        lost += 1;
        return false;
      }
      remove(receiptId);
      entries.set(receiptId, entry);
      bytes += entry.length;
      return true;
    },
    async hand(take) {
      let taken = 0;
      while (entries.size > 0) {
        const some = [...entries].slice(0, batch);
        const done = await Promise.all(some.map(([receiptId, entry]) => take(receiptId, entry)));
        for (const [at, [receiptId, entry]] of some.entries()) {
          // An entry that was replaced meanwhile has to be stored again.
          if (!done[at] || entries.get(receiptId) !== entry) continue;
          remove(receiptId);
          taken += 1;
        }
        if (done.includes(false)) break;
      }
      return taken;
    },
    get size() {
      return entries.size;
    },
    get lost() {
      return lost;
    },
  };
}
