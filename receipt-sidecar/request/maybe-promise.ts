/** A value that may have to be waited for. Who has it at once is not made to wait. */
export type MaybePromise<T> = T | Promise<T>;

/** Goes on with `value`: now if it is there, else when it is. */
export function andThen<T, U>(value: MaybePromise<T>, next: (value: T) => MaybePromise<U>): MaybePromise<U> {
  return value instanceof Promise ? value.then(next) : next(value);
}
