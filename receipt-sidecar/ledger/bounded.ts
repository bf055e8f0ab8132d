/** Waiting with an end. */

/**
 * Whether `work` succeeds within `ms`; false if it fails or takes longer. Never rejects, and does not stop the work.
 *
 * A process that got no processor for a while finds its timers over although the answer lies in its socket already, or
 * although it had no time to send the question. So the end comes one turn of the event loop after the timer, when what has
 * arrived was read; and a timer that comes much too late is set again, once.
 */
export function succeedsWithin(work: Promise<unknown>, ms: number): Promise<boolean> {
  return new Promise((resolve) => {
    let started = performance.now();
    let again = true;
    const over = (): void => {
      if (!again || performance.now() - started < 1.5 * ms) return resolve(false);
      again = false;
      started = performance.now();
      timer = setTimeout(setImmediate, ms, over);
    };
    let timer = setTimeout(setImmediate, ms, over);
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
