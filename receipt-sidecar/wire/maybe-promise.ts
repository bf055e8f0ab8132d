/** A value that is available at once needs no turn of the event loop. */
export type MaybePromise<T> = T | Promise<T>;

/** Calls `next` with `value` at once if it is available, and otherwise when it is. */
export function andThen<T, U>(value: MaybePromise<T>, next: (value: T) => MaybePromise<U>): MaybePromise<U> {
  return value instanceof Promise ? value.then(next) : next(value);
}
