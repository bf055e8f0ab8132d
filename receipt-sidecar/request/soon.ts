/** A value that may have to be waited for. Who has it at once is not made to wait. */
export type Soon<T> = T | Promise<T>;

/** Goes on with `value`: now if it is there, else when it is. */
export function andThen<T, U>(value: Soon<T>, next: (value: T) => Soon<U>): Soon<U> {
  return value instanceof Promise ? value.then(next) : next(value);
}
