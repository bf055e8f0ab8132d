/**
 * Notices that Redis has fallen silent, so that a Redis that hangs is waited for once and not by every request.
 *
 * Invariant: silence is counted from the last answer, and only while somebody waits. What this process itself slept
 * through does not count: before the verdict, answers that have arrived are read.
 */
export interface AnswerWatch {
  /** Runs `ask`; rejects when it does, or when all that wait are given up. */
  wait<T>(ask: () => Promise<T>): Promise<T>;
}

export class SilentError extends Error {
  override readonly name = 'SilentError';
}

/** `patienceMs`: silence after which all that wait are given up. `now`: monotonic, ms. */
export function watchAnswers({ now, patienceMs }: { now: () => number; patienceMs: number }): AnswerWatch {
  const waiting = new Set<(error: Error) => void>();
  let heardAt = 0;
  let timer: NodeJS.Timeout | null = null;

  const giveUp = () => {
    const all = [...waiting];
    waiting.clear();
    for (const reject of all) reject(new SilentError(`Redis has not answered for ${patienceMs} ms.`));
  };
  const look = () => {
    timer = null;
    if (waiting.size === 0) return;
    const leftMs = heardAt + patienceMs - now();
    if (leftMs > 0) return arm(leftMs);
    const heardBefore = heardAt;
    // After a sleep of this process timers run first; what has arrived is read before the second turn of `setImmediate`.
    setImmediate(() => setImmediate(() => (heardAt === heardBefore ? giveUp() : look())));
  };
  const arm = (ms: number) => {
    if (timer === null) timer = setTimeout(look, ms).unref();
  };

  return {
    wait: (ask) =>
      new Promise((resolve, reject) => {
        // Asked first: what is refused at once leaves the clock as it is.
        const asked = ask();
        if (waiting.size === 0) heardAt = now();
        waiting.add(reject);
        arm(patienceMs);
        const heard = () => {
          heardAt = now();
          waiting.delete(reject);
        };
        asked.then(
          (answer) => {
            heard();
            resolve(answer);
          },
          (error: unknown) => {
            heard();
            reject(error);
          },
        );
      }),
  };
}
