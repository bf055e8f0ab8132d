/** Waiting with an end. */

/** What is left of the time that a reply waits for all stores together. */
export interface Patience {
  leftMs: number;
}

const sliceMs = 5;

/**
 * Resolves to whether `work` succeeds within the patience and within `mostMs`; false if it fails or takes longer. The
 * time waited in vain is taken from the patience. Never rejects, and does not stop the work.
 *
 * A process that got no processor for a while finds its timers over although the answer lies in its socket already, or
 * although it had no time to send the question; and its reply could not have left meanwhile anyway. So the time is
 * taken in slices, of which none counts more than twice its length, and the end comes one turn of the event loop after
 * the last, when what has arrived was read.
 */
export function succeedsWithin(
  work: Promise<unknown>,
  patience: Patience,
  mostMs = Number.POSITIVE_INFINITY,
): Promise<boolean> {
  return new Promise((resolve) => {
    let leftMs = Math.min(mostMs, patience.leftMs);
    let since = performance.now();
    const spend = (): void => {
      const now = performance.now();
      const spentMs = Math.min(now - since, 2 * sliceMs);
      since = now;
      leftMs -= spentMs;
      patience.leftMs -= spentMs;
    };
    const over = (): void => {
      spend();
      if (leftMs <= 0) setImmediate(end, false);
      else timer = setTimeout(over, Math.min(sliceMs, leftMs));
    };
    let timer = setTimeout(over, Math.min(sliceMs, leftMs));
    const end = (succeeded: boolean): void => {
      clearTimeout(timer);
      if (!succeeded) spend();
      resolve(succeeded);
    };
    work.then(
      () => end(true),
      () => end(false),
    );
  });
}

export interface BoundedWrites {
  /** Whether a write has not come back yet. */
  readonly hanging: () => boolean;
  /** Resolves to whether the write succeeds within the patience. Never rejects, and does not stop the write. */
  attempt(write: () => Promise<unknown>, patience: Patience): Promise<boolean>;
}

/**
 * Writes to a disk that can hang: while one write has not come back, others fail at once instead of waiting behind it.
 */
export function boundedWrites(): BoundedWrites {
  let hanging: Promise<unknown> | null = null;
  return {
    hanging: () => hanging !== null,
    async attempt(write, patience) {
      if (hanging) return false;
      const writing = write();
      if (await succeedsWithin(writing, patience)) return true;
      const settled = writing
        .catch(() => undefined)
        .finally(() => {
          if (hanging === settled) hanging = null;
        });
      hanging ??= settled;
      return false;
    },
  };
}
