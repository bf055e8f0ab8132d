/**
 * Detects that Redis has stopped answering, so that not every request waits for the time-out.
 *
 * Invariant: silence counts from the last answer and only while a request waits. Time in which this process itself was suspended does
 * not count: answers that have arrived are read before it gives up.
 */
export interface AnswerWatch {
  /** Runs `ask`. Rejects with its error, or with a SilentError. */
  wait<T>(ask: () => Promise<T>): Promise<T>;
}

export class SilentError extends Error {
  override readonly name = 'SilentError';
}

/** `patienceMs`: silence after which all waiting requests fail. `now`: monotonic, ms. */
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
    // After a suspension timers run first; input that has arrived is read before the second `setImmediate`.
    setImmediate(() => setImmediate(() => (heardAt === heardBefore ? giveUp() : look())));
  };
  const arm = (ms: number) => {
    if (timer === null) timer = setTimeout(look, ms).unref();
  };

  return {
    wait: (ask) =>
      new Promise((resolve, reject) => {
        // First, because a synchronous failure must not reset the clock.
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
