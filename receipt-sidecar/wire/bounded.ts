/** The rest of the time that a reply may wait for all stores together. */
export interface Patience {
  leftMs: number;
}

const sliceMs = 5;

/**
 * Resolves to whether `work` succeeds within the patience and within `mostMs`; false if it fails or takes longer. Time that was waited in
 * vain is subtracted from the patience. It never rejects, and does not stop the work.
 *
 * A process that was not scheduled for a while finds its timers expired although the answer is already in its socket, or although it could not
 * yet send the request; and its reply could not have left meanwhile anyway. So time is counted in slices, none of which counts for more than
 * twice its length, and the wait ends one turn of the event loop after the last slice, when everything that arrived has been read.
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
  /** Whether a write that was given up has not returned yet. */
  readonly hanging: () => boolean;
  /** Resolves to whether the write succeeds within the patience. Never rejects, and does not stop the write. */
  attempt(write: () => Promise<unknown>, patience: Patience): Promise<boolean>;
}

/** Bounds writes to a disk that can hang: while one has not returned, others fail at once instead of waiting behind it. */
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
