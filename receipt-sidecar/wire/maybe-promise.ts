/** A value that may have to be waited for; one that is there at once costs no turn of the event loop. */
export type MaybePromise<T> = T | Promise<T>;

/** Goes on with `value` at once if it is there, and otherwise when it is. */
export function andThen<T, U>(value: MaybePromise<T>, next: (value: T) => MaybePromise<U>): MaybePromise<U> {
  return value instanceof Promise ? value.then(next) : next(value);
}
