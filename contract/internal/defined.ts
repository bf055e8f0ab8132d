/**
 * For what is always there unless the program itself is wrong: then it fails, and does not go on with a stand-in. Never for
 * what somebody sent, which may lack anything.
 */
export function defined<T>(value: T, what: string): NonNullable<T> {
  if (value === undefined || value === null) throw new Error(`${what} is missing.`);
  return value;
}

/** For an index that is known to be inside the list. */
export function elementAt<T>(list: readonly T[], index: number): NonNullable<T> {
  const element = list[index];
  // The text is made only for the error: this is asked of each field of each entry.
  return element ?? defined(element, `Element ${index} of a list of ${list.length}`);
}
