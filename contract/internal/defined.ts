/**
 * Asserts a value that only a bug could leave out, so that the program fails instead of continuing with a default. Not for input
 * from outside, which may lack anything.
 */
export function defined<T>(value: T, what: string): NonNullable<T> {
  if (value === undefined || value === null) throw new Error(`${what} is missing.`);
  return value;
}

/** Asserts that the index is inside the list. */
export function elementAt<T>(list: readonly T[], index: number): NonNullable<T> {
  const element = list[index];
  // The message is built only on failure, because this runs for each field of each entry.
  return element ?? defined(element, `Element ${index} of a list of ${list.length}`);
}
