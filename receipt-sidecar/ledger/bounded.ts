/** Waiting with an end. */

/**
 * Whether `work` succeeds within `ms`; false if it fails or takes longer. Never rejects, and does not stop the work.
 *
 * A process that got no processor for a while finds its timers over although the answer lies in its socket already. So the
 * end comes one turn of the event loop after the timer, when what has arrived was read.
 */
export function succeedsWithin(work: Promise<unknown>, ms: number): Promise<boolean> {
  return new Promise((resolve) => {
    const timer = setTimeout(() => setImmediate(resolve, false), ms);
    const end = (succeeded: boolean): void => {
      clearTimeout(timer);
      resolve(succeeded);
    };
    work.then(
      () => end(true),
      () => end(false),
    );
  });
}
