/** Resolves as `work` does; rejects as soon as the signal says that nobody waits for it any more. */
export function unlessAborted<T>(work: Promise<T>, signal: AbortSignal): Promise<T> {
  const aborted = new Promise<never>((_, reject) => signal.addEventListener('abort', () => reject(signal.reason)));
  // Whoever lost the race may still fail.
  for (const each of [aborted, work]) each.catch(() => undefined);
  return Promise.race([work, aborted]);
}
